/**
 * Requests that the embedding program makes for a user, in the same process. The mark is on an object that no request from outside has, so nothing that
 * is sent can stand for it.
 */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { IncomingMessage } from "node:http"

/** The users, by the request of a fetch-style host or by the connection. */
const callers = new WeakMap<object, string>()

/** Marks a request, or all requests of a connection, as those of a user, by username or id. */
export const trustCaller = (source: object, user: string): void => void callers.set(source, user)

/** The user for whom the embedding program makes a request; undefined for all others. */
export const trustedCallerOf = ({ source }: Pick<HttpServerRequest.HttpServerRequest, "source">): string | undefined =>
  typeof source === "object" && source !== null ? callers.get(source instanceof IncomingMessage ? source.socket : source) : undefined
