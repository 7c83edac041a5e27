/** What an agent's answer is to the client. The agent is the workspace user's: its answers are nothing that the service's own pages may trust. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { UpstreamFailure } from "@atelier/core/platform"
import { Effect, Either, Schema } from "effect"
import type { IncomingMessage } from "node:http"
import type { Headers } from "../apps/delivery.js"
import { json } from "../server/codec/respond.js"
import { Response, responseOf } from "../wire/errors.js"

/** The media type of an answer, whatever the agent says, and the headers that it may have. */
export interface AnswerForm {
  readonly contentType: string
  readonly headers: ReadonlyArray<string>
}

export const jsonAnswer: AnswerForm = { contentType: "application/json; charset=utf-8", headers: [] }

/** Statuses of refusals that are the caller's matter. Any other is a failure of the agent. */
const refusals: ReadonlySet<number> = new Set([400, 403, 404, 408, 409, 412, 413, 416, 429, 504, 507])

const successes: ReadonlySet<number> = new Set([200, 201, 204, 206, 304])

/** Bytes of a refusal, and the time that the agent may take for them: it begins to answer once it has all of them. */
const maximumRefusal = 64 * 1024
const refusalWithin = "10 seconds"

/** Whether an answer goes to the client as it is. */
export const isPassed = ({ statusCode = 0 }: IncomingMessage): boolean => successes.has(statusCode)

/** The head of an answer that goes to the client. */
export const headersOf = ({ headers, statusCode }: IncomingMessage, form: AnswerForm): Headers => {
  const passed = ["content-length", ...form.headers].flatMap((name) => {
    const value = headers[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const hasBody = statusCode !== 204 && statusCode !== 304
  return Object.fromEntries(
    hasBody ? [["content-type", form.contentType], ...passed] : passed.filter(([name]) => name !== "content-length")
  )
}

/** What has come of a refusal until its end or its bounds. */
const textOf = (response: IncomingMessage): Effect.Effect<string> =>
  Effect.async<string>((resume) => {
    const parts: Array<Buffer> = []
    let size = 0
    const done = (): void => resume(Effect.succeed(Buffer.concat(parts).toString("utf8")))
    response.on("data", (part: Buffer) => {
      size += part.length
      if (size <= maximumRefusal) parts.push(part)
      else done()
    })
    response.on("end", done).on("close", done).on("error", done)
  }).pipe(Effect.timeoutTo({ duration: refusalWithin, onSuccess: (text) => text, onTimeout: () => "" }))

const decode = Schema.decodeUnknownEither(Schema.parseJson(Response))

/** Answers the client with what the agent refuses. Fails with `UpstreamFailure` for an answer that is no refusal of the caller. */
export const refusalIn = (response: IncomingMessage): Effect.Effect<HttpServerResponse.HttpServerResponse, UpstreamFailure> =>
  Effect.flatMap(textOf(response), (text) => {
    const { headers, statusCode = 0 } = response
    const said = Either.getOrElse(decode(text), () => ({ message: `The workspace's agent answered ${statusCode}.` }))
    if (!refusals.has(statusCode)) return new UpstreamFailure(said)
    const answer = json(statusCode, responseOf(said))
    const range = headers["content-range"]
    return Effect.succeed(range === undefined ? answer : HttpServerResponse.setHeader(answer, "content-range", range))
  })
