import { Effect, Option } from "effect"
import { notificationEvents } from "../../notifications/NotificationEvents.js"
import type { Notifications } from "../../notifications/Notifications.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { WorkspaceRepository } from "../WorkspaceRepository.js"
import type { WorkspaceTaskRepository } from "../builds/WorkspaceTaskRepository.js"

/** States of a task's app, with the events that tell of them. */
export const taskStates = {
  working: notificationEvents.taskWorking,
  idle: notificationEvents.taskIdle,
  complete: notificationEvents.taskCompleted,
  failure: notificationEvents.taskFailed
}

interface Needs {
  readonly workspaces: WorkspaceRepository["Type"]
  readonly notifications: Notifications["Type"]
  readonly tasks: WorkspaceTaskRepository["Type"]
}

/** What an owner hears of a running workspace: its resources, and the state of its task. */
export const activityNotifications = ({ workspaces, notifications, tasks }: Needs) => ({
  thresholdsReached: (workspaceId: Uuid, reached: ReadonlyArray<{ readonly path: string; readonly threshold: number }>) =>
    Effect.gen(function* () {
      const workspace = Option.getOrUndefined(yield* workspaces.byId(workspaceId))
      if (workspace === undefined) return
      // Tells the events of one day apart
      const timestamp = yield* Timestamp.now
      const raised = {
        to: { users: [workspace.owner_id] },
        targets: [workspace.id, workspace.owner_id, workspace.organization_id],
        created_by: "workspace-agent-monitors"
      }
      const all = reached.map(({ path, threshold }) => ({ path, threshold: `${threshold}%` }))
      const memory = all.find(({ path }) => path === "")
      const volumes = all.filter(({ path }) => path !== "")
      if (memory !== undefined) {
        yield* notifications.raise(notificationEvents.workspaceOutOfMemory, {
          ...raised,
          labels: { workspace: workspace.name, threshold: memory.threshold },
          data: { timestamp }
        })
      }
      if (volumes.length > 0) {
        yield* notifications.raise(notificationEvents.workspaceOutOfDisk, {
          ...raised,
          labels: { workspace: workspace.name },
          data: { volumes, timestamp }
        })
      }
    }),

  taskState: (workspaceId: Uuid, appId: Uuid, state: keyof typeof taskStates) =>
    Effect.gen(function* () {
      const workspace = Option.getOrUndefined(yield* workspaces.byId(workspaceId))
      const task = workspace?.task_id ? Option.getOrUndefined(yield* tasks.ofApp(appId)) : undefined
      if (workspace === undefined || task === undefined) return
      const now = yield* Timestamp.now
      yield* notifications.raise(taskStates[state], {
        to: { users: [workspace.owner_id] },
        labels: { task: task.name, workspace: workspace.name },
        data: { dedupe_bypass_ts: `${now.slice(0, 16)}:00Z` },
        targets: [workspace.id, workspace.owner_id, workspace.organization_id, appId],
        created_by: "api-workspace-agent-app-status"
      })
    })
})
