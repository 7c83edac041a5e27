/**
 * Requests that the embedding program makes for a user, in the same process. The mark is on an object that no request from outside has, so nothing that
 * is sent can stand for it.
 */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type { Actor } from "@atelier/core/access"
import { IncomingMessage } from "node:http"

/** A user, by username or id, or the actor of a request, whose credential narrows the requests that are made for it. */
export type TrustedCaller = string | Actor

/** The callers, by the request of a fetch-style host or by the connection. */
const callers = new WeakMap<object, TrustedCaller>()

/** Marks a request, or all requests of a connection, as those of a caller. */
export const trustCaller = (source: object, caller: TrustedCaller): void => void callers.set(source, caller)

/** The caller for whom the process itself makes a request; undefined for all others. */
export const trustedCallerOf = ({ source }: Pick<HttpServerRequest.HttpServerRequest, "source">): TrustedCaller | undefined =>
  typeof source === "object" && source !== null ? callers.get(source instanceof IncomingMessage ? source.socket : source) : undefined
