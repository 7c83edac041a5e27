/** `tasks attach`: the conversation with a task, as it goes on. */
import { AtelierError, type Client, type TaskLogsResponse } from "@atelier/client"
import * as tasks from "@atelier/client/tasks"
import { createInterface } from "node:readline"
import { setTimeout as pause } from "node:timers/promises"
import { patiently } from "../requests/patiently.js"
import type { Session } from "../Session.js"
import { findTask, showEntry } from "./tasks.js"

type Entry = TaskLogsResponse["logs"][number]

/** Milliseconds between two looks at the conversation: the service has no stream of it. */
const interval = 1_000

/** The messages of the user that are not sent yet. */
const inputOf = ({ stdin, stderr, ask }: Session) => {
  const lines: Array<string> = []
  let hasEnded = false
  const reader = createInterface({ input: stdin, output: stderr, terminal: ask.canAsk, historySize: 0 })
  reader.on("line", (line) => line !== "" && lines.push(line))
  reader.once("close", () => (hasEnded = true))
  // Node pauses it when the shell lets the program go on
  reader.on("SIGCONT", () => reader.resume())
  return { lines, hasEnded: () => hasEnded, close: () => reader.close() }
}

/** The task cannot take a message now, or the service takes no requests. */
const notTaken: ReadonlySet<number> = new Set([409, 429, 503])

/** Sends a message; false while it cannot be taken. */
const sent = async (client: Client, task: string, input: string, { signal }: Session): Promise<boolean> => {
  try {
    await tasks.sendTaskMessage(client, { user: "me", task, body: { input } }, { signal })
    return true
  } catch (error) {
    if (error instanceof AtelierError && notTaken.has(error.status)) return false
    throw error
  }
}

/** Shows messages once each. A message that an assistant still writes is shown when it has not changed between two looks. */
const transcript = (session: Session) => {
  let shown = 0
  let before: Entry | undefined
  return (entries: ReadonlyArray<Entry>): boolean => {
    for (const [index, entry] of entries.entries()) {
      if (index < shown) continue
      const isLast = index === entries.length - 1
      if (isLast && entry.type === "output" && (before?.id !== entry.id || before.content !== entry.content)) break
      showEntry(entry, session)
      shown = index + 1
    }
    before = entries.at(-1)
    return entries.length > 0 && shown === entries.length && before?.type === "output"
  }
}

/** Shows the conversation and sends what the user types, line by line. Ends with the input, once the task has answered it. */
export const attach = async ({ task: name }: { readonly task: string }, session: Session): Promise<void> => {
  const { out, signal } = session
  const client = await session.client()
  const { id } = await findTask(client, name, session)
  const input = inputOf(session)
  const show = transcript(session)
  const end = (): void => input.close()
  signal.addEventListener("abort", end)
  try {
    if (session.ask.canAsk) out.say("Each line is a message to the task. Ctrl-D leaves; the task goes on.")
    for (let awaited = 0; ;) {
      const { logs } = await patiently(() => tasks.getTaskLogs(client, { user: "me", task: id }, { signal }), signal)
      const isAnswered = show(logs) && logs.length >= awaited
      const [message] = input.lines
      if (message === undefined && input.hasEnded() && (isAnswered || session.ask.canAsk)) return
      if (message !== undefined && (await sent(client, id, message, session))) {
        input.lines.shift()
        awaited = logs.length + 1
      }
      await pause(interval, undefined, { signal })
    }
  } finally {
    signal.removeEventListener("abort", end)
    input.close()
  }
}
