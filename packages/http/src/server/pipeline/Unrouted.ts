import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { Effect } from "effect"
import type { InternalError, StorageFull, Unavailable } from "../../wire/errors.js"
import type { RequestInfo } from "../request/CurrentRequest.js"

/** Why a request failed otherwise than its endpoint declares. */
export type Failure = InternalError | StorageFull | Unavailable

/** Answers requests for paths without a route, and those that fail. Paths are those of our own space, as they are routed. */
export interface Unrouted {
  /** Whether the path is the service's, and not the host's to answer. */
  readonly owns: (path: string) => boolean
  /** Answers a request for a file, whose answer is the same for every caller. Undefined for a path that has none. */
  readonly file: (
    request: HttpServerRequest.HttpServerRequest,
    path: string
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse> | undefined
  /** Whether the page depends on the user, so that the request is authenticated first. */
  readonly isPersonal: (path: string) => boolean
  /** What a browser sees; undefined where programs and browsers get the same. */
  readonly page:
    | ((
        request: HttpServerRequest.HttpServerRequest,
        info: RequestInfo,
        path: string
      ) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>)
    | undefined
  /** What a browser sees in place of a page that fails; undefined where it gets what programs get. */
  readonly failure: ((failure: Failure) => Effect.Effect<HttpServerResponse.HttpServerResponse>) | undefined
}

/** Leaves all such requests to their refusal. */
export const nothing: Unrouted = {
  owns: () => false,
  file: () => undefined,
  isPersonal: () => false,
  page: undefined,
  failure: undefined
}
