/** Reads request bodies with a bound on their size and on the time they take. identity.md §1.4. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { Invalid, TooLarge } from "@atelier/core/platform"
import { Chunk, Context, Duration, Effect, Stream } from "effect"
import { IncomingMessage } from "node:http"
import { RequestTimeout } from "../../wire/errors.js"
import * as Continue from "../connection/Continue.js"

/** How long a client may take to send a body that is read as a whole. */
export class BodyTimeout extends Context.Reference<BodyTimeout>()("@atelier/http/BodyTimeout", {
  defaultValue: () => Duration.minutes(1)
}) {}

/** How long a client may take for each part of a body of `minimumProgress` bytes: one that falls silent would keep others waiting. */
export class BodyStall extends Context.Reference<BodyStall>()("@atelier/http/BodyStall", {
  defaultValue: () => Duration.seconds(10)
}) {}

const minimumProgress = 16 * 1024

/** Bytes of a refused body that are still read, so that the client comes to reading the answer. */
export const drainLimit = 32 * 1024 * 1024

export type BodyRefusal = TooLarge | RequestTimeout | Invalid

/** The whole body, of at most `limit` bytes. `timeout` replaces `BodyTimeout`. */
export const readBody = (
  request: HttpServerRequest.HttpServerRequest,
  limit: number,
  timeout?: Duration.Duration
): Effect.Effect<Uint8Array, BodyRefusal> =>
  Effect.flatMap(timeout === undefined ? BodyTimeout : Effect.succeed(timeout), (within) =>
    Effect.flatMap(BodyStall, (stall) => read(request, limit, within, stall))
  )

const read = (
  request: HttpServerRequest.HttpServerRequest,
  limit: number,
  timeout: Duration.Duration,
  stall: Duration.Duration
): Effect.Effect<Uint8Array, BodyRefusal> => {
  const { source } = request
  const declared = Number(request.headers["content-length"])
  if (!(source instanceof IncomingMessage)) {
    return declared > limit ? Effect.fail(tooLarge(limit)) : readStream(request, limit, timeout)
  }
  if (declared > limit && (declared <= drainLimit || Continue.isExpected(source))) return Effect.fail(tooLarge(limit))
  return Effect.suspend(() => {
    Continue.send(source)
    return readMessage(source, limit, timeout, stall)
  })
}

/** The body as text. */
export const readText = (
  request: HttpServerRequest.HttpServerRequest,
  limit: number,
  timeout: Duration.Duration
): Effect.Effect<string, BodyRefusal> =>
  Effect.map(readBody(request, limit, timeout), (bytes) =>
    bytes instanceof Buffer ? bytes.toString("utf8") : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")
  )

export const tooLarge = (limit: number): TooLarge =>
  new TooLarge({ message: "Request body is too large.", detail: `The maximum is ${limit} bytes.` })

const tooSlow = new RequestTimeout({ message: "The request body did not arrive in time." })
export const cutOff = new Invalid({ message: "The request ended before its body did." })

const readMessage = (
  message: IncomingMessage,
  limit: number,
  timeout: Duration.Duration,
  stall: Duration.Duration
): Effect.Effect<Uint8Array, BodyRefusal> =>
  Effect.async<Uint8Array, BodyRefusal>((resume) => {
    if (message.readableEnded) return resume(Effect.succeed(alreadyRead(message)))
    const chunks: Array<Buffer> = []
    let size = 0
    const done = (result: Effect.Effect<Uint8Array, BodyRefusal>): void => {
      release()
      resume(result)
    }
    let next = minimumProgress
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size >= next) {
        next = size + minimumProgress
        stalled.refresh()
      }
      if (size <= limit) chunks.push(chunk)
      else if (size > drainLimit) {
        message.pause()
        done(Effect.fail(tooLarge(limit)))
      } else chunks.length = 0
    }
    const onEnd = (): void =>
      done(
        size > limit
          ? Effect.fail(tooLarge(limit))
          : Effect.succeed(chunks[0] !== undefined && chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
      )
    const onClose = (): void => done(Effect.fail(cutOff))
    const timer = setTimeout(() => done(Effect.fail(tooSlow)), Duration.toMillis(timeout))
    const stalled = setTimeout(() => done(Effect.fail(tooSlow)), Duration.toMillis(stall))
    const release = (): void => {
      clearTimeout(timer)
      clearTimeout(stalled)
      message.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose)
    }
    message.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose)
    return Effect.sync(release)
  })

/** A host's own middleware may have read the body: what it left at the request is as good. */
const alreadyRead = (message: IncomingMessage & { readonly body?: unknown }): Uint8Array => {
  const { body } = message
  if (body instanceof Uint8Array) return body
  if (body === undefined) return new Uint8Array()
  if (typeof body === "string") return Buffer.from(body)
  return Buffer.from(isForm(message.headers["content-type"]) && isFields(body) ? formOf(body) : JSON.stringify(body))
}

/** Whether a body's type is that of a form of plain fields. */
export const isForm = (contentType = ""): boolean => /^application\/x-www-form-urlencoded(?:\s*;|$)/i.test(contentType)

const isFields = (body: unknown): body is object => typeof body === "object" && body !== null

/** A form of the fields that a parser made of one; a field that was given more than once has a list of values. */
const formOf = (fields: object): string =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]: [string, unknown]) =>
      (Array.isArray(value) ? value : [value]).map((each): [string, string] => [
        name,
        typeof each === "string" ? each : JSON.stringify(each)
      ])
    )
  ).toString()

const readStream = (
  request: HttpServerRequest.HttpServerRequest,
  limit: number,
  timeout: Duration.Duration
): Effect.Effect<Uint8Array, BodyRefusal> => {
  // The library fails here, where Node has an empty body
  if (request.source instanceof Request && request.source.body === null) return Effect.succeed(new Uint8Array())
  let size = 0
  return request.stream.pipe(
    Stream.mapError(() => cutOff),
    Stream.tap((chunk) => ((size += chunk.length) > limit ? Effect.fail(tooLarge(limit)) : Effect.void)),
    Stream.runCollect,
    Effect.map((chunks) => Buffer.concat(Chunk.toReadonlyArray(chunks))),
    Effect.timeoutFail({ duration: timeout, onTimeout: () => tooSlow })
  )
}
