import {
  type Etag,
  type FileSystem,
  type HttpApi,
  type HttpApiGroup,
  HttpLayerRouter,
  type HttpPlatform,
  type HttpServerRequest,
  type HttpServerResponse,
  type Path
} from "@effect/platform"
import { Context, Effect, Layer, type Scope } from "effect"
import { apiIn, Wire } from "../dialect.js"
import { make as makePipeline } from "./Pipeline.js"
import { makeRoutes, type Route, routerConfig, routesOf } from "./Routes.js"
import { parseTarget } from "./Target.js"

/** Answers one request, whatever it is. */
export type HttpApplication = Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest | Scope.Scope>

/** A page or document beside the API. */
export interface Page {
  readonly method: "GET"
  readonly path: `/${string}`
  readonly handler: HttpApplication
}

/** The interface as an application: an API whose groups are implemented, some pages, and what happens to every request. */
export const make = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R, LE, LR>(
  api: HttpApi.HttpApi<Id, Groups, E, R>,
  groups: Layer.Layer<HttpApiGroup.HttpApiGroup.ToService<Id, Groups>, LE, LR>,
  pages: ReadonlyArray<Page> = []
) =>
  Effect.gen(function* () {
    const wire = yield* Wire
    const routes = makeRoutes(allRoutes(api, pages))
    const pipeline = yield* makePipeline(routes)
    const context = yield* Effect.context<
      | LR
      | R
      | HttpApiGroup.HttpApiGroup.ErrorContext<Groups>
      | Etag.Generator
      | FileSystem.FileSystem
      | HttpPlatform.HttpPlatform
      | Path.Path
    >()
    const layer = Layer.mergeAll(
      HttpLayerRouter.addHttpApi(apiIn(wire, api)).pipe(Layer.provide(groups)),
      ...pages.map(({ handler, method, path }) => HttpLayerRouter.add(method, path, handler))
    ).pipe(
      Layer.provideMerge(HttpLayerRouter.layer),
      Layer.provide(Layer.succeed(HttpLayerRouter.RouterConfig, routerConfig)),
      Layer.provide(Layer.succeedContext(context))
    )
    // A memo map of its own: the library keeps the routes of all groups built with one in the same place
    const built = yield* Layer.buildWithMemoMap(layer, yield* Layer.makeMemoMap, yield* Effect.scope)
    return pipeline(Context.get(built, HttpLayerRouter.HttpRouter).asHttpEffect())
  })

/** Whether a URL's path is one of the interface's, whichever method it has: everything below `/api/`, and each endpoint. */
export const owns = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>,
  basePath: string,
  pages: ReadonlyArray<Page> = []
): ((url: string) => boolean) => {
  const routes = makeRoutes(allRoutes(api, pages))
  return (url) => {
    const target = parseTarget(url, basePath)
    if (target === undefined) return false
    return /^\/api\/(v2|experimental)(\/|$)/.test(target.path) || routes.methodsOf(target.path).length > 0
  }
}

const allRoutes = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>,
  pages: ReadonlyArray<Page>
): ReadonlyArray<Route> => [...routesOf(api), ...pages.map(({ method, path }) => ({ method, path, trailingSlash: false }))]
