import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Invalid, NotAllowed, NotFound } from "@atelier/core/platform"
import { refuseAt } from "../codec/respond.js"
import { isWellEncoded, type Target } from "../request/Target.js"
import { type Match, routable, type Routes } from "./Routes.js"

type Response = HttpServerResponse.HttpServerResponse

const notFound = new NotFound({ message: "Route not found." })
const badPath = new Invalid({ message: "The path is not valid." })
const notAllowed = new NotAllowed({ message: "The path does not have this method." })

/** The answer to a request that workspace proxies may not pass on. */
export const refusePath = (path: string): Response => refuseAt(path, notFound)

/** Finds the route of a request; a response where it has none. */
export const routeFinder = (routes: Routes) => {
  const unrouted = (path: string): Response => {
    const methods = routes.methodsOf(path)
    if (methods.length === 0) return refuseAt(path, notFound)
    return HttpServerResponse.setHeaders(refuseAt(path, notAllowed), { allow: methods.join(", ") })
  }

  return (method: string, { path, query }: Target): Match | Response => {
    if (!isWellEncoded(path)) return refuseAt(path, badPath)
    const isSlashed = path.length > 1 && path.endsWith("/") && !routes.isInSubtree(path)
    const plainPath = isSlashed ? path.slice(0, -1) : path
    if (isSlashed && !routes.allowsSlash(method, plainPath)) return refuseAt(path, notFound)
    const url = routable(plainPath)
    return routes.find(method, query === "" ? url : `${url}?${query}`) ?? unrouted(plainPath)
  }
}
