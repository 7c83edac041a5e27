/** Which scripts of other origins may read what an app on a host of its own answers. agents-and-apps.md §19. */
import type { AppAddress } from "@atelier/core/workspaces"
import { preflightVary } from "../server/request/Cors.js"
import { type AppPath, noApp } from "../server/request/appPath.js"

type Head = Readonly<Record<string, string | undefined>>
type Headers = Record<string, string | Array<string>>

const methods: ReadonlySet<string> = new Set(["HEAD", "GET", "POST", "PUT", "PATCH", "DELETE"])

/** Whether a request asks for leave to send another one, as the CORS protocol has browsers do. */
export const isPreflight = (method: string, head: Head): boolean =>
  method === "OPTIONS" && head["origin"] !== undefined && head["access-control-request-method"] !== undefined

/** The origin of a request if it is the host of another app of the same user. */
export const friendlyOrigin = (
  appOf: (host: string, url: string) => AppPath | typeof noApp | undefined,
  { access_method, user }: AppAddress,
  { origin }: Head
): string | undefined => {
  if (access_method === "path" || origin === undefined || !URL.canParse(origin)) return undefined
  const { host, origin: canonical } = new URL(origin)
  // A text that is no origin, such as one with a path, is never echoed
  if (canonical !== origin || !/^https?:/.test(origin)) return undefined
  const app = appOf(host, "/")
  return app !== undefined && app !== noApp && app.address.user === user ? origin : undefined
}

/** The headers that a preflight is answered with; without leave, those by which caches keep answers apart. */
export const preflightHeaders = (origin: string | undefined, head: Head): Readonly<Record<string, string>> => {
  const method = head["access-control-request-method"] ?? ""
  if (origin === undefined || !methods.has(method)) return { vary: preflightVary }
  const asked = head["access-control-request-headers"]
  return {
    vary: preflightVary,
    "access-control-allow-origin": origin,
    "access-control-allow-credentials": "true",
    "access-control-allow-methods": method,
    ...(asked === undefined ? {} : { "access-control-allow-headers": asked })
  }
}

/** The headers of an app's answer with the service's word in place of the app's. */
export const withLeave = (headers: Headers, origin: string | undefined, isPath: boolean): Headers => {
  const kept: Headers = Object.create(null)
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && !name.startsWith("access-control-allow-")) kept[name] = value
  }
  if (isPath) return kept
  const leave: Headers = origin === undefined ? {} : { "access-control-allow-origin": origin, "access-control-allow-credentials": "true" }
  return { ...kept, ...leave, vary: withVary(kept["vary"], ["Origin"]) }
}

/** The headers by which caches keep an app's answers apart: those that the app names, and those that the service has read. */
export const withVary = (named: string | ReadonlyArray<string> | undefined, read: ReadonlyArray<string>): string => {
  if (named === undefined) return read.join(", ")
  const all = [...[named].flat().flatMap((list) => list.split(",")), ...read].map((name) => name.trim())
  return all.filter((name, at) => name !== "" && all.findIndex((other) => other.toLowerCase() === name.toLowerCase()) === at).join(", ")
}
