import * as Headers from "@effect/platform/Headers"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Context, Effect, type Scope } from "effect"
import type { IncomingMessage } from "node:http"
import { AppServer, type AppServing } from "./AppServer.js"
import { kept } from "./kept.js"
import { loaded } from "./loaded.js"
import type { Direct } from "./entrances.js"
import { make as makePipeline } from "./Pipeline.js"
import { parseAppPath } from "../request/appPath.js"
import type { Unavailable } from "../../wire/errors.js"
import { type Answer, type Implementation, makeRoutes, patternOf, type Routes } from "./Routes.js"
import type { Route } from "../../contract/Route.js"
import { Settings } from "../request/Settings.js"
import { targetReader } from "../request/Target.js"
import { nothing, type Unrouted } from "./Unrouted.js"

/** Answers one request, whatever it is. */
export type HttpApplication = Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest | Scope.Scope>

/** A page, document or protocol's route beside the API. */
export interface Page {
  readonly method: "DELETE" | "GET" | "POST" | "PUT"
  readonly path: `/${string}`
  readonly handler: HttpApplication
  /** Hosts have pages at such paths too: outside of the mount's prefix the path is theirs. */
  readonly isCommon?: boolean
}

/** An interface that answers, and which paths are its own. */
export interface Made {
  readonly application: HttpApplication
  readonly direct: Direct
  /**
   * Whether a request is for the interface: by its path, with the mount's prefix or without it, or by its host, if that is an app's. `originalUrl` has
   * the prefix where the program that embeds the service has removed it from the URL.
   */
  readonly owns: (request: IncomingMessage, originalUrl?: string) => boolean
}

/** Where each group of endpoints is implemented. */
export type Implementations<Group extends string> = {
  readonly [Name in Group]: () => Promise<Effect.Effect<Implementation<Name>, never, unknown>>
}

/** The services that implementations need. */
type Needed<Groups extends Implementations<string>> = Effect.Effect.Context<Awaited<ReturnType<Groups[keyof Groups]>>>

/**
 * The interface as an application: endpoints whose groups are implemented, some pages, and what happens to every request.
 *
 * A group's implementation is loaded at the first request to one of its endpoints: the schemas of all endpoints took a third of a start, and
 * a deployment never asks for many of them. `unrouted` answers at paths that no route has.
 */
export const make = <const Groups extends Implementations<string>>(
  endpoints: ReadonlyArray<Route>,
  groups: Groups,
  pages: ReadonlyArray<Page> = [],
  unrouted: Unrouted = nothing
) =>
  Effect.gen(function* () {
    const services = yield* Effect.context<Needed<Groups>>()
    const answers = new Map<string, Answer>(
      // A client that goes ends what it has asked for
      pages.map(({ handler, method, path }) => [keyOf({ method, path }), () => Effect.interruptible(handler)])
    )
    const implement = (load: Implementations<string>[string]) =>
      kept(
        Effect.gen(function* () {
          const implementation = yield* loaded(load)
          // Without the services of the request, which would be kept
          const made = yield* Effect.mapInputContext<Implementation<string>, never, unknown, never>(
            implementation,
            () => services as Context.Context<unknown>
          )
          for (const { answer, method, path } of made.answers) answers.set(keyOf({ method, path }), answer)
        })
      )
    const implemented = new Map<string, Effect.Effect<void, Unavailable>>()
    for (const [group, load] of Object.entries(groups)) implemented.set(group, yield* implement(load))
    const answerOf = (route: Route): Answer | Effect.Effect<Answer, Unavailable> =>
      answers.get(keyOf(route)) ??
      Effect.flatMap(implemented.get(route.group ?? "") ?? Effect.void, () => {
        const answer = answers.get(keyOf(route))
        return answer === undefined ? Effect.dieMessage(`nothing answers ${keyOf(route)}`) : Effect.succeed(answer)
      })
    const { basePath } = yield* Settings
    const routes = makeRoutes([...endpoints, ...pages.map(routeOf)])
    const { application, direct } = yield* makePipeline(routes, answerOf, unrouted)
    return { application, direct, owns: ownerOf(routes, basePath, pages, unrouted, yield* AppServer) } satisfies Made
  })

const routeOf = ({ method, path }: Page): Route => ({
  method,
  path,
  pattern: patternOf(path),
  trailingSlash: false,
  ids: [],
  caller: "public",
  group: undefined
})

const keyOf = ({ method, path }: Pick<Route, "method" | "path">): string => `${method} ${path}`

/** An application for use within other effects, whose services stay as they are. What answers nothing but requests needs it not. */
export const isolated = (application: HttpApplication): HttpApplication =>
  Effect.mapInputContext(application, ({ unsafeMap }: Context.Context<HttpServerRequest.HttpServerRequest | Scope.Scope>) =>
    // The request's steps add to the map of an outer request's fiber otherwise
    Context.unsafeMake<HttpServerRequest.HttpServerRequest | Scope.Scope>(new Map(unsafeMap))
  )

const ownerOf = (
  routes: Routes,
  basePath: string,
  pages: ReadonlyArray<Page>,
  unrouted: Unrouted,
  apps: AppServing | undefined
): Made["owns"] => {
  const targetOf = targetReader(basePath, routes.isOwn)
  const common = new Set<string>(pages.filter(({ isCommon }) => isCommon === true).map(({ path }) => path))
  const isBelow = (url: string): boolean => url === basePath || url.startsWith(`${basePath}/`) || url.startsWith(`${basePath}?`)
  return (request, originalUrl) => {
    const { headers, socket, url = "/" } = request
    if (parseAppPath(url, basePath) !== undefined) return true
    // A request that names no host is for no app
    if (headers.host && apps?.appOf({ headers: Headers.fromInput(headers), url }, socket.remoteAddress ?? "") !== undefined) return true
    const { path } = targetOf(url)
    const isCommon = common.has(path) || !routes.isOwn(path)
    return (routes.isOwn(path) || unrouted.owns(path)) && (!isCommon || basePath === "" || isBelow(originalUrl ?? url))
  }
}
