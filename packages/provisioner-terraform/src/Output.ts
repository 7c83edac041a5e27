/** The lines that Terraform prints with `-json`, as lines of a job's log and as timings. terraform.md §4 no. 2. */
import type { LogLevel } from "@atelier/core/platform"
import type { EngineTiming } from "@atelier/core/provisioning"
import { Clock, Effect, Option, Schema } from "effect"

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
  message_code: Schema.optional(Schema.String),
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

/** The actions of what Terraform names none for. */
const unnamed: Readonly<Record<string, string>> = { refresh: "state refresh", provision: "provision" }

/** The parts of an `init`, by the message that begins and the one that ends them. */
const loads = [
  { resource: "backend", from: "initializing_backend_message", to: "initializing_modules_message" },
  { resource: "modules", from: "initializing_modules_message", to: "initializing_provider_plugin_message" },
  { resource: "provider plugins", from: "initializing_provider_plugin_message", to: "output_init_success_message" }
]

/** The row of a whole stage. Clients of the ecosystem know it by these words. */
const whole = (stage: EngineTiming["stage"], started_at: number, ended_at: number): EngineTiming => ({
  stage,
  source: "coder",
  action: "terraform",
  resource: `coder_stage_${stage}`,
  started_at,
  ended_at
})

/** Runs a stage; returns its result with how long it took. */
export const timedStage = <A, E, R>(stage: EngineTiming["stage"], step: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const started = yield* Clock.currentTimeMillis
    const result = yield* step
    return { result, timing: whole(stage, started, yield* Clock.currentTimeMillis) }
  })

/** Collects how long each action on a resource took, and each part of an `init`. */
export const makeTimings = (stage: EngineTiming["stage"]) => {
  const begun = new Map<string, EngineTiming>()
  const timings: Array<EngineTiming> = []
  const end = (key: string, at: number): void => {
    const start = begun.get(key)
    if (start === undefined) return
    begun.delete(key)
    timings.push({ ...start, ended_at: at })
  }
  const load = (code: string, at: number): void => {
    for (const { from, resource, to } of loads) {
      if (code === to) end(resource, at)
      if (code === from) begun.set(resource, { stage, source: "", action: "load", resource, started_at: at, ended_at: at })
    }
  }
  return {
    timings: timings as ReadonlyArray<EngineTiming>,
    add: ({ "@timestamp": timestamp, hook, message_code, type = "" }: Message): void => {
      const at = timestamp === undefined ? Number.NaN : Date.parse(timestamp)
      if (Number.isNaN(at)) return
      if (message_code !== undefined) load(message_code, at)
      const { action, resource } = hook ?? {}
      if (resource === undefined) return
      const kind = type.replace(/_.*$/, "")
      const key = `${kind} ${resource.addr}`
      if (begins.has(type)) {
        begun.set(key, {
          stage,
          source: resource.implied_provider ?? "",
          action: action ?? unnamed[kind] ?? kind,
          resource: resource.addr,
          started_at: at,
          ended_at: at
        })
      }
      if (ends.has(type)) end(key, at)
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
