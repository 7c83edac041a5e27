/** Serves the processes and files of the machine, over streams that the server opens. agents-and-apps.md §17. */
import type { ByteStream, StreamError } from "@atelier/agent-protocol"
import { Cause, Effect, Either, Exit, Fiber, Option, Runtime } from "effect"
import { createServer, type IncomingMessage, STATUS_CODES, type ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { type WebSocket, WebSocketServer } from "ws"
import { serveStream } from "../streams/serveStream.js"
import { Refused, send, type Served } from "./Route.js"

/** Bytes of the head of a request, above those that the server takes from its clients. */
const maximumHead = 256 * 1024

/** Bytes of a message of a WebSocket. */
const maximumMessage = 4 * 1024 * 1024

/** Milliseconds for which a connection without a request stays open: longer than the server keeps it, which uses it for further requests. */
const keepAliveTimeout = 30_000

export interface Machine {
  /** Serves requests of the server on a stream until it ends. */
  readonly serve: (stream: ByteStream) => Effect.Effect<void, StreamError>
}

interface Address {
  readonly segments: ReadonlyArray<string>
  readonly query: URLSearchParams
}

/** The path and the query of a request; undefined for a path that cannot be decoded. */
const addressOf = ({ url = "/" }: IncomingMessage): Address | undefined => {
  const mark = url.indexOf("?")
  const path = mark < 0 ? url : url.slice(0, mark)
  const segments = Either.try(() => path.split("/").map(decodeURIComponent))
  return Either.isLeft(segments) ? undefined : { segments: segments.right, query: new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1)) }
}

/** The segments that a route's path names; undefined for another path. */
const parametersOf = (path: string, { segments }: Address): Readonly<Record<string, string>> | undefined => {
  const wanted = path.split("/")
  if (wanted.length !== segments.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [index, name] of wanted.entries()) {
    const given = segments[index] ?? ""
    if (name.startsWith(":")) parameters[name.slice(1)] = given
    else if (name !== given) return undefined
  }
  return parameters
}

/** The first route whose path and method are a request's. Those of WebSockets have no method. */
const found = <Route extends { readonly path: string; readonly method?: string }>(
  routes: ReadonlyArray<Route>,
  address: Address,
  method: string | undefined
) => {
  for (const route of routes) {
    const parameters = route.method === method ? parametersOf(route.path, address) : undefined
    if (parameters !== undefined) return { route, parameters }
  }
  return undefined
}

const noRoute = new Refused({ status: 404, message: "The agent has no such route." })

const bodyOf = ({ detail, message, validations }: Refused) => ({
  message,
  ...(detail === undefined ? {} : { detail }),
  ...(validations === undefined ? {} : { validations })
})

/** The refusal that a failure is answered with. */
const refusalOf = (cause: Cause.Cause<Refused>): Refused =>
  Option.getOrElse(Cause.failureOption(cause), () => {
    const error = Cause.squash(cause)
    return new Refused({ status: 500, message: "The agent failed.", detail: error instanceof Error ? error.message : String(error) })
  })

/** Refuses a request for another protocol, which has no response. */
const refuseUpgrade = (socket: Duplex, refusal: Refused): void => {
  const body = JSON.stringify(bodyOf(refusal))
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ""}`,
    "connection: close",
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`
  ]
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`)
}

/** Runs what a route does with a WebSocket, and closes it. */
const attend = (socket: WebSocket, handle: (socket: WebSocket) => Effect.Effect<void>): Effect.Effect<void> => {
  const closed = Effect.async<void>((resume) => void socket.once("close", () => resume(Effect.void)))
  return Effect.raceFirst(handle(socket), closed).pipe(
    Effect.onExit((exit) => Effect.sync(() => socket.close(Exit.isSuccess(exit) ? 1000 : 1011)))
  )
}

/** Serves routes. The server that opens the streams has authorized each request. */
export const make = (served: ReadonlyArray<Served>): Effect.Effect<Machine> =>
  Effect.map(Effect.runtime(), (runtime) => {
    const routes = served.flatMap((one) => one.routes)
    const sockets = served.flatMap((one) => one.sockets)
    const fork = Runtime.runFork(runtime)

    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      const address = addressOf(request)
      const match = address && found(routes, address, request.method)
      if (address === undefined || match === undefined) return send(response, noRoute.status, bodyOf(noRoute))
      const { parameters, route } = match
      const handling = route.handle({ request, response, parameters, query: address.query }).pipe(
        Effect.scoped,
        Effect.catchAllCause((cause) =>
          Effect.sync(() => {
            const refusal = refusalOf(cause)
            if (response.headersSent) response.destroy()
            else send(response, refusal.status, bodyOf(refusal))
          })
        )
      )
      const fiber = fork(handling)
      // A client that goes away ends what it has asked for
      response.once("close", () => void fork(Fiber.interruptFork(fiber)))
    }

    const upgrades = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false, maxPayload: maximumMessage })

    const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
      socket.on("error", () => undefined)
      const address = addressOf(request)
      const match = address && found(sockets, address, undefined)
      if (address === undefined || match === undefined) return refuseUpgrade(socket, noRoute)
      const { parameters, route } = match
      const opened = Effect.async<WebSocket>((resume) =>
        upgrades.handleUpgrade(request, socket, head, (webSocket) => {
          webSocket.on("error", () => undefined)
          resume(Effect.succeed(webSocket))
        })
      )
      let isOpen = false
      const handling = route.open({ request, parameters, query: address.query }).pipe(
        Effect.flatMap((handle) =>
          Effect.flatMap(opened, (webSocket) => {
            isOpen = true
            return attend(webSocket, handle)
          })
        ),
        Effect.scoped,
        // A WebSocket is told by its close code
        Effect.catchAllCause((cause) => Effect.sync(() => (isOpen ? undefined : refuseUpgrade(socket, refusalOf(cause)))))
      )
      const fiber = fork(handling)
      socket.once("close", () => void fork(Fiber.interruptFork(fiber)))
    }

    // Uploads and commands take as long as they take
    const server = createServer({ keepAliveTimeout, requestTimeout: 0, maxHeaderSize: maximumHead }, answer)
    server.on("upgrade", upgrade)

    return {
      serve: (stream) => serveStream(server, stream)
    }
  })
