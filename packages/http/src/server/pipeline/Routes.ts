/** The paths of the interface, and what answers them. */
import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import { Uuid } from "@atelier/core/platform"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Context, type Effect, Option, type Scope } from "effect"
import type { RequestInfo } from "../request/CurrentRequest.js"
import { AlsoAt, TrailingSlash } from "../../contract/annotations.js"
import {
  AgentAuthenticated,
  Authenticated,
  Caller,
  OptionallyAuthenticated,
  UserOrAgentAuthenticated
} from "../../contract/authentication.js"
import type { Route } from "../../contract/Route.js"
import { isUuid, propertiesOf } from "../codec/normalize.js"
import { callersOf } from "./callers.js"

/** How paths are matched: exactly as they are written. */
export const routerConfig = {
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  caseSensitive: true,
  /** Characters of one path parameter. */
  maxParamLength: 1024
} as const

/** A request as its route answers it. */
export interface Call {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly info: RequestInfo
  readonly params: Readonly<Record<string, string | undefined>>
  readonly query: Readonly<Record<string, string | Array<string>>>
  /** The services that the answer runs with: the route adds those that it needs before it returns. */
  readonly services: Map<string, unknown>
}

export interface Answer {
  (call: Call): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest | Scope.Scope>
  /** Answers the call without an effect; undefined where that needs one, and then nothing has begun. May throw, which is a defect. */
  readonly now?: ((call: Call) => HttpServerResponse.HttpServerResponse | undefined) | undefined
}

/** The route of a request. */
export interface Match extends Pick<Call, "params" | "query"> {
  readonly route: Route
  /** The path and the query as they were matched. */
  readonly url: string
}

/** What answers each endpoint of a group. */
export interface Implementation<out Group extends string> {
  readonly group: Group
  readonly answers: ReadonlyArray<{ readonly method: string; readonly path: `/${string}`; readonly answer: Answer }>
}

export interface Routes {
  /** The route of a method and a path, which a query may follow; undefined without one. */
  readonly find: (method: string, url: string) => Match | undefined
  /** Whether a path is one of the interface's, whichever method it has: everything below `/api/` and `/scim/`, and each endpoint. */
  readonly isOwn: (path: string) => boolean
  /** The methods that a path answers to, sorted; empty where there is no such path. */
  readonly methodsOf: (path: string) => ReadonlyArray<string>
  /** Whether a path works with a slash behind it too: as the endpoint of the method says, or any where the method has none. */
  readonly allowsSlash: (method: string, path: string) => boolean
  /** Whose credential every endpoint in the part of the interface wants that a path lies in; undefined where they differ. */
  readonly callerAt: (path: string) => Route["caller"] | undefined
  /** Whether a path lies in a sub-tree that is served as a whole. */
  readonly isInSubtree: (path: string) => boolean
}

/** A path with names in braces for its parameters. */
export const patternOf = (path: string): string => path.replace(/:([^/]+)/g, "{$1}")

/** The paths that an endpoint answers at. */
export const pathsOf = ({ annotations, path }: Pick<HttpApiEndpoint.HttpApiEndpoint.AnyWithProps, "annotations" | "path">) => {
  const other = Context.get(annotations, AlsoAt)
  return other === undefined ? [path] : [path, other]
}

const callerOf = (middlewares: ReadonlyArray<HttpApiMiddleware.TagClassAny>): Route["caller"] => {
  const wants = ({ key }: { readonly key: string }) => middlewares.some((one) => one.key === key)
  if ([Authenticated, UserOrAgentAuthenticated, OptionallyAuthenticated].some(wants)) return "user"
  if (wants(AgentAuthenticated)) return "agent"
  return middlewares.some(({ provides }) => provides !== undefined && provides.key !== Caller.key) ? "other" : "public"
}

/** The routes of an API. `HttpApi.reflect` would look into every schema, which paths and methods do not need. */
export const routesOf = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
): ReadonlyArray<Route> => {
  const groups: ReadonlyArray<HttpApiGroup.HttpApiGroup.AnyWithProps> = Object.values(api.groups as Record<string, never>)
  return groups.flatMap((group) =>
    Object.values(group.endpoints).flatMap(({ annotations, method, middlewares, path, pathSchema }) => {
      const ids = [...(Option.isSome(pathSchema) ? (propertiesOf(pathSchema.value.ast)?.values() ?? []) : [])]
        .filter(({ type }) => type._tag !== "Union" && isUuid(type))
        .map(({ name }) => name)
      const trailingSlash = Context.get(Context.merge(api.annotations, Context.merge(group.annotations, annotations)), TrailingSlash)
      return pathsOf({ annotations, path }).map((path) => ({
        method,
        path,
        pattern: patternOf(path),
        trailingSlash,
        ids,
        caller: callerOf([...group.middlewares, ...middlewares]),
        group: group.identifier
      }))
    })
  )
}

/** A path as the router takes it, which would see a query begin at other characters than the question mark too. */
export const routable = (path: string): string => path.replaceAll(";", "%3B").replaceAll("#", "%23")

export const makeRoutes = (routes: ReadonlyArray<Route>): Routes => {
  const methods = [...new Set(routes.map(({ method }) => method))].toSorted()
  const routers = new Map<string, ReturnType<typeof HttpLayerRouter.FindMyWay.make<Route>>>()
  /** The router of one method. Made with its first request: adding all paths takes a start 10 milliseconds. */
  const routerOf = (method: string) => {
    const known = routers.get(method)
    if (known !== undefined || !methods.includes(method)) return known
    const router = HttpLayerRouter.FindMyWay.make<Route>(routerConfig)
    for (const route of routes) if (route.method === method) router.on(method, route.path, route)
    routers.set(method, router)
    return router
  }
  /** The routes without parameters, which a router prefers to others too. The first request after a start needs none of the routers so. */
  const plainRoutes = new Map(routes.filter(({ path }) => !/[:*]/.test(path)).map((route) => [`${route.method} ${route.path}`, route]))
  const find = (method: string, path: string): Route | undefined => routerOf(method)?.find(method, routable(path))?.handler
  /** Whether a path has an id wherever the route of a method wants one. */
  const hasIds = (method: string, path: string): boolean => {
    const found = routerOf(method)?.find(method, routable(path))
    return (found?.handler.ids ?? []).every((name) => Uuid.isUuid(found?.params[name] ?? ""))
  }
  const methodsOf = (path: string): ReadonlyArray<string> => {
    const found = methods.filter((method) => find(method, path) !== undefined)
    // /templates/examples is a path of its own, and not one of a template: the methods of templates would never answer it
    const answering = found.filter((method) => hasIds(method, path))
    return answering.length > 0 ? answering : found
  }
  return {
    find: (method, url) => {
      const plain = plainRoutes.get(`${method} ${url}`)
      if (plain !== undefined) return { route: plain, url, params: {}, query: {} }
      const found = routerOf(method)?.find(method, url)
      return found === undefined ? undefined : { route: found.handler, url, params: found.params, query: found.searchParams }
    },
    isOwn: (path) => /^\/(api\/(v2|experimental)|scim\/v2)(\/|$)/.test(path) || methodsOf(path).length > 0,
    methodsOf,
    // A name may be the parameter of one endpoint and a word of another: /users/{user}, /users/login
    allowsSlash: (method, path) => find(method, path)?.trailingSlash ?? methods.some((other) => find(other, path)?.trailingSlash === true),
    callerAt: callersOf(routes),
    isInSubtree: (path) => methods.some((method) => find(method, path)?.path.endsWith("*") === true)
  }
}
