/** How requests come in: by a listener of a Node server, or as the request of the fiber that runs the interface. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { doneWith, type Forbidden, type Unauthenticated } from "@atelier/core/platform"
import { Context, Effect, Exit, Option, type Scope } from "effect"
import type { KnownHead, KnownHeads } from "../request/KnownHead.js"
import type { NodeRequest } from "../connection/NodeRequest.js"
import { PeerAddress } from "../connection/PeerAddress.js"
import { RequestServices } from "../connection/RequestServices.js"
import { type AppPath, noApp } from "../request/appPath.js"
import type { Visit } from "../request/Visit.js"
import type { DirectOutlet } from "./appAnswer.js"
import type { AppServing } from "./AppServer.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse
type App = Effect.Effect<Response, never, Request | Scope.Scope>

/** A request that comes in. */
export interface Arrival {
  readonly request: Request
  /** The address at the other end of the connection. */
  readonly peer: string
  /** The app that the request is for. */
  readonly named: AppPath | typeof noApp | undefined
  /** The visitor whose request a workspace proxy passes on, or why the proxy may not; undefined for other requests. */
  readonly visiting: Exit.Exit<Visit, Unauthenticated | Forbidden> | undefined
  /** Those of the fiber that answers the request. */
  readonly services: RequestServices
  /** No fiber has begun yet, and none is needed for a request that can be answered at once. */
  readonly isDirect: boolean
}

/** Answers a request, without a fiber if it needs none; false for requests that are begun by one, and then nothing has begun. */
export type Direct = (request: NodeRequest, outlet: DirectOutlet) => boolean

/** Calls a function that may throw, which is a defect. */
export const attempt = (make: () => App): App => {
  try {
    return make()
  } catch (defect) {
    return Effect.die(defect)
  }
}

/** `directByApp` answers a request to an app, or begins nothing. It is told the head that is known of an earlier request to the same app. */
export const entrances = (
  apps: AppServing | undefined,
  heads: KnownHeads,
  begin: (arrival: Arrival) => App,
  directByApp: (request: NodeRequest, peer: string, app: AppPath, known: KnownHead | undefined, outlet: DirectOutlet) => boolean
) => {
  const direct: Direct = (request, outlet) => {
    if (apps?.visitOf(request) !== undefined) return false
    const known = heads.of(request.source)
    const same = known?.appAt(request.url)
    const peer = known?.peer ?? request.source.socket.remoteAddress ?? ""
    const named = same ?? apps?.appOf(request, peer)
    if (named !== undefined && named !== noApp) {
      if (directByApp(request, peer, named, same === undefined ? undefined : known, outlet)) return true
    }
    const services = new RequestServices().set(HttpServerRequest.HttpServerRequest.key, request)
    const answer = attempt(() => begin({ request, peer, named, visiting: undefined, services, isDirect: true }))
    const response = doneWith(answer)
    if (response === undefined || !outlet.send(request, response)) outlet.run(request, answer, services)
    return true
  }

  const application: App = Effect.withFiberRuntime(({ currentContext }) => {
    const request = Context.unsafeGet(currentContext, HttpServerRequest.HttpServerRequest)
    const { unsafeMap: given } = currentContext
    const services = given instanceof RequestServices ? given : new RequestServices(given)
    const peer = Option.getOrElse(request.remoteAddress, () => Context.get(currentContext, PeerAddress))
    const arrival = { request, peer, services, isDirect: false }
    const visit = apps?.visitOf(request)
    return visit === undefined
      ? begin({ ...arrival, named: apps?.appOf(request, peer), visiting: undefined })
      : Effect.flatMap(Effect.exit(visit), (visiting) =>
          begin({ ...arrival, named: Exit.isSuccess(visiting) ? visiting.value.named : undefined, visiting })
        )
  })

  return { application, direct }
}
