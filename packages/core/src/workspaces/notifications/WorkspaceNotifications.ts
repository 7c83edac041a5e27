import { Context, Effect, Option } from "effect"
import { CurrentActor } from "../../access/actors/Actor.js"
import { ownerRole, type User } from "../../identity/users/User.js"
import { UserRepository } from "../../identity/users/UserRepository.js"
import { notificationEvents } from "../../notifications/NotificationEvents.js"
import { Notifications } from "../../notifications/Notifications.js"
import { fromNow } from "../../notifications/NotificationText.js"
import * as Measure from "../../platform/Measure.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { countChange } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { jobStatus } from "../../provisioning/jobs/ProvisionerJob.js"
import type { ResourceReplacement } from "../../provisioning/engines/ProvisionerEngine.js"
import type { ParameterValue } from "../../provisioning/engines/SourceDefinitions.js"
import type { TemplateWithNames } from "../../templates/Template.js"
import { TemplateRepository } from "../../templates/TemplateRepository.js"
import { TemplateVersionRepository } from "../../templates/versions/TemplateVersionRepository.js"
import type { PreparedBuild } from "../builds/BuildOrders.js"
import type { Workspace } from "../Workspace.js"
import type { WorkspaceBuild } from "../builds/WorkspaceBuild.js"
import { WorkspaceBuildRepository } from "../builds/WorkspaceBuildRepository.js"
import { WorkspaceRepository } from "../WorkspaceRepository.js"
import { WorkspaceTaskRepository } from "../builds/WorkspaceTaskRepository.js"

/** Holders of the site roles that manage templates. */
const templateAdministrator = "template-admin"
const administrators = [templateAdministrator, ownerRole]

/** Replaced resources that a message names. */
const shownReplacements = 100

/** The initiator of what the service does by itself. */
const bySchedule = "autobuild"

const replaced = Measure.counter(
  "prebuilt_workspaces_resource_replacements_total",
  "Claims of prebuilt workspaces that replaced resources.",
  ["template_name", "preset_name", "organization_name"]
)

type Subject = Pick<Workspace, "id" | "name" | "owner_id" | "organization_id" | "template_id">

/** States of a task's app, with the events that tell of them. */
const taskStates = {
  working: notificationEvents.taskWorking,
  idle: notificationEvents.taskIdle,
  complete: notificationEvents.taskCompleted,
  failure: notificationEvents.taskFailed
}

const targetsOf = ({ id, organization_id, owner_id, template_id }: Subject): ReadonlyArray<Uuid> => [
  id,
  owner_id,
  template_id,
  organization_id
]

/** The methods of {@link WorkspaceNotifications}. */
export interface WorkspaceNotificationsService {
  /** A workspace was created, for its owner or for a task. */
  readonly created: (build: PreparedBuild) => Effect.Effect<void, never, CurrentActor>

  /** A build of a workspace that had one before was queued. */
  readonly buildQueued: (prepared: PreparedBuild) => Effect.Effect<void, never, CurrentActor>

  /** A workspace was deleted. An owner who has deleted it knows. */
  readonly deleted: (workspace: Subject, build: WorkspaceBuild) => Effect.Effect<void>

  /** A build has ended without success. One that was canceled has not failed. */
  readonly buildEnded: (workspace: Subject, build: WorkspaceBuild) => Effect.Effect<void>

  /** A workspace has become dormant, for a reason in words. */
  readonly dormant: (workspace: Subject & Pick<Workspace, "dormant_at" | "deleting_at">, reason: string) => Effect.Effect<void>

  /** Another user than the owner has made the workspace dormant. */
  readonly usernameOf: (id: Uuid) => Effect.Effect<string>

  /** The deletion of a dormant workspace has another date. */
  readonly markedForDeletion: (workspace: Subject, deletingAt: Timestamp.Timestamp) => Effect.Effect<void>

  /** The claim of a prebuilt workspace replaced resources, and the user waited for them. */
  readonly resourcesReplaced: (
    workspace: Subject,
    build: WorkspaceBuild,
    replacements: ReadonlyArray<ResourceReplacement>
  ) => Effect.Effect<void>

  /** A running workspace will be stopped at its deadline. */
  readonly autostopReminder: (workspace: Subject, deadline: Timestamp.Timestamp) => Effect.Effect<void>

  /** The use of memory (the empty path) or of volumes has reached a threshold, in percent. */
  readonly thresholdsReached: (
    workspaceId: Uuid,
    reached: ReadonlyArray<{ readonly path: string; readonly threshold: number }>
  ) => Effect.Effect<void>

  /** The program of a task has another state, which its agent reported. */
  readonly taskState: (workspaceId: Uuid, appId: Uuid, state: keyof typeof taskStates) => Effect.Effect<void>
}

const make = Effect.gen(function* () {
  const notifications = yield* Notifications
  const workspaces = yield* WorkspaceRepository
  const builds = yield* WorkspaceBuildRepository
  const users = yield* UserRepository
  const templates = yield* TemplateRepository
  const versions = yield* TemplateVersionRepository
  const tasks = yield* WorkspaceTaskRepository

  const nameOf = (id: Uuid) =>
    Effect.map(users.byId(id), (found) => Option.match(found, { onNone: () => "", onSome: ({ name, username }) => name || username }))
  const usernameOf = (id: Uuid) =>
    Effect.map(users.byId(id), (found) => Option.match(found, { onNone: () => "", onSome: ({ username }) => username }))

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
    created: ({ order, target: { owner, template, workspace } }: PreparedBuild) =>
      Effect.gen(function* () {
        const { userId } = yield* CurrentActor
        const version = Option.getOrUndefined(yield* versions.byId(template.active_version_id))
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
      }),

    deleted: (workspace: Subject, build: WorkspaceBuild) =>
      Effect.gen(function* () {
        if (build.reason === "initiator" && build.initiator_id === workspace.owner_id) return
        const isAutomatic = build.reason === "autodelete"
        yield* notifications.raise(notificationEvents.workspaceDeleted, {
          to: { users: [workspace.owner_id] },
          labels: {
            name: workspace.name,
            reason: build.reason === "initiator" ? "initiated by user" : isAutomatic ? "autodeleted due to dormancy" : build.reason,
            initiator: isAutomatic ? bySchedule : yield* usernameOf(build.initiator_id)
          },
          targets: targetsOf(workspace),
          created_by: "provisionerdserver"
        })
      }),

    buildEnded: (workspace: Subject, { build_number, id, initiator_id, reason }: WorkspaceBuild) =>
      Effect.gen(function* () {
        const build = Option.getOrUndefined(yield* builds.byId(id))
        if (build === undefined || jobStatus(build.job) !== "failed") return
        const raised = { targets: targetsOf(workspace), created_by: "provisionerdserver" }
        if (reason !== "initiator") {
          const labels = { name: workspace.name, reason }
          return yield* notifications.raise(notificationEvents.workspaceAutobuildFailed, {
            ...raised,
            to: { users: [workspace.owner_id] },
            labels
          })
        }
        const template = Option.getOrUndefined(yield* templates.byId(workspace.template_id))
        yield* notifications.raise(notificationEvents.workspaceManualBuildFailed, {
          ...raised,
          to: { roles: [templateAdministrator], members_of: workspace.organization_id },
          labels: {
            name: workspace.name,
            template_name: template?.display_name || template?.name || "",
            template_version_name: build.template_version_name,
            initiator: yield* usernameOf(initiator_id),
            workspace_owner_username: yield* usernameOf(workspace.owner_id),
            workspace_build_number: String(build_number)
          }
        })
      }),

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

    usernameOf,

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

    resourcesReplaced: (workspace: Subject, build: WorkspaceBuild, replacements: ReadonlyArray<ResourceReplacement>) =>
      Effect.gen(function* () {
        const template = Option.getOrUndefined(yield* templates.byId(workspace.template_id))
        const version = Option.getOrUndefined(yield* versions.byId(build.template_version_id))
        if (template === undefined || version === undefined) return
        const { template_version_preset_id: presetId } = build
        const preset = presetId === null ? undefined : Option.getOrUndefined(yield* versions.presetById(presetId))
        yield* countChange(replaced(template.name, preset?.name ?? "", template.organization_name))
        const shown = replacements.slice(0, shownReplacements).map(({ paths, resource }) => ({ resource, paths: paths.join(", ") }))
        yield* notifications.raise(notificationEvents.prebuiltResourceReplaced, {
          to: { roles: [templateAdministrator], members_of: workspace.organization_id },
          labels: {
            org: template.organization_name,
            workspace: workspace.name,
            template: template.name,
            template_version: version.name,
            preset: preset?.name ?? "",
            workspace_build_num: String(build.build_number),
            claimant: yield* usernameOf(workspace.owner_id)
          },
          data: { replacements: Object.fromEntries(shown.map(({ paths, resource }) => [resource, paths])), shown },
          targets: [
            workspace.id,
            workspace.owner_id,
            workspace.template_id,
            version.id,
            ...(presetId === null ? [] : [presetId]),
            workspace.organization_id
          ],
          created_by: "provisionerdserver"
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
      }),

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
  }
})

/** Notifies users of changes of workspaces and tasks. notifications-audit-insights.md §A2, workspaces.md §8. */
export class WorkspaceNotifications extends Context.Tag("@atelier/core/WorkspaceNotifications")<
  WorkspaceNotifications,
  WorkspaceNotificationsService
>() {
  static readonly layer = standingOn(service(WorkspaceNotifications, make), Notifications.layer)
}
