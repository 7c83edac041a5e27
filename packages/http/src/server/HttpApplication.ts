import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type Context, Effect, Layer, type Scope } from "effect"
import { make as makePipeline } from "./Pipeline.js"
import { parseAppPath } from "../apps/appPath.js"
import { type Answer, Answers, makeRoutes, patternOf, type Route, type Routes, routesOf } from "./Routes.js"
import { Settings } from "./Settings.js"
import { targetReader } from "./Target.js"

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
  /**
   * Whether a URL's path is one of the interface's, with the mount's prefix or without it. `originalUrl` has the prefix where a host has removed it
   * from the URL.
   */
  readonly owns: (url: string, originalUrl?: string) => boolean
}

/**
 * The interface as an application: an API whose groups are implemented, some pages, and what happens to every request.
 */
export const make = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R, LE, LR>(
  api: HttpApi.HttpApi<Id, Groups, E, R>,
  groups: Layer.Layer<HttpApiGroup.HttpApiGroup.ToService<Id, Groups>, LE, LR | Answers>,
  pages: ReadonlyArray<Page> = []
) =>
  Effect.gen(function* () {
    const answers = new Map<string, Answer>(
      // A client that goes ends what it has asked for
      pages.map(({ handler, method, path }) => [keyOf({ method, path }), () => Effect.interruptible(handler)])
    )
    const register = Answers.of((method, path, answer) => Effect.sync(() => void answers.set(keyOf({ method, path }), answer)))
    yield* Layer.build(Layer.provide(groups, Layer.succeed(Answers, register)))
    const { basePath } = yield* Settings
    const routes = makeRoutes(allRoutes(api, pages))
    const application: HttpApplication = yield* makePipeline(routes, (route) => answers.get(keyOf(route)))
    return { application, owns: ownerOf(routes, basePath, pages) } satisfies Made
  })

const keyOf = ({ method, path }: Pick<Route, "method" | "path">): string => `${method} ${path}`

/** An application for use within other effects, whose services stay as they are. What answers nothing but requests needs it not. */
export const isolated = (application: HttpApplication): HttpApplication =>
  Effect.mapInputContext(application, (context: Context.Context<HttpServerRequest.HttpServerRequest | Scope.Scope>) => context)

const ownerOf = (routes: Routes, basePath: string, pages: ReadonlyArray<Page>): Made["owns"] => {
  const targetOf = targetReader(basePath, routes.isOwn)
  const common = new Set<string>(pages.filter(({ isCommon }) => isCommon === true).map(({ path }) => path))
  const isBelow = (url: string): boolean => url === basePath || url.startsWith(`${basePath}/`) || url.startsWith(`${basePath}?`)
  return (url, originalUrl = url) => {
    if (parseAppPath(url, basePath) !== undefined) return true
    const { path } = targetOf(url)
    return routes.isOwn(path) && (!common.has(path) || basePath === "" || isBelow(originalUrl))
  }
}

const allRoutes = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>,
  pages: ReadonlyArray<Page>
): ReadonlyArray<Route> => [
  ...routesOf(api),
  ...pages.map(({ method, path }) => ({ method, path, pattern: patternOf(path), trailingSlash: false }))
]
