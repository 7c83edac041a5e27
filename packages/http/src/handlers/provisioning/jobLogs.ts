import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type { Entitled } from "@atelier/core/access"
import { Invalid } from "@atelier/core/platform"
import { type JobLog, logLine } from "@atelier/core/provisioning"
import { Effect, Stream } from "effect"
import { ProvisionerJobLog } from "../../contract/provisioning/provisioning.js"
import { jsonArray, textLines } from "../../server/codec/streams.js"
import { jsonSocket } from "../../sockets/json.js"

/** A request for a job's log, and the source of its rows. */
interface JobLogRequest<E, R> {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly format: "json" | "text"
  /** The rows so far. */
  readonly read: Effect.Effect<Stream.Stream<JobLog>, E, R>
  /** Those rows, and then what is written until the job ends. */
  readonly follow: Effect.Effect<Entitled<JobLog>, E, R>
}

/** Answers with a job's log: as a list, as lines, or row by row over a WebSocket. templates-and-provisioning.md §6.6. */
export const answerJobLogs = <E, R>({ follow, format, read, request }: JobLogRequest<E, R>) =>
  Effect.gen(function* () {
    // Clients send the switch without a value, and mean it. wire.md W10
    const query = yield* HttpServerRequest.ParsedSearchParams
    if (Object.hasOwn(query, "follow")) {
      if (format === "text") return yield* Invalid.field("format", "text cannot be followed", "Logs cannot be followed as text.")
      return yield* jsonSocket(request, ProvisionerJobLog, yield* follow)
    }
    const rows = yield* read
    return yield* format === "text" ? textLines(Stream.map(rows, logLine)) : jsonArray(ProvisionerJobLog, rows)
  })
