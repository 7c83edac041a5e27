import { Effect } from "effect"
import * as Access from "../access/Access.js"
import * as Audit from "../audit/Audit.js"
import { Conflict, Invalid } from "../platform/Errors.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { transaction } from "../platform/store/Transactor.js"
import { jobStatus } from "../provisioning/jobs/ProvisionerJob.js"
import { buildStatus } from "../workspaces/builds/WorkspaceBuild.js"
import type { WorkspaceBuildCreation } from "../workspaces/builds/WorkspaceBuildCreation.js"
import { missingTask } from "./Task.js"
import { taskObject, type visibleTasks } from "./VisibleTask.js"
import type { TaskRepository } from "./TaskRepository.js"
import * as Traced from "../platform/wiring/Traced.js"
import { subject } from "./TaskCreation.js"
import { status } from "./TaskViews.js"

interface Needs extends Pick<Effect.Effect.Success<typeof visibleTasks>, "readable"> {
  readonly builds: WorkspaceBuildCreation["Type"]
  readonly repository: TaskRepository["Type"]
}

/** Changes of a task, which its workspace follows. */
export const taskChanges = ({ readable, builds, repository }: Needs) => ({
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
        yield* Audit.record({ ...subject(task, "delete"), status_code: success, before: task })
      })
    )
  }),

  setInput: Traced.fn("Tasks.setInput")(function* (user: string, reference: string, prompt: string) {
    const task = yield* readable(user, reference)
    if (prompt.trim() === "") return yield* Invalid.field("input", "must not be blank")
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
})
