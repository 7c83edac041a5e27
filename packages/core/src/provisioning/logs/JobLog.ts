/** The log of a job. templates-and-provisioning.md §6.6. */
import { Schema } from "effect"
import { LogLevel } from "../../platform/texts/LogLevel.js"
import * as Numbers from "../../platform/Numbers.js"
import { Timestamp } from "../../platform/time/Timestamp.js"

/** `provisioner_daemon` announces stages; `provisioner` is the engine's own output. */
export const JobLogSource = Schema.Literal("provisioner_daemon", "provisioner")
export type JobLogSource = typeof JobLogSource.Type

/** One row of a job's log. */
export const JobLog = Schema.Struct({
  /** Counts up within the store, not within the job. */
  id: Numbers.Count,
  /** In microseconds: lines that are written together have increasing times. */
  created_at: Timestamp,
  log_source: JobLogSource,
  log_level: LogLevel,
  /** At most 128 characters. */
  stage: Schema.String,
  /** At most 1,024 characters. */
  output: Schema.String
})
export interface JobLog extends Schema.Schema.Type<typeof JobLog> {}

/** A row that is not stored yet. */
export type NewJobLog = Omit<JobLog, "id">

/** Bytes of output a job may write. */
export const maximumLogsSize = 1_048_576

const maximumStage = 128
const maximumOutput = 1_024

/** Cuts between characters: half of a surrogate pair is not a text. */
const cut = (text: string, maximum: number): string => {
  if (text.length <= maximum) return text
  const end = /[\uD800-\uDBFF]/.test(text.charAt(maximum - 1)) ? maximum - 1 : maximum
  return text.slice(0, end)
}

/** Stores keep no NUL in texts. */
const storable = (text: string): string => text.replaceAll("\0", "\uFFFD")

/** The last row of a log that went on for too long. */
export const overflowNotice = "The log is too long: what follows is not kept."

const size = (text: string): number => new TextEncoder().encode(text).length

/** The part of a batch that is kept, given the bytes written before. */
export interface KeptLogs {
  readonly rows: ReadonlyArray<NewJobLog>
  /** Bytes of output of the whole job, before anything was cut. */
  readonly length: number
  readonly overflowed: boolean
}

/** Cuts texts that are too long, and ends the log with a notice where it would exceed its limit. */
export const keepLogs = (batch: ReadonlyArray<NewJobLog>, written: { readonly length: number; readonly overflowed: boolean }): KeptLogs => {
  if (written.overflowed) return { rows: [], length: written.length, overflowed: true }
  const rows: Array<NewJobLog> = []
  let { length } = written
  for (const log of batch) {
    const stage = cut(storable(log.stage), maximumStage)
    // Empty lines have to come to an end too; the daemon announces no more stages than the provisioner writes lines
    const bytes = log.log_source === "provisioner" ? Math.max(1, size(log.output)) : size(log.output)
    if (length + bytes > maximumLogsSize - size(overflowNotice)) {
      rows.push({ ...log, stage, log_level: "warn", output: overflowNotice })
      return { rows, length: length + size(overflowNotice), overflowed: true }
    }
    length += bytes
    rows.push({ ...log, stage, output: cut(storable(log.output), maximumOutput) })
  }
  return { rows, length, overflowed: false }
}

/** A row as a line of plain text. */
export const logLine = ({ created_at, log_level, output, stage }: Omit<JobLog, "id" | "log_source">): string =>
  `${created_at} [${log_level}] [provisioner|${stage}] ${output}\n`
