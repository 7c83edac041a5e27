/** One request to an agent's machine. */
import { AgentUnreachable } from "@atelier/core/network"
import { type Invalid, type TooLarge, UpstreamFailure } from "@atelier/core/platform"
import { Effect, Scope } from "effect"
import { IncomingMessage, request as httpRequest } from "node:http"
import { finished } from "node:stream"
import type { AppConnections, Kept } from "../apps/AppConnections.js"
import { framingLines } from "../apps/forward.js"
import * as Continue from "../server/connection/Continue.js"
import { cutOff, tooLarge } from "../server/request/body.js"

/** Bytes of the head of an answer. */
const maximumHead = 64 * 1024

/** A text, or the body of a client's request, of at most so many bytes. */
export type Body =
  | { readonly _tag: "Text"; readonly text: string }
  | {
      readonly _tag: "Stream"
      readonly stream: NodeJS.ReadableStream
      readonly source: unknown
      readonly framing: { readonly length: number } | "chunked" | undefined
      readonly most: number
    }

export interface Asked<Refusal extends Error> {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body | undefined
  /** Connections that were kept, and how another one is opened. */
  readonly connections: AppConnections
  readonly connection: Pick<Kept, "agent_id" | "key" | "open">
  /** Has a function called with why the request may not go on, which may be at once. An answer that has begun is broken off. */
  readonly whenOver: (call: (refusal: Refusal) => void) => void
}

/** The lines of a head that say how the body ends. */
const framed = (method: string, body: Body | undefined): ReadonlyArray<string> => {
  if (body?._tag !== "Text") return framingLines(method, body?.framing)
  return ["Content-Type", "application/json", "Content-Length", String(Buffer.byteLength(body.text))]
}

/** Sends a body, no faster than the agent takes it. */
const sendBody = (body: Body | undefined, to: NodeJS.WritableStream, refuse: (error: Invalid | TooLarge) => void): void => {
  if (body === undefined) return void to.end()
  if (body._tag === "Text") return void to.end(body.text)
  let size = 0
  body.stream.on("data", (chunk: Uint8Array) => {
    size += chunk.length
    if (size > body.most) refuse(tooLarge(body.most))
  })
  // A body that breaks off is no whole one, and its error has to have a listener
  finished(body.stream, { writable: false }, (error) => {
    if (error) refuse(cutOff)
  })
  if (body.source instanceof IncomingMessage) Continue.send(body.source)
  body.stream.pipe(to)
}

const broken = (error: Error): AgentUnreachable | UpstreamFailure =>
  error instanceof AgentUnreachable
    ? error
    : new UpstreamFailure({ message: "The workspace's agent did not answer.", detail: error.message })

/**
 * Sends a request, and waits for the head of its answer. The exchange ends with the scope, and its connection is kept if both are whole by then. Fails
 * with `TooLarge` for a body beyond its bound, with `Invalid` for one that breaks off, and with the refusal of a request that may not go on.
 */
export const exchange = <Refusal extends Error>({
  body,
  connection,
  connections,
  headers,
  method,
  path,
  whenOver
}: Asked<Refusal>): Effect.Effect<IncomingMessage, AgentUnreachable | UpstreamFailure | Invalid | TooLarge | Refusal, Scope.Scope> =>
  Effect.async<readonly [IncomingMessage, () => void], AgentUnreachable | UpstreamFailure | Invalid | TooLarge | Refusal>((resume) => {
    const way: Kept = {
      ...connection,
      agent: connections,
      method,
      path,
      headers: ["Host", "agent", "Connection", "keep-alive", ...Object.entries(headers).flat(), ...framed(method, body)],
      setHost: false,
      maxHeaderSize: maximumHead
    }
    const request = httpRequest(way)
    const over = (response: IncomingMessage) => (): void => {
      if (!response.complete || !request.writableFinished) request.destroy()
      else if (!response.readableEnded) response.resume()
    }
    // The listener stays: an error after the head ends the answer
    request.on("error", (error) => resume(broken(error)))
    let answer: IncomingMessage | undefined
    request.on("response", (response) => {
      answer = response
      // It may be ended before it has a reader
      response.on("error", () => undefined)
      resume(Effect.succeed([response, over(response)]))
    })
    sendBody(body, request, (error) => {
      resume(error)
      request.destroy()
    })
    // After all listeners: it may be over by now
    whenOver((refusal) => {
      // A request that is destroyed would let its answer end as if it were whole
      if (answer !== undefined) return void answer.destroy(new Error(refusal.message))
      resume(Effect.fail(refusal))
      request.destroy()
    })
    return Effect.sync(() => void request.destroy())
  }).pipe(
    Effect.flatMap(([response, end]) =>
      Effect.flatMap(Effect.scope, (scope) => Effect.as(Scope.addFinalizer(scope, Effect.sync(end)), response))
    )
  )
