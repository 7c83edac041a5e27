import * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerError from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Context, Effect, Runtime, Stream } from "effect"
import type { HttpApplication } from "../pipeline/HttpApplication.js"
import { withoutLiveBody } from "../connection/LiveBody.js"
import { withStream } from "../connection/withStream.js"

/** Statuses whose responses have no body: the platform's `Response` refuses one. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304])

/** Answers one request of a fetch-style host; `end` is called when the response's body has ended too. */
export type WebHandler = (request: Request, services: Context.Context<never>, end: () => void) => Promise<Response>

/**
 * Connects an application to fetch-style hosts. The library's own `toWebHandlerRuntime` finds the host's promise at the request object, which
 * the pipeline replaces where it changes the URL.
 */
export const make = (application: HttpApplication, runtime: Runtime.Runtime<never>): WebHandler => {
  const run = Runtime.runFork(runtime)
  return (request, services, end) =>
    new Promise((resolve) => {
      let isAnswered = false
      // A host may drop an answer without reading its body
      let drop = (): void => undefined
      const answer = (given: HttpServerResponse.HttpServerResponse): void => {
        if (isAnswered) return
        const response = withoutLiveBody(given)
        const withoutBody = request.method === "HEAD" || bodiless.has(response.status)
        const hasStream = response.body._tag === "Stream" && !withoutBody
        let isEnded = false
        const endOnce = (): void => {
          if (!isEnded) end()
          isEnded = true
        }
        const sent = hasStream ? withStream(HttpApp.unsafeEjectStreamScope(response), Stream.ensuring(Effect.sync(endOnce))) : response
        drop = endOnce
        resolve(HttpServerResponse.toWeb(sent, { withoutBody, runtime }))
        isAnswered = true
        if (!hasStream) endOnce()
      }
      const handled = HttpApp.toHandled(application, (_, response) => Effect.sync(() => answer(response)))
      const fiber = run(
        Effect.provide(handled, Context.add(services, HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(request)))
      )
      fiber.addObserver(() => answer(HttpServerResponse.empty({ status: 500 })))
      const abort = (): void => {
        fiber.unsafeInterruptAsFork(HttpServerError.clientAbortFiberId)
        drop()
      }
      if (request.signal.aborted) abort()
      else request.signal.addEventListener("abort", abort, { once: true })
    })
}
