/** What answers requests to the apps of workspaces: the pipeline hands them over without looking for a route. agents-and-apps.md §19. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { Actor, StreamRight } from "@atelier/core/access"
import type { Forbidden, Unauthenticated } from "@atelier/core/platform"
import type { AppTarget } from "@atelier/core/workspaces"
import { Context, type Effect, type Scope } from "effect"
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
  /** The cookies that give the browser a token for the app it may open. */
  readonly cookies: ReadonlyArray<string>
}

export interface AppServing {
  /** The app that a request is for, by its host or its path. `peer` is the address at the other end of the connection. */
  readonly appOf: (request: Request, peer: string) => AppPath | typeof noApp | undefined
  /** The visit that a workspace proxy passes on; undefined for other requests. Fails unless the proxy's token is valid. */
  readonly visitOf: (head: Head) => Effect.Effect<Visit, Unauthenticated | Forbidden> | undefined
  /** The page of a host below the wildcard that names no app; one host leads to the service, where the user signs out. */
  readonly noApp: (request: Request) => Effect.Effect<Response>
  /**
   * The name of a request whose admission may be kept, which is that of equal requests. Undefined for a request whose checks are listed, and
   * for one whose name is too long to be remembered.
   */
  readonly keyOf: (request: Request, info: RequestInfo, app: AppPath) => string | undefined
  /** The admission of an equal request of a moment ago, which still holds. */
  readonly find: (key: string) => Admission | undefined
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
}

/** Serves the apps of workspaces; undefined where none are served. */
export class AppServer extends Context.Reference<AppServer>()("@atelier/http/AppServer", {
  defaultValue: (): AppServing | undefined => undefined
}) {}
