import { Duration, Effect, Option } from "effect"
import * as Background from "../../platform/background/Background.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { hurriedTransaction } from "../../platform/store/Transactor.js"
import type { WorkspaceLifeCycleRepository } from "./WorkspaceLifeCycleRepository.js"
import type { WorkspaceNotifications } from "../notifications/WorkspaceNotifications.js"
import type { WorkspaceRepository } from "../WorkspaceRepository.js"

/** Workspaces that are found at once, and those that are worked on at once. */
export const page = 500

/** How long the work on one workspace may take: an engine that reads its template may not answer. */
export const itemTime = "1 minute"

/** How long a use of a workspace counts as recent, so that its deadline is extended soon. */
const recentUse = Duration.minutes(15)

interface Needs {
  readonly repository: WorkspaceLifeCycleRepository["Type"]
  readonly workspaces: WorkspaceRepository["Type"]
  readonly notifications: WorkspaceNotifications["Type"]
}

/** Reminders of stops that are near. */
export const stopReminders = ({ repository, workspaces, notifications }: Needs) => {
  /** Reminds owners of stops that are near. What the template calls near is at least a minute. */
  const remind = (now: Timestamp.Timestamp) =>
    Effect.gen(function* () {
      const leads = yield* repository.reminderLeads
      const due = leads.map(({ id, time_til_autostop_notify_ms }) => ({
        template_id: id,
        until: Timestamp.plus(now, time_til_autostop_notify_ms)
      }))
      for (;;) {
        const stops = yield* repository.approachingStops(due, { now, used_after: Timestamp.minus(now, recentUse), limit: page })
        let failed = 0
        yield* Background.each(
          "autostop_reminders",
          stops,
          ({ build_id, deadline, id }) =>
            hurriedTransaction(
              Effect.gen(function* () {
                if (!(yield* repository.markReminded(build_id, deadline))) return
                const workspace = Option.getOrUndefined(yield* workspaces.byId(id))
                if (workspace !== undefined) yield* notifications.autostopReminder(workspace, deadline)
              })
            ),
          {
            within: itemTime,
            onFailure: ({ id }, cause) => {
              failed += 1
              return Effect.annotateLogs(Effect.logWarning("an owner could not be reminded of a stop", cause), { workspace: id })
            }
          }
        )
        // Those that failed would be found again at once
        if (stops.length < page || failed > 0) return
      }
    })

  return { remind }
}
