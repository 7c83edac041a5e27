/** What answers requests to the apps of workspaces: the pipeline hands them over without looking for a route. agents-and-apps.md §19. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { Actor, StreamRight } from "@atelier/core/access"
import type { Forbidden, Unauthenticated } from "@atelier/core/platform"
import type { AppTarget } from "@atelier/core/workspaces"
import { Context, type Effect, type Scope } from "effect"
import type { ServerResponse } from "node:http"
import type { KnownHead } from "../request/KnownHead.js"
import type { NodeRequest } from "../connection/NodeRequest.js"
import type { AppPath, noApp } from "../request/appPath.js"
import type { RequestInfo } from "../request/CurrentRequest.js"
import type { Head, Visit } from "../request/Visit.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Who asks for an app, and where the request goes. */
export interface Admission {
  /** The user of the request, or why its credential was refused. */
  readonly user: RequestInfo["user"]
  readonly actor: Actor
  readonly right: StreamRight
  readonly target: AppTarget
  /** The target's address. */
  readonly url: URL
  /** The same for requests that may share a connection. */
  readonly place: string
  /** The cookies that give the browser a token for the app it may open. */
  readonly cookies: ReadonlyArray<string>
}

/** A request to an app that its caller may open. */
export interface Admitted {
  readonly request: NodeRequest
  readonly info: RequestInfo
  readonly peer: string
  readonly app: AppPath
  readonly admission: Admission
  /** The head of the request, where it is kept for the next one. */
  readonly known: KnownHead | undefined
}

/** How else a request ends that is passed on without an effect. One of them is called, once, and not after the head of an answer. */
export interface Outcomes {
  /** Ends the client's response, whose head is written, with the rest of its body. */
  readonly end: (response: ServerResponse, body: Uint8Array | undefined) => void
  /** The request has to go by an effect. */
  readonly again: () => void
  /** The app could not be reached, or gave no answer of HTTP. */
  readonly failed: (error: { readonly message: string }) => void
  /** The right to the app, or the service, ended. */
  readonly interrupted: () => void
}

/** Passes requests on without an effect. */
export interface Passing {
  /** Whether the request is one of those. Nothing of it has begun. */
  readonly mayPass: (request: NodeRequest, app: AppPath, admission: Admission) => boolean
  /** Passes the request on. The app's answer goes to the client's response. */
  readonly pass: (admitted: Admitted, outcomes: Outcomes) => void
}

export interface AppServing extends Passing {
  /** The app that a request is for, by its host or its path. `peer` is the address at the other end of the connection. */
  readonly appOf: (request: Pick<Request, "headers" | "url">, peer: string) => AppPath | typeof noApp | undefined
  /** The visit that a workspace proxy passes on; undefined for other requests. Fails unless the proxy's token is valid. */
  readonly visitOf: (head: Head) => Effect.Effect<Visit, Unauthenticated | Forbidden> | undefined
  /** The page of a host below the wildcard that names no app; one host leads to the service, where the user signs out. */
  readonly noApp: (request: Request) => Effect.Effect<Response>
  /**
   * The name of a request whose admission may be kept, which is that of equal requests. Undefined for a request whose checks are listed, and
   * for one whose name is too long to be remembered.
   */
  readonly keyOf: (request: Request, info: RequestInfo, app: AppPath) => string | undefined
  /** The admission of an equal request of a moment ago, which still holds. Near its end one caller gets none, and should judge. */
  readonly find: (key: string) => Admission | undefined
  /** The same, which leaves it to another caller to judge near the end. */
  readonly holds: (key: string) => Admission | undefined
  /** Begins a request, and keeps its admission. */
  readonly begin: (key: string) => (admission: Admission) => void
  /** Answers a request to an app. `finish` completes answers that are not the app's. Without an admission it judges, and gives `keep` its own. */
  readonly serve: (
    request: Request,
    info: RequestInfo,
    peer: string,
    app: AppPath,
    finish: (response: Response) => Response,
    kept: Admission | undefined,
    keep: ((admission: Admission) => void) | undefined
  ) => Effect.Effect<Response, never, Scope.Scope>
  /** The answer in place of an app that failed. */
  readonly failure: (error: { readonly message: string }) => Effect.Effect<Response>
}

/** Serves the apps of workspaces; undefined where none are served. */
export class AppServer extends Context.Reference<AppServer>()("@atelier/http/AppServer", {
  defaultValue: (): AppServing | undefined => undefined
}) {}
