/** One request to an agent's machine, on a connection of its own. */
import { type Invalid, type TooLarge, UpstreamFailure } from "@atelier/core/platform"
import { Effect, Scope } from "effect"
import { IncomingMessage, request as httpRequest } from "node:http"
import { type Duplex, finished } from "node:stream"
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

export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body | undefined
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

const broken = ({ message }: Error) => new UpstreamFailure({ message: "The workspace's agent did not answer.", detail: message })

/** Sends a request, and waits for the head of its answer. The connection ends with the scope. Fails with `TooLarge` for a body beyond its bound, and with `Invalid` for one that breaks off. */
export const exchange = (
  socket: Duplex,
  { body, headers, method, path }: Asked
): Effect.Effect<IncomingMessage, UpstreamFailure | Invalid | TooLarge, Scope.Scope> =>
  Effect.async<readonly [IncomingMessage, () => void], UpstreamFailure | Invalid | TooLarge>((resume) => {
    const request = httpRequest({
      createConnection: () => socket,
      method,
      path,
      headers: ["Host", "agent", "Connection", "close", ...Object.entries(headers).flat(), ...framed(method, body)],
      setHost: false,
      maxHeaderSize: maximumHead
    })
    // The listener stays: an error after the head ends the answer
    request.on("error", (error) => resume(broken(error)))
    request.on("response", (response) => resume(Effect.succeed([response, () => void request.destroy()])))
    sendBody(body, request, (error) => {
      resume(error)
      request.destroy()
    })
    return Effect.sync(() => void request.destroy())
  }).pipe(
    Effect.flatMap(([response, end]) =>
      Effect.flatMap(Effect.scope, (scope) => Effect.as(Scope.addFinalizer(scope, Effect.sync(end)), response))
    )
  )
