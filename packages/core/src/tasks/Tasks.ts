import { Context, Effect, Option, Ref } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { inactivityTimeout } from "../agents/AgentStatus.js"
import * as Audit from "../audit/Audit.js"
import type { AuditAction } from "../audit/AuditEntry.js"
import { diff } from "../audit/AuditedFields.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import { Organizations } from "../organizations/Organizations.js"
import { Conflict, Invalid, type NotFound, type Forbidden, type UpstreamFailure, type Unacceptable } from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import * as Name from "../platform/texts/Name.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { transaction } from "../platform/store/Transactor.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { TemplateRepository } from "../templates/TemplateRepository.js"
import { TemplateVersionRepository } from "../templates/versions/TemplateVersionRepository.js"
import { jobStatus } from "../provisioning/jobs/ProvisionerJob.js"
import { validName, type Workspace } from "../workspaces/Workspace.js"
import { buildStatus } from "../workspaces/builds/WorkspaceBuild.js"
import { WorkspaceBuildCreation } from "../workspaces/builds/WorkspaceBuildCreation.js"
import { WorkspaceCreation } from "../workspaces/creation/WorkspaceCreation.js"
import { WorkspaceOwners } from "../workspaces/WorkspaceOwners.js"
import { WorkspaceRepository } from "../workspaces/WorkspaceRepository.js"
import { missingTask, type Task, taskStatus } from "./Task.js"
import { taskObject, visibleTasks } from "./VisibleTask.js"
import { generatedNames } from "./TaskName.js"
import { type TaskDetails, type TaskFilter, TaskRepository } from "./TaskRepository.js"
import { parseTaskSearch } from "./TaskSearch.js"
import { partsOf, taskView, type TaskView } from "./TaskView.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { CurrentActor } from "../access/actors/Actor.js"
import type { Auditing } from "../audit/Audit.js"
import type { BuildView } from "../workspaces/builds/BuildView.js"

/** A requested task. Absent names are made from the prompt. */
export interface NewTask {
  readonly template_version_id: Uuid
  readonly template_version_preset_id?: Uuid | undefined
  readonly input: string
  readonly name: string
  readonly display_name: string
}

/** Bytes of a display name. */
const maximumDisplayName = 64

/** Generated names that are tried, where the owner has workspaces of those before. */
const attempts = 5

const noVersion = Invalid.field("template_version_id", "There is no template version with this id")

const subject = (task: Task, action: AuditAction): Audit.Subject => ({
  action,
  type: "task",
  id: task.id,
  target: task.name,
  organization_id: task.organization_id
})

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
  ) => Effect.Effect<TaskView, Invalid | Forbidden | NotFound | Conflict | UpstreamFailure | Unacceptable, CurrentActor | Auditing>

  /**
   * Deletes a task, and queues the deletion of its workspace, which must have no active build. Fails with `Forbidden` if the actor may only
   * read the task. workspaces.md §9.5.
   */
  readonly delete: (
    user: string,
    reference: string
  ) => Effect.Effect<void, Invalid | Forbidden | NotFound | Conflict | Unacceptable, CurrentActor | Auditing>

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
  ) => Effect.Effect<BuildView, Invalid | Forbidden | NotFound | Conflict | Unacceptable, CurrentActor | Auditing>

  /** Queues a start of the task's workspace. Fails with `Conflict` if it runs, and as the creation of a build does. workspaces.md §9.5. */
  readonly resume: (
    user: string,
    reference: string
  ) => Effect.Effect<BuildView, Invalid | Forbidden | NotFound | Conflict | Unacceptable, CurrentActor | Auditing>
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

  const viewsOf = (tasks: ReadonlyArray<TaskDetails>) =>
    Effect.gen(function* () {
      const { agentConnectionUpdateInterval } = yield* DeploymentOptions
      const context = { now: yield* Timestamp.now, inactive: inactivityTimeout(agentConnectionUpdateInterval) }
      return tasks.map((task) => taskView(task, context))
    })

  const viewOf = (task: TaskDetails) =>
    Effect.flatMap(viewsOf([task]), ([view]) => (view === undefined ? missingTask : Effect.succeed(view)))

  /** Fails unless the actor may read a version of this id whose template declares a task. workspaces.md §9.1 no. 1. */
  const requireTaskVersion = (id: Uuid) =>
    Effect.gen(function* () {
      const version = Option.getOrUndefined(yield* versions.byId(id))
      const template = version?.template_id ? Option.getOrUndefined(yield* templates.byId(version.template_id)) : undefined
      if (version === undefined || template === undefined) return yield* noVersion
      if (!(yield* Access.can("read", AccessObjects.template(template)))) return yield* noVersion
      if (version.has_ai_task !== true) return yield* Invalid.field("template_version_id", "The template version declares no task")
    })

  const validDisplayName = (display_name: string) => {
    const violation = Name.displayViolation(display_name, maximumDisplayName)
    return violation === undefined ? Effect.void : Invalid.field("display_name", violation)
  }

  /** The names of a task; those that are not given are made from its prompt. No workspace of the owner has a generated name. */
  const namesFor = (ownerId: Uuid, { input, ...given }: NewTask) =>
    Effect.gen(function* () {
      const display_name = given.display_name.trim()
      yield* validDisplayName(display_name)
      if (given.name !== "") {
        yield* validName(given.name)
        return { name: given.name, display_name: display_name || (yield* generatedNames(input)).display_name }
      }
      const free = Effect.filterOrFail(
        Effect.flatMap(generatedNames(input), (names) =>
          Effect.map(workspaces.idByName(ownerId, names.name, false), (found) => ({ names, isFree: Option.isNone(found) }))
        ),
        ({ isFree }) => isFree,
        () => new Conflict({ message: "No free name could be made from the prompt." })
      )
      const { names } = yield* Effect.retry(free, { times: attempts - 1 })
      return { name: names.name, display_name: display_name || names.display_name }
    })

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

  const status = (task: TaskDetails) => taskStatus(partsOf(task))

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

    create: Traced.fn("Tasks.create")(function* (user: string, request: NewTask) {
      const owner = yield* owners.known(user)
      yield* requireTaskVersion(request.template_version_id)
      const names = yield* namesFor(owner.id, request)
      const id = yield* ids.next
      // As it is before a provisioner takes the build
      const created = yield* Ref.make<Option.Option<TaskDetails>>(Option.none())
      const store = (workspace: Workspace) =>
        Effect.gen(function* () {
          const task: Task = {
            ...names,
            id,
            created_at: workspace.created_at,
            organization_id: workspace.organization_id,
            owner_id: workspace.owner_id,
            workspace_id: workspace.id,
            template_version_id: request.template_version_id,
            prompt: request.input,
            deleted_at: null
          }
          yield* Effect.catchTag(repository.insert(task), "Duplicate", () => Conflict.taken("A task of this owner", task.name))
          const { success } = yield* Audit.AuditStatus
          yield* Audit.record({ ...subject(task, "create"), status_code: success, diff: diff("task", undefined, task) })
          yield* Ref.set(created, yield* repository.byId(id))
        })
      yield* creation.create(
        { user },
        {
          name: names.name,
          template_version_id: request.template_version_id,
          template_version_preset_id: request.template_version_preset_id,
          autostart_schedule: "",
          ttl_ms: 0,
          automatic_updates: "",
          rich_parameter_values: []
        },
        { id, prompt: request.input, store }
      )
      return yield* viewOf(yield* Effect.orDie(Effect.flatten(Ref.get(created))))
    }),

    delete: Traced.fn("Tasks.delete")(function* (user: string, reference: string) {
      const task = yield* readable(user, reference)
      yield* Access.authorizeWrite("delete", taskObject(task), missingTask)
      if (!task.workspace.deleted) {
        yield* builds.create(task.workspace_id, { transition: "delete", rich_parameter_values: [], orphan: false })
      }
      const { success } = yield* Audit.AuditStatus
      yield* transaction(
        Effect.gen(function* () {
          // A concurrent deletion of the workspace also deletes the task
          if (!(yield* repository.delete(task.id, yield* Timestamp.now))) return
          yield* Audit.record({ ...subject(task, "delete"), status_code: success, diff: diff("task", task, undefined) })
        })
      )
    }),

    setInput: Traced.fn("Tasks.setInput")(function* (user: string, reference: string, prompt: string) {
      if (prompt.trim() === "") return yield* Invalid.field("input", "must not be blank")
      const task = yield* readable(user, reference)
      yield* Access.authorizeWrite("update", taskObject(task), missingTask)
      yield* Audit.audited(
        subject(task, "write"),
        Effect.gen(function* () {
          const isChanged = status(task) === "paused" && (yield* repository.setPrompt(task.id, prompt))
          if (!isChanged) return yield* new Conflict({ message: "The prompt can be changed only while the task is paused." })
          return { value: undefined, before: task, after: { ...task, prompt } }
        })
      )
    }),

    pause: Traced.fn("Tasks.pause")(function* (user: string, reference: string) {
      const { workspace_id } = yield* readable(user, reference)
      return yield* builds.create(workspace_id, {
        transition: "stop",
        reason: "task_manual_pause",
        rich_parameter_values: [],
        orphan: false
      })
    }),

    resume: Traced.fn("Tasks.resume")(function* (user: string, reference: string) {
      const { build, workspace_id } = yield* readable(user, reference)
      if (buildStatus(jobStatus(build.job), build.transition) === "running") {
        return yield* new Conflict({ message: "The task's workspace is already running." })
      }
      return yield* builds.create(workspace_id, {
        transition: "start",
        reason: "task_resume",
        rich_parameter_values: [],
        orphan: false
      })
    })
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
