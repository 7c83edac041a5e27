/** Apps as paths and hosts of the service name them. agents-and-apps.md §19. */
import { withQuery } from "../codec/withQuery.js"
import { type AppAddress, bareHost, parseAppLabel, wildcardLabel } from "@atelier/core/workspaces"

export interface AppPath {
  readonly address: AppAddress
  /** What the host's name begins with before the app's; empty without it. */
  readonly prefix: string
  /** The app's own path, as the client encoded it; empty where even the slash is missing. */
  readonly path: string
  /** The path below which the app is served, as the client encoded it, with a slash at its end. */
  readonly base: string
  /** Without the question mark. */
  readonly query: string
}

const pattern = /^\/(?:@|%40)([^/?]+)\/([^/?]+)\/apps\/([^/?]+)(\/[^?]*)?(?:\?(.*))?$/s

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Reads the path of an app, which may begin with the mount's prefix; undefined for another path. */
export const parseAppPath = (url: string, basePath: string): AppPath | undefined => {
  const isBelow = basePath !== "" && url.startsWith(`${basePath}/`)
  const local = isBelow ? url.slice(basePath.length) : url
  const [, rawUser = "", rawPlace = "", rawSlug = "", path = "", query = ""] = pattern.exec(local) ?? []
  const user = decoded(rawUser)
  const place = decoded(rawPlace)
  const slug = decoded(rawSlug)
  if (!user || !place || !slug) return undefined
  const mark = place.indexOf(".")
  const workspace = mark < 0 ? place : place.slice(0, mark)
  const agent = mark < 0 ? "" : place.slice(mark + 1)
  const end = url.length - path.length - (url.includes("?") ? query.length + 1 : 0)
  return {
    address: { access_method: "path", user, workspace, agent, slug_or_port: slug },
    prefix: "",
    path,
    base: `${url.slice(0, end)}/`,
    query
  }
}

/** A host below the wildcard that names no app. */
export const noApp = Symbol.for("@atelier/http/noApp")

/**
 * Reads the host of an app and the target of the request; `noApp` for another host below the wildcard, and undefined for hosts that are not
 * below it.
 */
export const appHosts = (pattern: string, accessUrl: string) => {
  const ownHost = bareHost(new URL(accessUrl).host)
  return (host: string, url: string): AppPath | typeof noApp | undefined => {
    // Relays' clients may name no host
    if (host === "" && pattern !== "" && !url.startsWith("/derp")) return noApp
    const label = bareHost(host) === ownHost ? undefined : wildcardLabel(pattern, host)
    if (label === undefined) return undefined
    const named = parseAppLabel(label)
    if (named === undefined) return noApp
    const { prefix, ...name } = named
    const mark = url.indexOf("?")
    const path = mark < 0 ? url : url.slice(0, mark)
    return {
      address: { access_method: "subdomain", ...name },
      prefix,
      // The absolute form of a request's target (RFC 9112 §3.2.2) names the host again
      path: path.startsWith("/") ? path : "/",
      base: "/",
      query: mark < 0 ? "" : url.slice(mark + 1)
    }
  }
}

/** The target of a request for an app, as the client sees it. */
export const requestTarget = ({ base, path, query }: AppPath): string =>
  withQuery(path === "" ? base.slice(0, -1) : `${base}${path.replace(/^\//, "")}`, query)
