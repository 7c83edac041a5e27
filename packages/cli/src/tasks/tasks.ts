/** `tasks`. */
import { AtelierError, type Client, type Task, type TaskLogsResponse } from "@atelier/client"
import * as tasks from "@atelier/client/tasks"
import { setTimeout as pause } from "node:timers/promises"
import type { Session } from "../Session.js"
import { chooseTemplate } from "../templates/chooseTemplate.js"
import { readAll } from "../terminal/Prompts.js"
import { ago, logLine } from "../terminal/text.js"
import { existing } from "../workspaces/find.js"
import { usage } from "../Failure.js"

/** Finds a task of the user by its name or id. */
export const findTask = (client: Client, task: string, { program, signal }: Session): Promise<Task> =>
  existing(tasks.getTask(client, { user: "me", task }, { signal }), `You have no task "${task}".`, `"${program} tasks list" lists them.`)

export const listTasks = async ({ search }: { readonly search: string | undefined }, session: Session): Promise<void> => {
  const found = await tasks.listTasks(await session.client(), { q: search }, { signal: session.signal })
  session.out.list(
    found.tasks,
    [
      { title: "NAME", of: ({ name }) => name, isKey: true },
      { title: "STATUS", of: ({ status }) => status },
      { title: "TEMPLATE", of: ({ template_name }) => template_name },
      { title: "CREATED", of: ({ created_at }) => ago(created_at) },
      { title: "TITLE", of: ({ display_name }) => display_name }
    ],
    "There is no task."
  )
}

interface CreateInput {
  readonly template: string | undefined
  readonly name: string | undefined
  readonly input: string | undefined
}

/** The text of a task: the argument, or the standard input. */
const textOf = async (given: string | undefined, { ask, stdin }: Session): Promise<string> => {
  const text = given ?? (ask.canAsk ? await ask.line("What is to be done") : await readAll(stdin))
  if (text === "") throw usage("input: is missing.")
  return text
}

export const createTask = async ({ input, name, template }: CreateInput, session: Session): Promise<void> => {
  const client = await session.client()
  const { active_version_id } = await chooseTemplate(client, template, session)
  const body = { template_version_id: active_version_id, input: await textOf(input, session), name }
  const task = await tasks.createTask(client, { user: "me", body }, { signal: session.signal })
  session.out.row(task, task.name)
}

/** Milliseconds between two attempts to send to a task that begins, and after which no more are made. */
const interval = 1_000
const patience = 300_000

/** Sends a message, once the task has begun to take messages. */
const sendOnceActive = async (client: Client, task: string, input: string, session: Session): Promise<void> => {
  const { signal } = session
  for (const until = performance.now() + patience; ;) {
    try {
      return await tasks.sendTaskMessage(client, { user: "me", task, body: { input } }, { signal })
    } catch (error) {
      if (!(error instanceof AtelierError) || error.status !== 409 || performance.now() > until) throw error
      const { status } = await findTask(client, task, session)
      if (status !== "pending" && status !== "initializing") throw error
    }
    await pause(interval, undefined, { signal })
  }
}

export const sendToTask = async (
  { input, task }: { readonly input: string | undefined; readonly task: string },
  session: Session
): Promise<void> => {
  const client = await session.client()
  const { id } = await findTask(client, task, session)
  const text = await textOf(input, session)
  await session.out.waiting("Waiting for the task", sendOnceActive(client, id, text, session))
  session.out.say(`Sent to ${task}.`)
}

/** Prints a message of a conversation; what the user has said is marked. */
export const showEntry = (entry: TaskLogsResponse["logs"][number], { out }: Session): void => {
  const lines = entry.content.split("\n").map((line) => `${entry.type === "input" ? "> " : ""}${logLine(line, out.hasColours)}`)
  out.row(entry, lines.join("\n"))
}

export const taskLogs = async ({ task }: { readonly task: string }, session: Session): Promise<void> => {
  const client = await session.client()
  const { id } = await findTask(client, task, session)
  const { logs } = await tasks.getTaskLogs(client, { user: "me", task: id }, { signal: session.signal })
  for (const entry of logs) showEntry(entry, session)
}

export const removeTask = async ({ task }: { readonly task: string }, session: Session): Promise<void> => {
  const client = await session.client()
  const { id } = await findTask(client, task, session)
  await tasks.deleteTask(client, { user: "me", task: id }, { signal: session.signal })
  session.out.say(`The task ${task} is deleted.`)
}
