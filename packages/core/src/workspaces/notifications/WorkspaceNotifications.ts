import { Context, Effect, Option } from "effect"
import type { CurrentActor } from "../../access/actors/Actor.js"
import { UserRepository } from "../../identity/users/UserRepository.js"
import { Notifications } from "../../notifications/Notifications.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import type * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { ResourceReplacement } from "../../provisioning/engines/ProvisionerEngine.js"
import { TemplateRepository } from "../../templates/TemplateRepository.js"
import { TemplateVersionRepository } from "../../templates/versions/TemplateVersionRepository.js"
import type { PreparedBuild } from "../builds/BuildOrders.js"
import type { Workspace } from "../Workspace.js"
import type { WorkspaceBuild } from "../builds/WorkspaceBuild.js"
import { WorkspaceBuildRepository } from "../builds/WorkspaceBuildRepository.js"
import { WorkspaceRepository } from "../WorkspaceRepository.js"
import { WorkspaceTaskRepository } from "../builds/WorkspaceTaskRepository.js"
import type { Subject } from "./WorkspaceSubject.js"
import { type taskStates, activityNotifications } from "./ActivityNotifications.js"
import { queuedBuildNotifications } from "./QueuedBuildNotifications.js"
import { endedBuildNotifications } from "./EndedBuildNotifications.js"
import { scheduleNotifications } from "./ScheduleNotifications.js"

/** The methods of {@link WorkspaceNotifications}. */
export interface WorkspaceNotificationsService {
  /** A workspace was created, for its owner or for a task. */
  readonly created: (build: PreparedBuild) => Effect.Effect<void, never, CurrentActor>

  /** A build of a workspace that had one before was queued. */
  readonly buildQueued: (prepared: PreparedBuild) => Effect.Effect<void, never, CurrentActor>

  /** A workspace was deleted. An owner who has deleted it knows. */
  readonly deleted: (workspace: Subject & Pick<Workspace, "expires_at">, build: WorkspaceBuild) => Effect.Effect<void>

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
  const usernameOf = (id: Uuid) =>
    Effect.map(users.byId(id), (found) => Option.match(found, { onNone: () => "", onSome: ({ username }) => username }))

  return {
    ...queuedBuildNotifications({ users, notifications, tasks, versions }),
    ...endedBuildNotifications({ notifications, usernameOf, builds, templates, versions }),
    ...scheduleNotifications({ notifications }),
    usernameOf,
    ...activityNotifications({ workspaces, notifications, tasks })
  }
})

/** Notifies users of changes of workspaces and tasks. notifications-audit-insights.md §A2, workspaces.md §8. */
export class WorkspaceNotifications extends Context.Tag("@atelier/core/WorkspaceNotifications")<
  WorkspaceNotifications,
  WorkspaceNotificationsService
>() {
  static readonly layer = standingOn(service(WorkspaceNotifications, make), Notifications.layer)
}
