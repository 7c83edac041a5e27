/** Processes in workspaces. agents-and-apps.md §17. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Numbers, Timestamp, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, boundedList, boundedMap, boundedText, IntegerFromText, Path, Query, required } from "../../wire/input.js"
import { BodyLimit, operation, Streaming, TrailingSlash } from "../annotations.js"
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

/** Columns or rows of a terminal. */
const Size = Schema.Int.pipe(Schema.between(1, 0xffff))

const terminalSize = { cols: Size, rows: Size }

const Process = Schema.Struct({
  id: Schema.String,
  pid: Numbers.Count,
  program: Schema.String,
  args: Schema.Array(Schema.String),
  cwd: Schema.String,
  status: Schema.Literal("running", "exited"),
  exit_code: Schema.NullOr(Schema.Int),
  signal: Schema.NullOr(Schema.String),
  started_at: Timestamp.Timestamp,
  ended_at: Schema.NullOr(Timestamp.Timestamp),
  pty: Schema.Boolean,
  output_start: Numbers.described(
    Numbers.Count,
    "The offset of the first byte of output that is kept. Offsets count both channels together."
  ),
  output_end: Numbers.described(Numbers.Count, "The offset behind the last byte of output.")
}).annotations({ identifier: "Process" })

const ofProcess = Path({ workspaceagent: Uuid.Uuid, process: Schema.String })

/** The refusals of every request to an agent's machine. */
const unreached = ["NotFound", "Forbidden", "Conflict", "UpstreamFailure"] as const

const offset = IntegerFromText.pipe(
  Schema.filter((value) => value >= 0, { message: () => "must not be negative", jsonSchema: { type: "integer", minimum: 0 } })
)

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
  .add(
    HttpApiEndpoint.post("startProcess", "/api/v2/workspaceagents/:workspaceagent/processes")
      .annotateContext(
        operation(
          "Start a process",
          "Starts a program, or a line of a shell, that goes on until it ends or the workspace does. Its latest output is kept."
        )
      )
      .setPath(byAgent)
      .setPayload(
        Body({
          ...program,
          /** Runs it on a terminal of this size. */
          pty: Schema.optional(Schema.Struct(terminalSize)),
          /** Whether its input stays open. Default true. */
          stdin: Schema.optional(Schema.Boolean)
        })
      )
      .addSuccess(Process, { status: 201 })
      .addError(refusals(...unreached))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listProcesses", "/api/v2/workspaceagents/:workspaceagent/processes")
      .annotateContext(
        operation("List processes", "Returns the processes that were started beside an agent, those that have ended lately too.")
      )
      .setPath(byAgent)
      .addSuccess(Schema.Struct({ processes: Schema.Array(Process) }).annotations({ identifier: "ProcessList" }))
      .addError(refusals(...unreached))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getProcess", "/api/v2/workspaceagents/:workspaceagent/processes/:process")
      .annotateContext(operation("Get a process", "Returns a process that was started beside an agent."))
      .setPath(ofProcess)
      .addSuccess(Process)
      .addError(refusals(...unreached))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("waitForProcess", "/api/v2/workspaceagents/:workspaceagent/processes/:process/wait")
      .annotateContext(operation("Wait for a process", "Returns a process once it has ended, or as it is when the time is over."))
      .setPath(ofProcess)
      .setUrlParams(
        Query({
          /** Default 30 seconds. */
          timeout_ms: Schema.optional(offset)
        })
      )
      .addSuccess(Process)
      .addError(refusals(...unreached))
  )
  .add(
    HttpApiEndpoint.post("signalProcess", "/api/v2/workspaceagents/:workspaceagent/processes/:process/signal")
      .annotateContext(operation("Signal a process", "Sends a signal to a process and the others of its group."))
      .setPath(ofProcess)
      .setPayload(
        Body({
          /** Such as `SIGTERM`. */
          signal: required(boundedText(32))
        })
      )
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals(...unreached))
  )
  .add(
    HttpApiEndpoint.post("resizeProcess", "/api/v2/workspaceagents/:workspaceagent/processes/:process/resize")
      .annotateContext(operation("Resize a process's terminal", "Gives the terminal of a process another size."))
      .setPath(ofProcess)
      .setPayload(Body(terminalSize))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals(...unreached))
  )
  .add(
    HttpApiEndpoint.del("deleteProcess", "/api/v2/workspaceagents/:workspaceagent/processes/:process")
      .annotateContext(operation("Delete a process", "Ends a process and the others of its group, and forgets its output."))
      .setPath(ofProcess)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals(...unreached))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("openProcess", "/api/v2/workspaceagents/:workspaceagent/processes/:process/stream")
      .annotateContext(
        operation(
          "Open a process",
          "Upgrades to a WebSocket with the output of a process from an offset on, its input, and its end. Binary messages carry a byte for the channel and, from the process, eight bytes for the offset before their data."
        )
      )
      .setPath(ofProcess)
      .setUrlParams(
        Query({
          /** Where the output begins. Default 0, or the first byte that is kept. */
          offset: Schema.optional(offset)
        })
      )
      .addSuccess(HttpApiSchema.Empty(101))
      .addError(refusals(...unreached, "UpgradeRequired"))
      .annotate(Streaming, true)
  )
  .middlewareEndpoints(Authenticated)
