/** Processes in workspaces. agents-and-apps.md §17. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Numbers, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, boundedList, boundedMap, boundedText, Path } from "../../wire/input.js"
import { BodyLimit, operation } from "../annotations.js"
import { Authenticated } from "../authentication.js"

const byAgent = Path({ workspaceagent: Uuid.Uuid })

/** Characters of one argument or variable. Linux takes 128 KiB. */
const argument = boundedText(128 * 1024)

/** Arguments of one program. */
const maximumArguments = 10_000

const path = boundedText(4096)

/** Bytes of a request with the input of a program. */
const maximumInput = 16 * 1024 * 1024

/** Bytes of each output that an answer holds at most. */
const maximumOutput = 16 * 1024 * 1024

const Milliseconds = Schema.Int.pipe(Schema.positive({ message: () => "must be more than 0" }))

const program = {
  program: Schema.optional(path),
  args: Schema.optional(boundedList(argument, maximumArguments)),
  /** A line for the shell of the workspace's user, in place of a program. */
  command: Schema.optional(boundedText(1024 * 1024)),
  /** Relative paths begin at the agent's directory, which is the default. */
  cwd: Schema.optional(path),
  /** Variables in addition to those of a login. */
  env: Schema.optional(boundedMap(argument)),
  timeout_ms: Schema.optional(Milliseconds)
}

const ExecResult = Schema.Struct({
  exit_code: Schema.NullOr(Schema.Int),
  signal: Schema.NullOr(Schema.String),
  stdout: Schema.String,
  stderr: Schema.String,
  stdout_truncated: Schema.Boolean,
  stderr_truncated: Schema.Boolean,
  timed_out: Schema.Boolean,
  duration_ms: Numbers.Count
}).annotations({ identifier: "ExecResult" })

/** The refusals of every request to an agent's machine. */
const unreached = ["NotFound", "Forbidden", "Conflict", "UpstreamFailure"] as const

export const processes = HttpApiGroup.make("processes")
  .annotate(OpenApi.Description, "Processes that callers start in workspaces.")
  .add(
    HttpApiEndpoint.post("exec", "/api/v2/workspaceagents/:workspaceagent/exec")
      .annotateContext(
        operation(
          "Run a command",
          "Runs a program, or a line of a shell, beside an agent, and returns how it ended and what it wrote. The program ends if the client goes away."
        )
      )
      .setPath(byAgent)
      .setPayload(
        Body({
          ...program,
          stdin: Schema.optional(boundedText(maximumInput)),
          /** Of `stdin`, `stdout` and `stderr`. Default `utf8`. */
          encoding: Schema.optional(Schema.Literal("utf8", "base64")),
          /** Bytes of each output that are returned, from its beginning. Default 1 MiB. */
          max_output_bytes: Schema.optional(Schema.Int.pipe(Schema.between(0, maximumOutput)))
        })
      )
      .addSuccess(ExecResult)
      .addError(refusals(...unreached))
      .annotate(BodyLimit, maximumInput + 4 * 1024 * 1024)
  )
  .middlewareEndpoints(Authenticated)
