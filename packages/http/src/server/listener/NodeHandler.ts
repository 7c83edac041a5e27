/**
 * Runs an application for each request of a Node server: one fiber with one map of services, and one write for an answer that is a text or bytes,
 * together with those of other requests.
 * `NodeHttpServer.makeHandler` takes twice the time of what else a small request needs; docs/decisions.md.
 */
import * as Cookies from "@effect/platform/Cookies"
import * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerError from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Cause, Context, Effect, Exit, type Fiber, Runtime, RuntimeFlags, Scope, Stream } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Readable } from "node:stream"
import { flat } from "@atelier/core/platform"
import * as Endings from "./Endings.js"
import type { HttpApplication } from "../pipeline/HttpApplication.js"
import type { DirectOutlet } from "../pipeline/appAnswer.js"
import type { Direct } from "../pipeline/entrances.js"
import { givesBack, LentBody } from "../connection/LentBody.js"
import { LiveBody, liveBodyOf, type Outlet } from "../connection/LiveBody.js"
import { NodeRequest } from "../connection/NodeRequest.js"
import { RequestServices } from "../connection/RequestServices.js"

type Response = HttpServerResponse.HttpServerResponse

/** The headers as Node sends them, with a line for each cookie. */
const headersOf = ({ cookies, headers }: Response): Record<string, string | Array<string>> => {
  if (Cookies.isEmpty(cookies)) return headers
  const own = headers["set-cookie"]
  return { ...headers, "set-cookie": [...Cookies.toSetCookieHeaders(cookies), ...(own === undefined ? [] : [own].flat())] }
}

/** Cut, so that the client sees that the answer is not whole. */
const cut = (target: ServerResponse) => Effect.sync(() => target.destroy())

/** Sends the head, and returns how parts are written: no faster than the client reads them. */
const begin = (target: ServerResponse): ((parts: Iterable<Uint8Array>) => Effect.Effect<void>) => {
  const drained = Effect.unsafeMakeLatch(true)
  target.on("drain", () => drained.unsafeOpen())
  // A client learns that its stream is open before there is anything to send; the head goes with bytes that are there at once
  setImmediate(() => target.flushHeaders())
  return (parts) => {
    let isFull = false
    for (const part of parts) isFull = !target.write(part)
    if (!isFull) return Effect.void
    drained.unsafeClose()
    return drained.await
  }
}

const sendStream = (target: ServerResponse, body: Stream.Stream<Uint8Array, unknown>): Effect.Effect<void> =>
  body.pipe(
    Stream.runForEachChunk(begin(target)),
    Effect.interruptible,
    Effect.matchCauseEffect({ onSuccess: () => Effect.sync(() => target.end()), onFailure: () => cut(target) })
  )

/** Sends the head of a response that goes on. Node keeps the head as the dozens of parts that were joined. */
const sendHead = (target: ServerResponse): void => {
  target.flushHeaders()
  const head: unknown = Reflect.get(target, "_header")
  if (typeof head === "string") flat(head)
}

/** Where a live body writes. It is no closure: each open stream of events has one. */
class ResponseOutlet implements Outlet {
  constructor(private readonly target: ServerResponse) {}

  write(part: Uint8Array, done: () => void): void {
    if (this.target.write(part)) done()
    else this.target.once("drain", done)
  }

  offer(part: Uint8Array): void {
    if (!this.target.writableNeedDrain) this.target.write(part)
  }

  end(last: Uint8Array | undefined): void {
    this.target.end(last)
  }

  fail(): void {
    this.target.destroy()
  }
}

/** A request that is answered. */
interface Running {
  /** There until the answer has begun. A body may go on for hours, which would keep the fiber and its services. */
  fiber: Fiber.RuntimeFiber<unknown, unknown> | undefined
  /** Ends a body that goes on without the fiber. */
  stop: (() => void) | undefined
}

/** Begins a body that goes on without the request's fiber. Returns what to call when the client has gone. */
const beginLive = (target: ServerResponse, { begin }: LiveBody): (() => void) | undefined => {
  // The client has gone: it would not go again
  if (target.destroyed) return undefined
  setImmediate(() => sendHead(target))
  return begin(new ResponseOutlet(target))
}

/** Waits until a body that goes on without the request's fiber has ended, or its client has gone: the request's span ends then. */
const liveBodyEnds = (target: ServerResponse, response: Response): Effect.Effect<void> =>
  liveBodyOf(response) === undefined || target.closed
    ? Effect.void
    : Effect.async<void>((resume) => void target.once("close", () => resume(Effect.void)))

/** Sends what a source has, no faster than the client reads it. `pipeline` of Node does the same with a tenth of a small request's cost. */
const sendReadable = (target: ServerResponse, source: Readable): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    const over = (): void => resume(Effect.void)
    const whenSent = source instanceof LentBody ? givesBack(target) : () => undefined
    let hasBegun = false
    source.on("data", (part: Uint8Array) => {
      hasBegun = true
      if (!target.write(part, whenSent(part))) source.pause()
    })
    source.once("end", () => void target.end())
    // The end of the connection follows, and is what counts
    source.on("error", () => undefined)
    source.once("close", () => void (source.readableEnded || target.destroy()))
    target.on("drain", () => void source.resume())
    target.once("finish", over).once("close", over)
    setImmediate(() => void (hasBegun || target.writableEnded || target.flushHeaders()))
    if (source.destroyed) target.destroy()
    return Effect.sync(() => void source.destroy())
  })

/** Sends an answer. A response that fails on its way has been logged by what made it. */
const send = (
  method: string,
  target: ServerResponse,
  response: Response,
  endLater: Endings.End,
  running: Running | undefined
): Effect.Effect<void> => {
  if (target.writableEnded) return Effect.void
  target.writeHead(response.status, headersOf(response))
  const { body, headers } = response
  // What follows a refused head may be no HTTP, which Node would answer by itself
  const end: Endings.End = headers["connection"] === undefined ? endLater : (target, rest) => void target.end(rest)
  if (method === "HEAD" || body._tag === "Empty") end(target)
  else if (body._tag === "Uint8Array") end(target, body.body)
  else if (body._tag === "Stream") return sendStream(target, body.stream)
  else if (body._tag === "Raw" && body.body instanceof Readable) {
    return Effect.interruptible(sendReadable(target, body.body))
  } else if (body._tag === "Raw" && body.body instanceof LiveBody && running !== undefined) running.stop = beginLive(target, body.body)
  else if (body._tag === "Raw") end(target, body.body)
  else return Effect.dieMessage("no route answers a form")
  return Effect.void
}

/** What is left of a request that nothing answered: a defect, or the end of the server or the client. */
const abandon = (target: ServerResponse, cause: Cause.Cause<never>): Effect.Effect<never> =>
  Effect.zipRight(
    Effect.sync(() => {
      if (target.headersSent) target.destroy()
      else target.writeHead(Cause.isInterruptedOnly(cause) ? 503 : 500, { "content-length": "0" }).end()
    }),
    Effect.failCause(cause)
  )

/** A listener of a Node server's `request` event. With `tracing`, requests become spans, which the library makes. */
export const make = (
  application: HttpApplication,
  runtime: Runtime.Runtime<never>,
  { direct, tracing }: { readonly direct?: Direct; readonly tracing: boolean }
): ((source: IncomingMessage, target: ServerResponse) => void) => {
  // Every request's fiber begins uninterruptible: an endpoint says which of its work ends when the client goes
  const runtimeFlags = RuntimeFlags.disable(runtime.runtimeFlags, RuntimeFlags.Interruption)
  const endLater = Endings.make((error) => void Runtime.runFork(runtime)(Effect.logError("an answer failed at its end", error)))
  const lean = (
    application: HttpApplication,
    { method, response: target }: NodeRequest,
    services: Map<string, unknown>,
    running: Running
  ) => {
    const sent = Effect.flatMap(application, (response) => send(method, target, response, endLater, running))
    return Effect.flatMap(Scope.make(), (scope) => {
      services.set(Scope.Scope.key, scope)
      return Effect.matchCauseEffect(sent, {
        onFailure: (cause) =>
          Effect.flatMap(Effect.exit(abandon(target, cause)), (exit) => Effect.zipRight(Scope.close(scope, exit), exit)),
        onSuccess: () => Scope.close(scope, Exit.void)
      })
    })
  }
  const run = (
    request: NodeRequest,
    application: HttpApplication,
    services = new RequestServices().set(HttpServerRequest.HttpServerRequest.key, request)
  ): void => {
    const { method, response: target } = request
    const running: Running = { fiber: undefined, stop: undefined }
    const handled = tracing
      ? HttpApp.toHandled(application, (_, response) =>
          Effect.zipRight(send(method, target, response, endLater, running), liveBodyEnds(target, response))
        )
      : lean(application, request, services, running)
    // A runtime of its own gives the fiber its services without another copy of them
    const own = Runtime.make<HttpServerRequest.HttpServerRequest | Scope.Scope>({
      ...runtime,
      runtimeFlags,
      context: Context.unsafeMake(services)
    })
    const fiber = Runtime.runFork(own)(handled)
    running.fiber = fiber
    target.on("close", () => {
      running.stop?.()
      if (!target.writableEnded) running.fiber?.unsafeInterruptAsFork(HttpServerError.clientAbortFiberId)
    })
    fiber.addObserver(() => {
      running.fiber = undefined
    })
  }
  const outlet: DirectOutlet = {
    end: endLater,
    run,
    send: (request, response) => {
      const { body } = response
      if (body._tag !== "Empty" && body._tag !== "Uint8Array" && !(body._tag === "Raw" && typeof body.body === "string")) return false
      try {
        // What such a body needs is done by now
        send(request.method, request.response, response, endLater, undefined)
      } catch (defect) {
        // A host may have replaced what it calls
        run(request, Effect.die(defect))
      }
      return true
    }
  }
  return (source, target) => {
    const request = new NodeRequest(source, target)
    // Spans are made of fibers
    if (tracing || direct?.(request, outlet) !== true) run(request, application)
  }
}
