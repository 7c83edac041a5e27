/** A conversation with a task: what was said, and what the program reported between. */
import type { TaskLogsResponse, WorkspaceAppStatus } from "@atelier/client"

export type Entry =
  | { readonly kind: "said"; readonly key: string; readonly at: string; readonly isInput: boolean; readonly text: string }
  | { readonly kind: "report"; readonly key: string; readonly at: string; readonly report: WorkspaceAppStatus }

type Message = TaskLogsResponse["logs"][number]

/** Messages and reports, ordered by time. A report follows the message of the same time. */
export const entriesOf = (messages: ReadonlyArray<Message>, reports: ReadonlyArray<WorkspaceAppStatus>): ReadonlyArray<Entry> => {
  const said = messages.map(({ content, id, time, type }): Entry => ({
    kind: "said",
    key: `said ${id}`,
    at: time,
    isInput: type === "input",
    text: content
  }))
  const told = reports.map((report): Entry => ({ kind: "report", key: `report ${report.id}`, at: report.created_at, report }))
  return [...said, ...told].toSorted((one, other) => new Date(one.at).getTime() - new Date(other.at).getTime())
}

/** The conversation before its program has answered: the prompt alone. */
export const promptOnly = (prompt: string, at: string): ReadonlyArray<Message> =>
  prompt.trim() === "" ? [] : [{ id: -1, content: prompt, time: at, type: "input" }]

/** Signs of Markdown that other output seldom has. */
const marks = [
  /^ {0,3}(?:```|~~~)/m,
  /^ {0,3}#{1,6} \S/m,
  /^ {0,3}(?:[-*+]|\d{1,9}[.)]) \S.*\n(?:.*\n)?? {0,3}(?:[-*+]|\d{1,9}[.)]) \S/m,
  /^\|.*\|[^\S\n]*\n\|[\s:|-]+\|/m,
  /\*\*[^\s*][^*\n]{0,200}\*\*/,
  /(?:^|\s)`[^`\n]{1,200}`/m,
  /\[[^[\]\n]{1,200}\]\(https?:/
]

/** How far a message is looked at. */
const maximumLooked = 8_000

/** Whether a message is written in Markdown. What a terminal would colour is not: its lines and columns stay as they are. */
export const isMarkdown = (text: string): boolean => {
  if (text.includes("\u001b")) return false
  const start = text.slice(0, maximumLooked)
  return marks.some((mark) => mark.test(start))
}
