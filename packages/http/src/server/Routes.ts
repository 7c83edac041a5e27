/** Which methods a path has, for requests that no endpoint answers. */
import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import { Uuid } from "@atelier/core/platform"
import { Context, Option } from "effect"
import { AlsoAt, TrailingSlash } from "../contract/annotations.js"
import { isUuid, propertiesOf } from "./normalize.js"

/** How paths are matched: exactly as they are written. */
export const routerConfig = {
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  caseSensitive: true,
  /** Characters of one path parameter. */
  maxParamLength: 1024
} as const

export interface Routes {
  /** Whether a path is one of the interface's, whichever method it has: everything below `/api/` and `/scim/`, and each endpoint. */
  readonly isOwn: (path: string) => boolean
  /** The methods that a path answers to, sorted; empty where there is no such path. */
  readonly methodsOf: (path: string) => ReadonlyArray<string>
  /** Whether a path works with a slash behind it too: as the endpoint of the method says, or any where the method has none. */
  readonly allowsSlash: (method: string, path: string) => boolean
  /** Whether a path lies in a sub-tree that is served as a whole. */
  readonly isInSubtree: (path: string) => boolean
  /** The path of the route that answers, with names in braces for its parameters; undefined without one. */
  readonly patternOf: (method: string, path: string) => string | undefined
}

export interface Route {
  readonly method: string
  readonly path: `/${string}`
  readonly trailingSlash: boolean
  /** The parameters of the path that are ids, and nothing else; none if absent. */
  readonly ids?: () => ReadonlyArray<string>
}

/** The paths that an endpoint answers at. */
export const pathsOf = ({ annotations, path }: Pick<HttpApiEndpoint.HttpApiEndpoint.AnyWithProps, "annotations" | "path">) => {
  const other = Context.get(annotations, AlsoAt)
  return other === undefined ? [path] : [path, other]
}

/** The routes of an API. `HttpApi.reflect` would look into every schema, which paths and methods do not need. */
export const routesOf = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
): ReadonlyArray<Route> => {
  const groups: ReadonlyArray<HttpApiGroup.HttpApiGroup.AnyWithProps> = Object.values(api.groups as Record<string, never>)
  return groups.flatMap((group) =>
    Object.values(group.endpoints).flatMap(({ annotations, method, path, pathSchema }) => {
      const ids = () =>
        [...(Option.isSome(pathSchema) ? (propertiesOf(pathSchema.value.ast)?.values() ?? []) : [])]
          .filter(({ type }) => type._tag !== "Union" && isUuid(type))
          .map(({ name }) => name)
      const trailingSlash = Context.get(Context.merge(api.annotations, Context.merge(group.annotations, annotations)), TrailingSlash)
      return pathsOf({ annotations, path }).map((path) => ({ method, path, trailingSlash, ids }))
    })
  )
}

/** A path as the router takes it, which would see a query begin at other characters than the question mark too. */
export const routable = (path: string): string => path.replaceAll(";", "%3B").replaceAll("#", "%23")

/** The router is made when it is first asked, which is about requests that few clients send. */
export const makeRoutes = (routes: ReadonlyArray<Route>): Routes => {
  const methods = [...new Set(routes.map(({ method }) => method))].toSorted()
  let router: HttpLayerRouter.FindMyWay.Router<Route> | undefined
  const make = (): HttpLayerRouter.FindMyWay.Router<Route> => {
    const made = HttpLayerRouter.FindMyWay.make<Route>(routerConfig)
    for (const route of routes) made.on(route.method, route.path, route)
    return made
  }
  const find = (method: string, path: string): Route | undefined => (router ??= make()).find(method, routable(path))?.handler
  /** Whether a path has an id wherever the route of a method wants one. */
  const hasIds = (method: string, path: string): boolean => {
    const found = (router ??= make()).find(method, routable(path))
    return (found?.handler.ids?.() ?? []).every((name) => Uuid.isUuid(found?.params[name] ?? ""))
  }
  const methodsOf = (path: string): ReadonlyArray<string> => {
    const found = methods.filter((method) => find(method, path) !== undefined)
    // /templates/examples is a path of its own, and not one of a template: the methods of templates would never answer it
    const answering = found.filter((method) => hasIds(method, path))
    return answering.length > 0 ? answering : found
  }
  const patterns = new Map<string, string>()
  const patternOf = (path: string): string => {
    const known = patterns.get(path)
    if (known !== undefined) return known
    const pattern = path.replace(/:([^/]+)/g, "{$1}")
    patterns.set(path, pattern)
    return pattern
  }
  return {
    isOwn: (path) => /^\/(api\/(v2|experimental)|scim\/v2)(\/|$)/.test(path) || methodsOf(path).length > 0,
    methodsOf,
    // A name may be the parameter of one endpoint and a word of another: /users/{user}, /users/login
    allowsSlash: (method, path) => find(method, path)?.trailingSlash ?? methods.some((other) => find(other, path)?.trailingSlash === true),
    isInSubtree: (path) => methods.some((method) => find(method, path)?.path.endsWith("*") === true),
    patternOf: (method, path) => {
      const route = find(method, path)
      return route === undefined ? undefined : patternOf(route.path)
    }
  }
}
