import type { Actor, CallInfo, Recording } from "@atelier/core/access"
import { type Forbidden, type Unauthenticated, Uuid } from "@atelier/core/platform"
import { Context, Effect, type Either } from "effect"
import type { Visit } from "./Visit.js"
import type { Counted } from "../operate/RequestMetrics.js"

/** Counters of one limiter as its headers show them. */
export interface Quota {
  readonly limit: number
  readonly remaining: number
  /** The end of the running window, in seconds since 1970. */
  readonly reset: number
}

/** The state of a request before its handler runs, and the data that its response carries. */
export interface RequestInfo {
  readonly id: Uuid.Uuid
  /** The client's address, with trusted proxies looked through; empty when the host does not know it. */
  readonly ip: string
  readonly userAgent: string
  /** The workspace proxy that passes the request on; undefined for a client of the service itself. */
  readonly visit: Visit | undefined
  /** The path in our own space, as it is routed. */
  readonly path: string
  /** The first credential that the request carries. */
  readonly credential: string | undefined
  /** The user that the credential authenticates, or why it does not; undefined without a credential. */
  user: Either.Either<Actor, Unauthenticated | Forbidden> | undefined
  /** Of the last limiter that the request came to. */
  quota: Quota | undefined
  /** No limiter counts the request. */
  unlimited: boolean
  /** The token against forged forms that the response sets, where the browser has none. */
  csrfToken: string | undefined
  /** Whether the answer is the same for all callers, so that caches may share it. */
  shared: boolean
  /** Why the authentication of the route refused the request. */
  refused: Unauthenticated | Forbidden | undefined
  /** The permission checks that the response lists; undefined where the deployment lists none. */
  readonly checks: Recording | undefined
  /** The parameters of the path, by name; none before the request has a route. */
  params: Readonly<Record<string, string | undefined>>
  /** Whether the request has a route. */
  routed: boolean
  /** Whether the path, the query or the body does not have the form that the endpoint wants. */
  malformed: boolean
  /** How the request is counted in metrics. */
  counted: Counted | undefined
}

/** The request that is being answered. */
export class CurrentRequest extends Context.Reference<CurrentRequest>()("@atelier/http/CurrentRequest", {
  defaultValue: (): RequestInfo => ({
    id: Uuid.nil,
    ip: "",
    userAgent: "",
    visit: undefined,
    path: "/",
    credential: undefined,
    user: undefined,
    quota: undefined,
    unlimited: false,
    csrfToken: undefined,
    shared: false,
    refused: undefined,
    checks: undefined,
    params: {},
    routed: false,
    malformed: false,
    counted: undefined
  })
}) {}

/** The details of a call to an endpoint without a session. */
export const callInfo: Effect.Effect<CallInfo> = Effect.map(CurrentRequest, ({ id, ip, userAgent }) => ({ ip, userAgent, requestId: id }))
