import { Effect } from "effect"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { storedSchedule } from "../../platform/time/Schedule.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { nextTurn } from "../../platform/background/Turns.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { effectiveTemplate } from "../../templates/settings/EffectiveTemplate.js"
import { ScheduledWorkspaces } from "../../templates/settings/ScheduledWorkspaces.js"
import type { Template, TemplateId } from "../../templates/Template.js"
import { quietHoursInForce, rescheduled, settledBefore } from "./Deadline.js"
import { awake } from "../lifecycle/Dormancy.js"
import { nextScheduledStart } from "./NextScheduledStart.js"
import { WorkspaceBuildRepository } from "../builds/WorkspaceBuildRepository.js"
import { publishWorkspaceEvent } from "../watching/WorkspaceEvents.js"
import { WorkspaceNotifications } from "../notifications/WorkspaceNotifications.js"
import { WorkspaceRepository } from "../WorkspaceRepository.js"

/** Workspaces that one statement reads or writes. */
const batch = 1_000

/** Applies an effect to every row, read in batches in the order of their ids. */
const inBatches = <A extends { readonly id: Uuid }, R>(
  read: (after: Uuid | undefined, limit: number) => Effect.Effect<ReadonlyArray<A>>,
  use: (rows: ReadonlyArray<A>) => Effect.Effect<void, never, R>
) =>
  Effect.gen(function* () {
    let rows = yield* read(undefined, batch)
    while (rows.length > 0) {
      yield* use(rows)
      if (rows.length < batch) return
      yield* nextTurn
      rows = yield* read(rows.at(-1)?.id, batch)
    }
  })

const make = Effect.gen(function* () {
  const builds = yield* WorkspaceBuildRepository
  const workspaces = yield* WorkspaceRepository
  const features = yield* Entitlements
  const notifications = yield* WorkspaceNotifications
  const options = yield* DeploymentOptions

  const moveDeadlines = (template: Template, now: Timestamp.Timestamp) =>
    inBatches(
      (after, limit) => builds.runningOf(template.id, { stops_after: settledBefore(now), after, limit }),
      (running) =>
        Effect.gen(function* () {
          const moved = running.flatMap(({ autostart_schedule, owner_id, quiet_hours_schedule, workspace_id, ...build }) => {
            const { deadline, max_deadline } = rescheduled({
              ...build,
              now,
              template,
              autostart: storedSchedule(autostart_schedule),
              quietHours: quietHoursInForce(options, quiet_hours_schedule)
            })
            const isMoved = deadline !== build.deadline || max_deadline !== build.max_deadline
            return isMoved ? [{ id: build.id, deadline, max_deadline, owner_id, workspace_id }] : []
          })
          yield* builds.setDeadlines(
            moved.map(({ deadline, id, max_deadline }) => ({ id, deadline, max_deadline })),
            now
          )
          yield* Effect.forEach(
            moved,
            ({ owner_id, workspace_id }) => publishWorkspaceEvent(owner_id, { kind: "mtd_update", workspace_id }),
            { discard: true }
          )
        })
    )

  const moveNextStarts = (id: TemplateId, template: Template, now: Timestamp.Timestamp) =>
    inBatches(
      (after, limit) => workspaces.scheduledOf(id, after, limit),
      (scheduled) =>
        workspaces.setNextStarts(
          scheduled.map(({ autostart_schedule, id }) => ({
            id,
            next_start_at: nextScheduledStart({ ...awake, autostart_schedule }, template, now)
          }))
        )
    )

  const announceDeletions = (id: TemplateId) =>
    inBatches(
      (after, limit) => workspaces.doomedOf(id, after, limit),
      (doomed) =>
        Effect.forEach(
          doomed,
          (workspace) => (workspace.deleting_at === null ? Effect.void : notifications.markedForDeletion(workspace, workspace.deleting_at)),
          { discard: true }
        )
    )

  return ScheduledWorkspaces.of({
    ownersOf: (templateId) => workspaces.ownersOf(templateId),
    scheduleChanged: (before, after) =>
      Effect.gen(function* () {
        const now = yield* Timestamp.now
        const template = effectiveTemplate(after, features)
        yield* moveDeadlines(template, now)
        if (before.autostart_block_days_of_week !== after.autostart_block_days_of_week) yield* moveNextStarts(after.id, template, now)
        if (before.time_til_dormant_autodelete_ms !== after.time_til_dormant_autodelete_ms) yield* announceDeletions(after.id)
      })
  })
})

/** The effects of a template's changed schedule on running builds and scheduled starts. workspaces.md §5.2. */
export const scheduleChanges = standingOn(service(ScheduledWorkspaces, make), WorkspaceNotifications.layer)
