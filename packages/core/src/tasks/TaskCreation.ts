import { Effect, Option, Ref } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import * as Audit from "../audit/Audit.js"
import { taskAudit } from "./TaskAudit.js"
import type { AuditAction } from "../audit/AuditEntry.js"
import { Conflict, Invalid } from "../platform/Errors.js"
import type { Ids } from "../platform/Ids.js"
import * as Name from "../platform/texts/Name.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { TemplateRepository } from "../templates/TemplateRepository.js"
import type { TemplateVersionRepository } from "../templates/versions/TemplateVersionRepository.js"
import { validName, type Workspace } from "../workspaces/Workspace.js"
import type { WorkspaceCreation } from "../workspaces/creation/WorkspaceCreation.js"
import type { WorkspaceOwners } from "../workspaces/WorkspaceOwners.js"
import type { WorkspaceRepository } from "../workspaces/WorkspaceRepository.js"
import type { Task } from "./Task.js"
import { generatedNames } from "./TaskName.js"
import type { TaskDetails, TaskRepository } from "./TaskRepository.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { NewTask } from "./Tasks.js"
import { viewOf } from "./TaskViews.js"

/** Bytes of a display name. */
const maximumDisplayName = 64

/** Generated names that are tried, where the owner has workspaces of those before. */
const attempts = 5

const noVersion = Invalid.field("template_version_id", "There is no template version with this id")

export const subject = (task: Task, action: AuditAction): Audit.Subject<Task> => ({
  action,
  resource: taskAudit,
  id: task.id,
  target: task.name,
  organization_id: task.organization_id
})

const validDisplayName = (display_name: string) => {
  const violation = Name.displayViolation(display_name, maximumDisplayName)
  return violation === undefined ? Effect.void : Invalid.field("display_name", violation)
}

interface Needs {
  readonly versions: TemplateVersionRepository["Type"]
  readonly templates: TemplateRepository["Type"]
  readonly workspaces: WorkspaceRepository["Type"]
  readonly owners: WorkspaceOwners["Type"]
  readonly ids: Ids["Type"]
  readonly repository: TaskRepository["Type"]
  readonly creation: WorkspaceCreation["Type"]
}

/** The creation of a task with its workspace. */
export const taskCreation = ({ versions, templates, workspaces, owners, ids, repository, creation }: Needs) => {
  /** Fails unless the actor may read a version of this id whose template declares a task. workspaces.md §9.1 no. 1. */
  const requireTaskVersion = (id: Uuid) =>
    Effect.gen(function* () {
      const version = Option.getOrUndefined(yield* versions.byId(id))
      const template = version?.template_id ? Option.getOrUndefined(yield* templates.byId(version.template_id)) : undefined
      if (version === undefined || template === undefined) return yield* noVersion
      if (!(yield* Access.can("read", AccessObjects.template(template)))) return yield* noVersion
      if (version.has_ai_task !== true) return yield* Invalid.field("template_version_id", "The template version declares no task")
    })

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

  return {
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
          yield* Audit.record({ ...subject(task, "create"), status_code: success, after: task })
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
    })
  }
}
