import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import { Context, Duration, Effect, Option, Runtime, type Scope } from "effect"
import { type IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import * as Admission from "./Admission.js"
import { Draining } from "../operate/Draining.js"
import type { HttpApplication } from "../pipeline/HttpApplication.js"
import type { Direct } from "../pipeline/entrances.js"
import * as NodeHandler from "./NodeHandler.js"
import { endFailed, sharing, type UpgradeHandler } from "./otherListeners.js"
import { PeerAddress } from "../connection/PeerAddress.js"
import { responseOn } from "../connection/responseOn.js"
import * as UnderWay from "./UnderWay.js"
import * as Upgrades from "../connection/Upgrades.js"
import * as WebHandler from "./WebHandler.js"

/** Listener of a Node server's `request` event, or middleware of an Express-like host. */
export type Handler = (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => void

export interface Listener {
  readonly handler: Handler
  readonly upgrade: UpgradeHandler
  /** `remoteAddress` is the client's, where the host knows it. WebSockets are refused. */
  readonly fetch: (request: Request, info?: { readonly remoteAddress?: string }) => Promise<Response>
  /**
   * Takes the service out of rotation before it ends: `/readyz` answers 503, and every other request is answered as before, with
   * `Connection: close`. Resolves after the grace time, in which proxies turn to other replicas; at once if no client is connected and none has ever asked
   * for readiness. A process that another one replaces at the same address stays ready: its clients are served by others with their next connection.
   */
  readonly drain: (grace: Duration.DurationInput, options?: { readonly isReplaced?: boolean }) => Promise<void>
}

/** The URL before a framework removed a prefix from it. */
const originalUrlOf = (request: IncomingMessage & { readonly originalUrl?: unknown }): string | undefined =>
  typeof request.originalUrl === "string" ? request.originalUrl : undefined

export interface Options {
  /** Answers requests without an effect, where it can. */
  readonly direct?: Direct
  /** Whether a request is for the service; the others go to the host. */
  readonly owns: (request: IncomingMessage, originalUrl?: string) => boolean
  /** Whether requests become spans of the tracer in force. */
  readonly tracing: boolean
  /** How long requests may take to end when the scope closes. */
  readonly drainTimeout: Duration.DurationInput
  /** How long a client may go on with a body after its request is answered; default 5 seconds. */
  readonly lingerTimeout?: Duration.DurationInput
}

/** How long a client may leave a response unread, in milliseconds, and how often that is looked at. */
const stallTimeout = 60_000
const stallInterval = 5_000

/** The responses under way. Connections end whose clients do not read their responses, which would be kept for them in memory. */
const watched = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const responses = UnderWay.make()
      const timer = setInterval(() => responses.endStalled(stallTimeout), stallInterval)
      timer.unref()
      return { responses, timer }
    }),
    ({ timer }) => Effect.sync(() => clearInterval(timer))
  ),
  ({ responses }) => responses
)

/** The connections of agents, which come back all at once. */
const ofAgent = /\/workspaceagents\/me\/rpc(?:\?|$)/

/** Seconds after which another process may answer in place of one that ends. */
const afterRestart = 5

/** Begins a request unless its client has ended the connection while it waited: a client that is gone is not authenticated. */
const unlessEnded = (socket: Duplex, begin: () => void): void => {
  if (socket.readableEnded) socket.destroy()
  if (socket.writable) begin()
}

/** Answers a request for another protocol without anything that costs time. */
const refuseUpgrade = (socket: Duplex, retryAfter: number): void => {
  const fields = `Connection: close\r\nRetry-After: ${retryAfter}\r\nContent-Length: 0`
  socket.end(`HTTP/1.1 503 Service Unavailable\r\n${fields}\r\n\r\n`, () => socket.destroy())
}

/** Ends the connection of a request whose body is unread, after a time: Node reads the rest, however slowly it arrives. */
const linger = (request: IncomingMessage, lingerTimeout: number): void => {
  if (request.complete || request.destroyed || request.socket.destroyed) return
  const timer = setTimeout(() => request.socket.destroy(), lingerTimeout)
  request.once("end", () => clearTimeout(timer)).once("close", () => clearTimeout(timer))
}

/**
 * Connects an application to what Node and fetch-style hosts call. When the scope closes, new requests are refused and those that
 * run are waited for. `quiet` completes when no request runs.
 */
export const make = (
  application: HttpApplication,
  options: Options
): Effect.Effect<Listener & { readonly quiet: Effect.Effect<void> }, never, Scope.Scope | Draining> =>
  Effect.gen(function* () {
    const isQuiet = yield* Effect.makeLatch(true)
    let running = 0
    let draining = false
    const begin = (): void => {
      if (running++ === 0) isQuiet.unsafeClose()
    }
    const end = (): void => {
      if (--running === 0) isQuiet.unsafeOpen()
    }
    const { begin: beginDraining, isWatched, leave } = yield* Draining
    let isLeaving = false
    /** Connections with at least one request so far. */
    const connections = new Set<Duplex>()
    let hasUnseen = false
    // One listener for all connections
    const forget = function (this: Duplex): void {
      connections.delete(this)
    }
    const connected = (socket: Duplex): void => {
      if (connections.has(socket) || socket.destroyed) return
      connections.add(socket)
      socket.on("close", forget)
    }
    const runtime = yield* Effect.runtime<never>()
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        draining = true
        // Finalizers are uninterruptible, and so would be the wait that the timeout is to end
        const waited = Effect.timeoutOption(Effect.interruptible(isQuiet.await), options.drainTimeout)
        const givenUp = Effect.suspend(() => Effect.logWarning(`${running} requests and sockets did not end in time, and were given up`))
        const drained =
          running === 0 ? Effect.void : Effect.flatMap(waited, Option.match({ onNone: () => givenUp, onSome: () => Effect.void }))
        return Effect.zipRight(beginDraining, drained)
      })
    )
    const underWay = yield* watched

    // The listeners' runtime holds no service: each request would copy them all
    const { listener, web } = yield* Effect.runtime<never>().pipe(
      Effect.map((runtime) => ({
        listener: NodeHandler.make(application, runtime, options),
        web: WebHandler.make(application, runtime)
      })),
      Effect.mapInputContext<never, never>(() => Context.empty()),
      Effect.withTracerEnabled(options.tracing),
      Effect.locally(HttpMiddleware.currentTracerDisabledWhen, () => !options.tracing)
    )

    const lingerTimeout = Duration.toMillis(options.lingerTimeout ?? "5 seconds")
    const serve = (request: IncomingMessage, response: ServerResponse, isUpgrade: boolean): void => {
      // The client went while the host held its request back: the response would never close
      if (response.closed || request.socket.destroyed) return
      begin()
      connected(request.socket)
      underWay.add(request.socket, response, isUpgrade, () => {
        end()
        linger(request, lingerTimeout)
      })
      if (isLeaving) response.shouldKeepAlive = false
      listener(request, response)
    }
    const enter = Admission.make()
    const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
      // Node hands the connection over at once, also where clients have not waited for the responses before
      const before = responseOn(socket)
      if (before !== undefined) return void before.once("close", () => socket.writable && upgrade(request, socket, head))
      if (draining) {
        refuseUpgrade(socket, afterRestart)
        return
      }
      // Answered like any other request unless its endpoint takes the connection up
      const response = new ServerResponse(request)
      response.shouldKeepAlive = false
      // Node's types ask for a network socket here and give a stream above; it is the same object
      response.assignSocket(socket as Socket)
      // Node no longer reads the connection, so it would not learn that the client has gone
      response.once("finish", () => socket.end(() => socket.destroy()))
      const taken = (): (() => void) => {
        underWay.leave(socket, response)
        return end
      }
      Upgrades.offer(request, { socket, head, response, taken })
      serve(request, response, true)
    }
    return {
      quiet: isQuiet.await,
      handler: (request, response, next) => {
        if (next !== undefined && !options.owns(request, originalUrlOf(request))) return next()
        if (draining) {
          response.writeHead(503, { connection: "close" }).end()
          return
        }
        serve(request, response, false)
      },
      upgrade: sharing(options.owns, (request, socket, head) => {
        endFailed(socket)
        enter(ofAgent.test(request.url ?? "/") ? "agents" : "others", {
          begin: () => unlessEnded(socket, () => upgrade(request, socket, head)),
          refuse: (retryAfter) => {
            const before = responseOn(socket)
            if (before === undefined) refuseUpgrade(socket, retryAfter)
            else before.once("close", () => void (socket.writable && refuseUpgrade(socket, retryAfter)))
          }
        })
      }),
      drain: (grace, { isReplaced = false } = {}) => {
        isLeaving = true
        underWay.forEach((response) => {
          response.shouldKeepAlive = false
        })
        const wait = Effect.flatMap(isWatched, (watched) =>
          (watched && !isReplaced) || hasUnseen || connections.size > 0 ? Effect.sleep(grace) : Effect.void
        )
        return Runtime.runPromise(runtime)(isReplaced ? wait : Effect.zipRight(leave, wait))
      },
      fetch: async (request, { remoteAddress = "" } = {}) => {
        if (draining)
          return Response.json({ message: "The service is restarting." }, { status: 503, headers: { "Retry-After": `${afterRestart}` } })
        begin()
        hasUnseen = true
        return web(request, Context.make(PeerAddress, remoteAddress), end)
      }
    }
  })
