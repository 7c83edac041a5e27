import { Context, Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { Organizations } from "../organizations/Organizations.js"
import {
  type Conflict,
  Invalid,
  type NotFound,
  type Forbidden,
  type UpstreamFailure,
  type TimedOut,
  type Unacceptable
} from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { TemplateRepository } from "../templates/TemplateRepository.js"
import { TemplateVersionRepository } from "../templates/versions/TemplateVersionRepository.js"
import { WorkspaceBuildCreation } from "../workspaces/builds/WorkspaceBuildCreation.js"
import { WorkspaceCreation } from "../workspaces/creation/WorkspaceCreation.js"
import { WorkspaceOwners } from "../workspaces/WorkspaceOwners.js"
import { WorkspaceRepository } from "../workspaces/WorkspaceRepository.js"
import { visibleTasks } from "./VisibleTask.js"
import { type TaskFilter, TaskRepository } from "./TaskRepository.js"
import { parseTaskSearch } from "./TaskSearch.js"
import type { TaskView } from "./TaskView.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { CurrentActor } from "../access/actors/Actor.js"
import type { Auditing } from "../audit/Audit.js"
import type { BuildView } from "../workspaces/builds/BuildView.js"
import { status, viewsOf, viewOf } from "./TaskViews.js"
import { taskCreation } from "./TaskCreation.js"
import { taskChanges } from "./TaskChanges.js"

/** A requested task. Absent names are made from the prompt. */
export interface NewTask {
  readonly template_version_id: Uuid
  readonly template_version_preset_id?: Uuid | undefined
  readonly input: string
  readonly name: string
  readonly display_name: string
}

/** The methods of {@link Tasks}. */
export interface TasksService {
  /**
   * The tasks that the actor may read and that match a search, newest first; without those whose template the actor may not read. One
   * statement, however many they are. workspaces.md §9.2.
   */
  readonly list: (search: string) => Effect.Effect<ReadonlyArray<TaskView>, Invalid, CurrentActor>

  /** One task. Fails with `NotFound` if it is deleted or the actor may not read it. */
  readonly get: (user: string, reference: string) => Effect.Effect<TaskView, NotFound, CurrentActor>

  /**
   * Creates a task with a workspace of its name, and queues the workspace's first start. Fails with `Invalid` for a version that declares
   * no task, and as the creation of the workspace does. workspaces.md §9.1.
   */
  readonly create: (
    user: string,
    request: NewTask
  ) => Effect.Effect<
    TaskView,
    Invalid | Forbidden | NotFound | Conflict | UpstreamFailure | Unacceptable | TimedOut,
    CurrentActor | Auditing
  >

  /**
   * Deletes a task, and queues the deletion of its workspace, which must have no active build. Fails with `Forbidden` if the actor may only
   * read the task. workspaces.md §9.5.
   */
  readonly delete: (
    user: string,
    reference: string
  ) => Effect.Effect<void, Invalid | Forbidden | NotFound | Conflict | Unacceptable | TimedOut, CurrentActor | Auditing>

  /** Changes the prompt of a paused task, for its next start. Fails with `Conflict` for any other. workspaces.md §9.5. */
  readonly setInput: (
    user: string,
    reference: string,
    prompt: string
  ) => Effect.Effect<undefined, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /** Queues a stop of the task's workspace. Fails as the creation of a build does. workspaces.md §9.5. */
  readonly pause: (
    user: string,
    reference: string
  ) => Effect.Effect<BuildView, Invalid | Forbidden | NotFound | Conflict | Unacceptable | TimedOut, CurrentActor | Auditing>

  /** Queues a start of the task's workspace. Fails with `Conflict` if it runs, and as the creation of a build does. workspaces.md §9.5. */
  readonly resume: (
    user: string,
    reference: string
  ) => Effect.Effect<BuildView, Invalid | Forbidden | NotFound | Conflict | Unacceptable | TimedOut, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const repository = yield* TaskRepository
  const { readable } = yield* visibleTasks
  const creation = yield* WorkspaceCreation
  const builds = yield* WorkspaceBuildCreation
  const workspaces = yield* WorkspaceRepository
  const owners = yield* WorkspaceOwners
  const organizations = yield* Organizations
  const templates = yield* TemplateRepository
  const versions = yield* TemplateVersionRepository
  const ids = yield* Ids

  const unknown = (field: string, reference: string): Invalid =>
    Invalid.field(field, `"${reference}" does not exist`, "Invalid search query")

  const ownerOf = (reference: string) =>
    Effect.gen(function* () {
      const user = Option.getOrUndefined(yield* owners.find(reference))
      if (user === undefined || !(yield* Access.can("read", AccessObjects.user(user)))) return yield* unknown("owner", reference)
      return user.id
    })

  const organizationOf = (reference: string) =>
    Effect.mapBoth(organizations.get(reference), { onFailure: () => unknown("organization", reference), onSuccess: ({ id }) => id })

  return {
    list: Traced.fn("Tasks.list")(function* (search: string) {
      const wanted = yield* parseTaskSearch(search)
      const filter: TaskFilter = {
        owner_id: wanted.owner === undefined ? undefined : yield* ownerOf(wanted.owner),
        organization_id: wanted.organization === undefined ? undefined : yield* organizationOf(wanted.organization)
      }
      const found = yield* repository.list(yield* Access.predicate("read", "task"), filter)
      const matching = wanted.status === undefined ? found : found.filter((task) => status(task) === wanted.status)
      return yield* viewsOf(yield* Access.filter("read", matching, ({ template }) => AccessObjects.template(template)))
    }),

    get: Traced.fn("Tasks.get")(function* (user: string, reference: string) {
      return yield* viewOf(yield* readable(user, reference))
    }),

    ...taskCreation({ versions, templates, workspaces, owners, ids, repository, creation }),

    ...taskChanges({ readable, builds, repository })
  }
})

/** Tasks: prompts, each with a workspace in which a program works on it. */
export class Tasks extends Context.Tag("@atelier/core/Tasks")<Tasks, TasksService>() {
  static readonly layer = standingOn(
    service(Tasks, make),
    WorkspaceCreation.layer,
    WorkspaceBuildCreation.layer,
    WorkspaceOwners.layer,
    Organizations.layer
  )
}
