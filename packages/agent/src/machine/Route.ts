/** What the agent serves of its machine: routes, which the server's requests are led to. */
import { Data, Effect, Either, ParseResult, Schema, type Scope } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { WebSocket } from "ws"

/** The request is refused: the status, and what the body tells the caller. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly status: number
  readonly message: string
  readonly detail?: string
  readonly validations?: ReadonlyArray<{ readonly field: string; readonly detail: string }>
}> {
  /** A refusal of one named input. */
  static readonly field = (field: string, detail: string): Refused =>
    new Refused({ status: 400, message: "Validation failed.", validations: [{ field, detail }] })
}

/** A request whose path is that of a route. */
export interface Asked {
  readonly request: IncomingMessage
  /** The segments of the path that the route names, decoded. */
  readonly parameters: Readonly<Record<string, string>>
  readonly query: URLSearchParams
}

/** A request, with the response that its route writes. */
export interface Exchange extends Asked {
  readonly response: ServerResponse
}

/** Answers a request. It is interrupted when the client goes away, and its scope closes when it has answered. */
export interface Route {
  readonly method: "DELETE" | "GET" | "HEAD" | "POST" | "PUT"
  /** A path, such as `/processes/:process`. */
  readonly path: `/${string}`
  readonly handle: (exchange: Exchange) => Effect.Effect<void, Refused, Scope.Scope>
}

/** Refuses a WebSocket, or tells what to do with it. The socket is closed when that ends, and that is interrupted when the socket is closed. */
export interface SocketRoute {
  readonly path: `/${string}`
  readonly open: (asked: Asked) => Effect.Effect<(socket: WebSocket) => Effect.Effect<void>, Refused, Scope.Scope>
}

/** Routes of one subject. */
export interface Served {
  readonly routes: ReadonlyArray<Route>
  readonly sockets: ReadonlyArray<SocketRoute>
}

/** Writes an answer, with a body of JSON or none. */
export const send = (response: ServerResponse, status: number, body?: object): void => {
  const text = body === undefined ? "" : JSON.stringify(body)
  response.writeHead(status, text === "" ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
  response.end(text)
}

/** Bytes of a body of JSON. */
const maximumBody = 16 * 1024 * 1024

const cutOff = new Refused({ status: 400, message: "The request ended before its body did." })

const tooLarge = new Refused({
  status: 413,
  message: "Request body is too large.",
  detail: `The maximum is ${maximumBody} bytes.`
})

const bodyOf = (request: IncomingMessage): Effect.Effect<string, Refused> =>
  Effect.async((resume) => {
    const parts: Array<Buffer> = []
    let size = 0
    request.on("data", (part: Buffer) => {
      size += part.length
      if (size <= maximumBody) parts.push(part)
      else resume(tooLarge)
    })
    request.on("end", () => resume(Effect.succeed(Buffer.concat(parts).toString("utf8"))))
    request.on("close", () => resume(cutOff))
    request.on("error", () => resume(cutOff))
  })

/** Returns what reads a body of JSON. The schema is compiled once, with the first body: that takes ten times as long as to read a small one. */
export const bodyReader = <A, I>(schema: Schema.Schema<A, I>): ((request: IncomingMessage) => Effect.Effect<A, Refused>) => {
  let decode: ((text: string) => Either.Either<A, ParseResult.ParseError>) | undefined
  const decoded = (text: string): Either.Either<A, ParseResult.ParseError> =>
    (decode ??= Schema.decodeUnknownEither(Schema.parseJson(schema)))(text)
  return (request) =>
    Effect.flatMap(bodyOf(request), (text) =>
      Either.mapLeft(
        decoded(text),
        (error) =>
          new Refused({
            status: 400,
            message: "The body is not what it should be.",
            detail: ParseResult.TreeFormatter.formatErrorSync(error)
          })
      )
    )
}

/** A whole number that the server tells the agent in a header: a limit of the deployment. */
export const limitOf = ({ headers }: IncomingMessage, name: string, otherwise: number): number => {
  const value = headers[name]
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : otherwise
}
