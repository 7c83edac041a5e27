/** The lines that Terraform prints with `-json`, as lines of a job's log and as timings. terraform.md §4 no. 2. */
import type { LogLevel } from "@atelier/core/platform"
import type { EngineTiming } from "@atelier/core/provisioning"
import { Option, Schema } from "effect"

const Range = Schema.Struct({ filename: Schema.String, start: Schema.Struct({ line: Schema.Number }) })

const Diagnostic = Schema.Struct({
  severity: Schema.String,
  summary: Schema.String,
  detail: Schema.optional(Schema.NullOr(Schema.String)),
  range: Schema.optional(Schema.NullOr(Range)),
  snippet: Schema.optional(
    Schema.NullOr(Schema.Struct({ context: Schema.optional(Schema.NullOr(Schema.String)), code: Schema.String, start_line: Schema.Number }))
  )
})

const Message = Schema.Struct({
  "@level": Schema.String,
  "@message": Schema.String,
  "@timestamp": Schema.optional(Schema.String),
  type: Schema.optional(Schema.String),
  diagnostic: Schema.optional(Diagnostic),
  hook: Schema.optional(
    Schema.Struct({
      action: Schema.optional(Schema.String),
      resource: Schema.optional(Schema.Struct({ addr: Schema.String, implied_provider: Schema.optional(Schema.String) }))
    })
  )
})
export type Message = typeof Message.Type

const decode = Schema.decodeUnknownOption(Schema.parseJson(Message))

/** A line of the output; undefined if it is not one of Terraform's messages. */
export const parseMessage = (line: string): Message | undefined => (line.startsWith("{") ? Option.getOrUndefined(decode(line)) : undefined)

const levels: Readonly<Record<string, LogLevel>> = { trace: "trace", debug: "debug", info: "info", warn: "warn", error: "error" }

export const levelOf = ({ "@level": level }: Message): LogLevel => levels[level] ?? "info"

/** The texts of a message, one for each line of the log. */
export const textsOf = ({ "@message": text, diagnostic }: Message): ReadonlyArray<string> => {
  if (diagnostic === undefined) return [text]
  const { detail, range, severity, snippet, summary } = diagnostic
  const place =
    range === undefined || range === null
      ? []
      : [
          `on ${range.filename} line ${range.start.line}${snippet?.context ? `, in ${snippet.context}` : ""}:`,
          ...(snippet?.code ?? "").split("\n").map((code, index) => `  ${(snippet?.start_line ?? 0) + index}: ${code}`),
          ""
        ]
  return [`${severity === "error" ? "Error" : "Warning"}: ${summary}`, ...place, ...(detail ?? "").split("\n")]
}

const begins = new Set(["apply_start", "refresh_start", "provision_start"])
const ends = new Set(["apply_complete", "apply_errored", "refresh_complete", "provision_complete", "provision_errored"])

/** Collects how long each action on a resource took. */
export const makeTimings = (stage: EngineTiming["stage"]) => {
  const begun = new Map<string, EngineTiming>()
  const timings: Array<EngineTiming> = []
  return {
    timings: timings as ReadonlyArray<EngineTiming>,
    add: ({ "@timestamp": timestamp, hook, type = "" }: Message): void => {
      const { action = "refresh", resource } = hook ?? {}
      const at = timestamp === undefined ? Number.NaN : Date.parse(timestamp)
      if (resource === undefined || Number.isNaN(at)) return
      const key = `${type.replace(/_.*$/, "")} ${resource.addr}`
      if (begins.has(type)) {
        begun.set(key, { stage, source: resource.implied_provider ?? "", action, resource: resource.addr, started_at: at, ended_at: at })
      }
      const start = begun.get(key)
      if (!ends.has(type) || start === undefined) return
      begun.delete(key)
      timings.push({ ...start, ended_at: at })
    }
  }
}

/** Secrets shorter than this are in too many words to be told apart from them. */
const shortestSecret = 4

/** Puts a sign in place of each secret. Those of several lines are hidden line by line. */
export const redactor = (secrets: ReadonlyArray<string>): ((text: string) => string) => {
  const lines = secrets.flatMap((secret) => [secret, ...secret.split("\n")]).filter((line) => line.trim().length >= shortestSecret)
  const hidden = [...new Set(lines)].toSorted((a, b) => b.length - a.length)
  return (text) => hidden.reduce((shown, secret) => shown.replaceAll(secret, "***"), text)
}
