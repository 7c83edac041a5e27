import { Data, Effect } from "effect"
import { request as httpRequest } from "node:http"
import type { Duplex } from "node:stream"

/** Bytes of an answer. */
const maximumAnswer = 2 * 1024 * 1024

/** There is no whole answer; `message` says why. */
export class Unanswered extends Data.TaggedError("Unanswered")<{ readonly message: string }> {}

export interface Asked {
  readonly method: string
  readonly path: string
  readonly host: string
  /** Sent as JSON. */
  readonly body?: unknown
}

/** Sends a request over a socket of its own, and reads the answer. */
export const agentExchange = (
  socket: Duplex,
  { body, host, method, path }: Asked
): Effect.Effect<{ readonly status: number; readonly text: string }, Unanswered> =>
  Effect.async((resume) => {
    const failure = (message: string): void => resume(Effect.fail(new Unanswered({ message })))
    const payload = body === undefined ? "" : JSON.stringify(body)
    const request = httpRequest({
      createConnection: () => socket,
      method,
      path,
      headers: {
        host,
        connection: "close",
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(payload) })
      }
    })
    request.on("error", ({ message }) => failure(message))
    request.on("response", (response) => {
      const parts: Array<Buffer> = []
      let size = 0
      response.on("data", (part: Buffer) => {
        size += part.length
        if (size <= maximumAnswer) return void parts.push(part)
        failure(`Its answer has more than ${maximumAnswer} bytes.`)
        request.destroy()
      })
      response.on("end", () => resume(Effect.succeed({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString("utf8") })))
      response.on("error", () => failure("It broke its answer off."))
    })
    request.end(payload)
    return Effect.sync(() => void request.destroy())
  })
