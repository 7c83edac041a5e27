import { Effect } from "effect"
import { notificationEvents } from "../../notifications/NotificationEvents.js"
import type { Notifications } from "../../notifications/Notifications.js"
import { fromNow } from "../../notifications/NotificationText.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Workspace } from "../Workspace.js"
import { type Subject, targetsOf } from "./WorkspaceSubject.js"

interface Needs {
  readonly notifications: Notifications["Type"]
}

/** What an owner hears of the dates of a workspace: dormancy, deletion and the next stop. */
export const scheduleNotifications = ({ notifications }: Needs) => ({
  dormant: (workspace: Subject & Pick<Workspace, "dormant_at" | "deleting_at">, reason: string) =>
    Effect.gen(function* () {
      const { deleting_at } = workspace
      const rest =
        deleting_at === null
          ? {}
          : { timeTilDelete: fromNow(Timestamp.toMillis(deleting_at) - Timestamp.toMillis(yield* Timestamp.now) - 1) }
      yield* notifications.raise(notificationEvents.workspaceDormant, {
        to: { users: [workspace.owner_id] },
        labels: { name: workspace.name, reason, ...rest },
        targets: targetsOf(workspace),
        created_by: "lifecycle_executor"
      })
    }),

  markedForDeletion: (workspace: Subject, deletingAt: Timestamp.Timestamp) =>
    Effect.gen(function* () {
      const rest = Timestamp.toMillis(deletingAt) - Timestamp.toMillis(yield* Timestamp.now) - 1
      yield* notifications.raise(notificationEvents.workspaceMarkedForDeletion, {
        to: { users: [workspace.owner_id] },
        labels: { name: workspace.name, reason: "an update to the template's dormancy", timeTilDormant: fromNow(rest) },
        targets: targetsOf(workspace),
        created_by: "api"
      })
    }),

  autostopReminder: (workspace: Subject, deadline: Timestamp.Timestamp) =>
    Effect.gen(function* () {
      const rest = Timestamp.toMillis(deadline) - Timestamp.toMillis(yield* Timestamp.now)
      yield* notifications.raise(notificationEvents.workspaceAutostopReminder, {
        to: { users: [workspace.owner_id] },
        labels: { workspace: workspace.name, timeTilShutdown: fromNow(rest) },
        // Equal messages of a day are one, and another deadline may be as near as an earlier one was
        data: { deadline },
        targets: targetsOf(workspace),
        created_by: "lifecycle_executor"
      })
    })
})
