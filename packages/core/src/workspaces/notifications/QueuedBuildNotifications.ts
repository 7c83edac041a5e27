import { Effect, Option } from "effect"
import { CurrentActor } from "../../access/actors/Actor.js"
import type { User } from "../../identity/users/User.js"
import type { UserRepository } from "../../identity/users/UserRepository.js"
import { notificationEvents } from "../../notifications/NotificationEvents.js"
import type { Notifications } from "../../notifications/Notifications.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { ParameterValue } from "../../provisioning/engines/SourceDefinitions.js"
import type { TemplateWithNames } from "../../templates/Template.js"
import type { TemplateVersionRepository } from "../../templates/versions/TemplateVersionRepository.js"
import type { PreparedBuild } from "../builds/BuildOrders.js"
import type { WorkspaceTaskRepository } from "../builds/WorkspaceTaskRepository.js"
import { administrators, targetsOf, type Subject, bySchedule } from "./WorkspaceSubject.js"

const dataOf = (
  workspace: Subject,
  template: Pick<TemplateWithNames, "id" | "name">,
  version: { readonly id: Uuid; readonly name: string },
  owner: User,
  parameters: ReadonlyArray<ParameterValue>
) => ({
  workspace: { id: workspace.id, name: workspace.name },
  template: { id: template.id, name: template.name },
  template_version: { id: version.id, name: version.name },
  owner: { id: owner.id, name: owner.name || owner.username, email: owner.email },
  parameters: parameters.map(({ name, value }) => ({ name, value }))
})

interface Needs {
  readonly users: UserRepository["Type"]
  readonly notifications: Notifications["Type"]
  readonly tasks: WorkspaceTaskRepository["Type"]
  readonly versions: TemplateVersionRepository["Type"]
}

/** What administrators, owners and holders of tasks hear of a build when it is queued. */
export const queuedBuildNotifications = ({ users, notifications, tasks, versions }: Needs) => {
  const nameOf = (id: Uuid) =>
    Effect.map(users.byId(id), (found) => Option.match(found, { onNone: () => "", onSome: ({ name, username }) => name || username }))

  const manuallyUpdated = ({ order, target: { owner, template, workspace }, version }: PreparedBuild) =>
    Effect.gen(function* () {
      const { userId } = yield* CurrentActor
      yield* notifications.raise(notificationEvents.workspaceManuallyUpdated, {
        to: { roles: administrators, except: userId },
        labels: {
          workspace: workspace.name,
          template: template.name,
          version: version.name,
          workspace_owner_username: owner.username,
          organization: template.organization_name,
          initiator: yield* nameOf(userId)
        },
        data: dataOf(workspace, template, version, owner, order.rich_parameter_values),
        targets: targetsOf(workspace),
        created_by: "api-workspaces-updated"
      })
    })

  const autoUpdated = ({ order, target: { workspace }, version }: PreparedBuild) =>
    notifications.raise(notificationEvents.workspaceAutoUpdated, {
      to: { users: [workspace.owner_id] },
      labels: {
        name: workspace.name,
        initiator: bySchedule,
        reason: order.reason,
        template_version_name: version.name,
        template_version_message: version.message || "none given"
      },
      targets: targetsOf(workspace),
      created_by: "lifecycle_executor"
    })

  const taskMoved = ({ order, target: { workspace } }: PreparedBuild, taskId: Uuid) =>
    Effect.gen(function* () {
      const task = Option.getOrUndefined(yield* tasks.named(taskId))
      if (task === undefined) return
      const raised = {
        to: { users: [workspace.owner_id] },
        targets: [workspace.id, workspace.owner_id, workspace.organization_id],
        created_by: "api"
      }
      const labels = { task: task.name, task_id: taskId, workspace: workspace.name }
      if (order.reason === "task_resume") yield* notifications.raise(notificationEvents.taskResumed, { ...raised, labels })
      else {
        const pause_reason = order.reason === "task_manual_pause" ? "manual" : "idle timeout"
        yield* notifications.raise(notificationEvents.taskPaused, { ...raised, labels: { ...labels, pause_reason } })
      }
    })

  return {
    created: ({ order, target: { owner, template, workspace }, version: built }: PreparedBuild) =>
      Effect.gen(function* () {
        const { userId } = yield* CurrentActor
        const isActive = built.id === template.active_version_id
        const version = isActive ? built : Option.getOrUndefined(yield* versions.byId(template.active_version_id))
        if (version === undefined) return
        yield* notifications.raise(notificationEvents.workspaceCreated, {
          to: { roles: administrators, except: userId },
          labels: {
            workspace: workspace.name,
            template: template.name,
            version: version.name,
            workspace_owner_username: owner.username
          },
          data: dataOf(workspace, template, version, owner, order.rich_parameter_values),
          targets: targetsOf(workspace),
          created_by: "api-workspaces-create"
        })
      }),

    buildQueued: (prepared: PreparedBuild) =>
      Effect.gen(function* () {
        const { order, target, version } = prepared
        const isMoved = target.previous !== null && target.previous.template_version_id !== version.id
        if (isMoved && order.template_version_id !== undefined) {
          yield* order.reason === "autostart" ? autoUpdated(prepared) : manuallyUpdated(prepared)
        }
        const { task_id } = target.workspace
        if (task_id !== null && /^task_(manual_pause|auto_pause|resume)$/.test(order.reason)) yield* taskMoved(prepared, task_id)
      })
  }
}
