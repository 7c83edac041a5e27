/** The output of agents and their scripts, and its stored form. agents-and-apps.md §5. */
import { Schema } from "effect"
import { LogLevel } from "../../platform/texts/LogLevel.js"
import * as Numbers from "../../platform/Numbers.js"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { WorkspaceAgentId } from "../WorkspaceAgent.js"

/** Where lines come from: a script, or a program that says who it is. Its key is the pair of agent and id. */
export const AgentLogSource = Schema.Struct({
  workspace_agent_id: WorkspaceAgentId,
  id: Uuid,
  created_at: Timestamp,
  /** At most 127 characters. */
  display_name: Schema.String,
  icon: Schema.String
})
export interface AgentLogSource extends Schema.Schema.Type<typeof AgentLogSource> {}

/** One stored line. */
export const AgentLog = Schema.Struct({
  /** Counts up: the order of the lines. */
  id: Numbers.Count,
  /** When the service received it, in microseconds: lines that arrive together have increasing times. */
  created_at: Timestamp,
  /** At most 1024 characters. */
  output: Schema.String,
  level: LogLevel,
  source_id: Uuid
})
export interface AgentLog extends Schema.Schema.Type<typeof AgentLog> {}

/** A line that is not stored yet. */
export type NewAgentLog = Pick<AgentLog, "level" | "output">

/** The source of lines that name none; made when it is first used. */
export const externalSource = {
  id: Uuid.make("3b579bf4-1ed8-4b99-87a8-e9a1e3410410"),
  display_name: "External",
  icon: "/emojis/1f310.png"
}

/** Bytes of output an agent may store, and the number of lines: empty ones have no bytes. */
export const maximumLogsLength = 1_048_576

/** Characters a source's name is cut to. */
const maximumSourceName = 127

/** Characters a stored line is cut to. */
export const maximumOutput = 1024

/** Stands for what cannot be stored: NUL characters and lone surrogates. */
const replacement = "❌"

/** A line as it is stored, and its bytes in UTF-8 before it was cut. */
export interface SanitizedOutput {
  readonly output: string
  readonly bytes: number
}

/** The first `count` characters (code points). */
const cut = (text: string, count: number): string => {
  // A text has at most as many code points as UTF-16 units
  if (text.length <= count) return text
  let units = 0
  for (let taken = 0; taken < count && units < text.length; taken++) units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1
  return text.slice(0, units)
}

/** Bytes of a text without lone surrogates in UTF-8. */
const utf8Length = (text: string): number => {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    // A surrogate pair is two units and four bytes; every other unit above U+07FF has three bytes
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2
  }
  return bytes
}

/** A line an agent sent, made fit to be stored. */
export const sanitize = (output: string): SanitizedOutput => {
  const text = output.replaceAll(/\0|\p{Surrogate}/gu, replacement)
  return { output: cut(text, maximumOutput), bytes: utf8Length(text) }
}

/** A source's name as it is stored. */
export const sourceName = (name: string): string => cut(name.replaceAll(/\0|\p{Surrogate}/gu, replacement), maximumSourceName)
