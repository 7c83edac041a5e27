/** Tasks: prompts that programs in workspaces work on. workspaces.md §9. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { AgentHealth } from "@atelier/core/agents"
import { Numbers, Uuid } from "@atelier/core/platform"
import { TaskLogEntry, TaskLogs, TaskMessages, TaskStateEntry, TaskView } from "@atelier/core/tasks"
import { Schema } from "effect"
import { NullableUuid } from "../../wire/dialect.js"
import { refusals } from "../../wire/errors.js"
import { Body, boundedList, boundedText, firstText, needed, Path, Query, required, StrictQuery, text } from "../../wire/input.js"
import { AlsoAt, operation, TrailingSlash } from "../annotations.js"
import { AgentAuthenticated, Authenticated } from "../authentication.js"
import { WorkspaceBuild } from "../workspaces/workspaces.js"

export const Task = Schema.Struct({
  ...TaskView.fields,
  workspace_id: NullableUuid,
  workspace_agent_id: NullableUuid,
  workspace_agent_health: Schema.NullOr(AgentHealth),
  workspace_app_id: NullableUuid,
  current_state: Schema.NullOr(TaskStateEntry.annotations({ identifier: "TaskStateEntry" }))
}).annotations({ identifier: "Task" })

const TasksList = Schema.Struct({ tasks: Schema.Array(Task), count: Numbers.Count }).annotations({ identifier: "TasksListResponse" })

const TaskLogsResponse = Schema.Struct({
  ...TaskLogs.fields,
  logs: Schema.Array(TaskLogEntry.annotations({ identifier: "TaskLogEntry" }))
}).annotations({ identifier: "TaskLogsResponse" })

const QueuedBuild = Schema.Struct({ workspace_build: Schema.NullOr(WorkspaceBuild) })

/** Characters of a prompt: one variable of a program's environment can hold it. */
const maximumPrompt = 32_767

const prompt = Schema.optionalWith(boundedText(maximumPrompt), { default: () => "" })

const byUser = { user: Schema.String }
const byTask = Path({ ...byUser, task: Schema.String })

/** The refusals of a request for a build. */
const buildRefusals = refusals("NotFound", "Forbidden", "Conflict", "Unacceptable", "TimedOut")
const creationRefusals = refusals("NotFound", "Forbidden", "Conflict", "Unacceptable", "UpstreamFailure", "TimedOut")

export const tasks = HttpApiGroup.make("tasks")
  .annotate(OpenApi.Description, "Tasks that programs in workspaces work on.")
  .add(
    HttpApiEndpoint.get("listTasks", "/api/v2/tasks")
      .annotateContext(operation("List tasks", "Returns the tasks that the caller may see, filtered by `q`, newest first."))
      .setUrlParams(Query({ q: firstText }))
      .addSuccess(TasksList)
      .annotate(TrailingSlash, true)
      .annotate(AlsoAt, "/api/experimental/tasks")
  )
  .add(
    HttpApiEndpoint.post("createTask", "/api/v2/tasks/:user")
      .annotateContext(
        operation("Create a task", "Creates a task of a user with a workspace of its own, and starts the workspace's first build.")
      )
      .setPath(Path(byUser))
      .setPayload(
        Body({
          template_version_id: required(Uuid.Uuid),
          template_version_preset_id: Schema.optional(Uuid.Uuid),
          input: prompt,
          name: text,
          display_name: text
        })
      )
      .addSuccess(Task, { status: 201 })
      .addError(creationRefusals)
      .annotate(AlsoAt, "/api/experimental/tasks/:user")
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getTask", "/api/v2/tasks/:user/:task")
      .annotateContext(operation("Get a task", "Returns a task by its id, or by its name among the user's tasks."))
      .setPath(byTask)
      .addSuccess(Task)
      .addError(refusals("NotFound"))
      .annotate(AlsoAt, "/api/experimental/tasks/:user/:task")
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.del("deleteTask", "/api/v2/tasks/:user/:task")
      .annotateContext(operation("Delete a task", "Deletes a task, and queues the deletion of its workspace."))
      .setPath(byTask)
      .addSuccess(HttpApiSchema.Empty(202))
      .addError(buildRefusals)
      .annotate(AlsoAt, "/api/experimental/tasks/:user/:task")
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.patch("updateTaskInput", "/api/v2/tasks/:user/:task/input")
      .annotateContext(operation("Change a task's prompt", "Changes the prompt of a paused task."))
      .setPath(byTask)
      .setPayload(Body({ input: needed(prompt) }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(AlsoAt, "/api/experimental/tasks/:user/:task/input")
  )
  .add(
    HttpApiEndpoint.get("getTaskLogs", "/api/v2/tasks/:user/:task/logs")
      .annotateContext(
        operation("Get a task's conversation", "Returns what a user and the task's app said: from the app, or as it was stored last.")
      )
      .setPath(byTask)
      .addSuccess(TaskLogsResponse)
      .addError(refusals("NotFound", "Conflict", "UpstreamFailure"))
      .annotate(AlsoAt, "/api/experimental/tasks/:user/:task/logs")
  )
  .add(
    HttpApiEndpoint.post("pauseTask", "/api/v2/tasks/:user/:task/pause")
      .annotateContext(operation("Pause a task", "Queues a stop of the task's workspace."))
      .setPath(byTask)
      .addSuccess(QueuedBuild.annotations({ identifier: "PauseTaskResponse" }), { status: 202 })
      .addError(buildRefusals)
      .annotate(AlsoAt, "/api/experimental/tasks/:user/:task/pause")
  )
  .add(
    HttpApiEndpoint.post("resumeTask", "/api/v2/tasks/:user/:task/resume")
      .annotateContext(operation("Resume a task", "Queues a start of the task's workspace."))
      .setPath(byTask)
      .addSuccess(QueuedBuild.annotations({ identifier: "ResumeTaskResponse" }), { status: 202 })
      .addError(buildRefusals)
      .annotate(AlsoAt, "/api/experimental/tasks/:user/:task/resume")
  )
  .add(
    HttpApiEndpoint.post("sendTaskMessage", "/api/v2/tasks/:user/:task/send")
      .annotateContext(operation("Send a message to a task", "Sends a message to the app of an active task."))
      .setPath(byTask)
      .setPayload(Body({ input: needed(text) }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Conflict", "UpstreamFailure"))
      .annotate(AlsoAt, "/api/experimental/tasks/:user/:task/send")
  )
  .middlewareEndpoints(Authenticated)

/** Bytes of a stored conversation. */
export const maximumSnapshot = 64 * 1024

/** A conversation that an agent stores: every message of the most that a body can hold. */
export const TaskSnapshot = Body({ messages: boundedList(TaskMessages.value, 2000) })

export const taskSnapshots = HttpApiGroup.make("taskSnapshots")
  .annotate(OpenApi.Description, "Conversations of tasks that agents store.")
  .add(
    HttpApiEndpoint.post("storeTaskLogSnapshot", "/api/v2/workspaceagents/me/tasks/:task/log-snapshot")
      .annotateContext(
        operation(
          "Store a task's conversation",
          "Replaces the stored conversation of the task that the calling agent's workspace works on."
        )
      )
      .setPath(Path({ task: Uuid.Uuid }))
      .setUrlParams(StrictQuery({ format: Schema.Literal("agentapi") }))
      .setPayload(TaskSnapshot)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound"))
  )
  .middlewareEndpoints(AgentAuthenticated)
