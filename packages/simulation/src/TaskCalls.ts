/** Calls of tasks: users create some, and send messages to the apps that work on them. */
import { TaskConversations, Tasks } from "@atelier/core/tasks"
import { Effect } from "effect"
import type { Acknowledged, Left } from "./Left.js"
import { at } from "./Left.js"
import type { Setting } from "./Setting.js"

/** Creates a task as the actor. */
export const taskOf = (version: Setting["admin"], name: string) =>
  Effect.gen(function* () {
    const { create } = yield* Tasks
    const request = { template_version_id: version, input: "Do it", name, display_name: "" }
    const { id, workspace_id } = yield* create("me", request)
    const made: ReadonlyArray<Acknowledged> = [
      { table: "tasks", id },
      ...(workspace_id === null ? [] : [{ table: "workspaces", id: workspace_id } as const])
    ]
    return made
  })

/** Sends a message to a task of the actor, if there is any. */
export const sendTo = (target: number, message: string, { sent }: Left) =>
  Effect.gen(function* () {
    const tasks = yield* Effect.flatMap(Tasks, ({ list }) => list("owner:me"))
    const task = at(tasks, target)
    if (task === undefined) return
    yield* Effect.flatMap(TaskConversations, ({ send }) => send("me", task.id, message))
    sent.push(message)
  })
