import { Invalid } from "@atelier/core/platform"
import { TaskConversations, Tasks } from "@atelier/core/tasks"
import { Effect, ParseResult } from "effect"
import * as contract from "../../contract/tasks/tasks.js"
import { maximumSnapshot, TaskSnapshot } from "../../contract/tasks/tasks.js"
import { BodyTimeout, readText } from "../../server/request/body.js"
import { bodyReader } from "../../server/codec/decode.js"
import * as Handlers from "../Handlers.js"

export const tasks = Handlers.group(contract.tasks, (handlers) =>
  Effect.map(Effect.all([Tasks, TaskConversations]), ([tasks, conversations]) =>
    handlers
      .handle("listTasks", ({ urlParams }) => Effect.map(tasks.list(urlParams.q), (found) => ({ tasks: found, count: found.length })))
      .handle("createTask", ({ path, payload }) => tasks.create(path.user, payload))
      .handle("getTask", ({ path }) => tasks.get(path.user, path.task))
      .handle("deleteTask", ({ path }) => tasks.delete(path.user, path.task))
      .handle("updateTaskInput", ({ path, payload }) => tasks.setInput(path.user, path.task, payload.input))
      .handle("getTaskLogs", ({ path }) => conversations.logs(path.user, path.task))
      .handle("pauseTask", ({ path }) => Effect.map(tasks.pause(path.user, path.task), (workspace_build) => ({ workspace_build })))
      .handle("resumeTask", ({ path }) => Effect.map(tasks.resume(path.user, path.task), (workspace_build) => ({ workspace_build })))
      .handle("sendTaskMessage", ({ path, payload }) => conversations.send(path.user, path.task, payload.input))
  )
)

const tooLarge = new Invalid({ message: "The conversation is too large.", detail: `The maximum is ${maximumSnapshot} bytes.` })

export const taskSnapshots = Handlers.group(contract.taskSnapshots, (handlers) =>
  Effect.gen(function* () {
    const conversations = yield* TaskConversations
    const timeout = yield* BodyTimeout
    const read = bodyReader(TaskSnapshot.ast)
    const decoded = ParseResult.validateSync(TaskSnapshot)
    return handlers.handleRaw("storeTaskLogSnapshot", ({ path, request }) =>
      Effect.gen(function* () {
        const text = yield* Effect.catchTag(readText(request, maximumSnapshot, timeout), "TooLarge", () => tooLarge)
        yield* conversations.store(path.task, decoded(yield* read(text)).messages)
      })
    )
  })
)
