/** What passes between a client and an app: neither the service's credentials, nor what only concerns one connection. agents-and-apps.md §19. */
import { parseCredential } from "@atelier/core/identity"
import type { Names } from "../wire/Brand.js"
import { forwardingHeaders } from "../server/request/ClientAddress.js"
import { sessionHeadersOf, sessionQueriesOf } from "../server/credentials/Credential.js"
import { cookieName as csrfCookie } from "../server/credentials/Csrf.js"
import { loginCookieTexts } from "../server/credentials/loginCookies.js"

/** Headers of one connection (RFC 9110 §7.6.1). */
const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
])

/**
 * Headers by which an app that shares the service's host would decide about all of the host. By `NEL` and `Report-To`, a browser would tell the app's author the address of each
 * request to the service.
 */
const hostWide = new Set([
  "accept-ch",
  "alt-svc",
  "clear-site-data",
  "nel",
  "report-to",
  "service-worker-allowed",
  "set-login",
  "strict-transport-security"
])

type Lines = ReadonlyArray<readonly [name: string, value: string]>

/** The lines of a message's head as Node has them. */
export const linesOf = (raw: ReadonlyArray<string>): Lines => {
  const lines: Array<readonly [name: string, value: string]> = []
  for (let at = 0; at + 1 < raw.length; at += 2) lines.push([raw[at] ?? "", raw[at + 1] ?? ""])
  return lines
}

/** Headers that frame and route a message. A sender that names them in `Connection` would have the next server read the body as a request. */
const endToEnd: ReadonlySet<string> = new Set(["content-length", "host"])

const none: ReadonlySet<string> = new Set()

/** The headers that `Connection` names, in lower case. */
const namedByConnection = (lines: Lines): ReadonlySet<string> => {
  let named: Set<string> | undefined
  for (const [name, value] of lines) {
    if (name.length !== 10 || name.toLowerCase() !== "connection") continue
    named ??= new Set()
    for (const option of value.split(",")) named.add(option.trim().toLowerCase())
  }
  return named ?? none
}

/** Whether a header, in lower case, of a message with this head concerns its connection alone. */
export const isOfConnection = (lines: Lines): ((name: string) => boolean) => {
  const named = namedByConnection(lines)
  return (name) => hopByHop.has(name) || (named.has(name) && !endToEnd.has(name))
}

/** The names of cookies that only the service reads, whether or not browsers bind them to the host. */
export const isServiceCookie = (names: Names) => {
  const exact = new Set([
    names.sessionCookie,
    names.conversionCookie,
    names.pathAppCookie,
    names.signedAppCookie,
    csrfCookie,
    ...loginCookieTexts
  ])
  return (name: string): boolean => {
    const plain = name.trim().replace(/^__(?:Host|Secure)-/i, "")
    return exact.has(plain) || plain.startsWith(names.subdomainAppCookie)
  }
}

/** A credential in `Authorization`, as the service reads it. */
const authorized = /^(?:bearer|dpop)\s+(.*)$/i

/** Whether a header of a request has a credential of the service. */
const isOurCredential = (value: string): boolean => parseCredential(authorized.exec(value)?.[1]?.trim() ?? "") !== undefined

export interface Forwarding {
  /** The client's address, host and scheme. */
  readonly ip: string
  readonly host: string
  readonly protocol: string
  /** Whether the peer's word for whom it acts is believed. */
  readonly isTrusted: boolean
}

/** Makes the head of the request to an app from the client's. */
export const requestHeaders = (names: Names) => {
  const credentialHeaders = new Set([
    ...sessionHeadersOf({ names }),
    names.provisionerKeyHeader.toLowerCase(),
    names.provisionerPskHeader.toLowerCase(),
    names.setupTokenHeader.toLowerCase(),
    names.proxyTokenHeader.toLowerCase(),
    names.proxyHostHeader.toLowerCase(),
    names.proxyClientHeader.toLowerCase()
  ])
  const isOurs = isServiceCookie(names)
  const cookies = (value: string): string =>
    value
      .split(";")
      .filter((cookie) => !isOurs(cookie.split("=", 1)[0] ?? ""))
      .join(";")
      .trim()

  return (raw: ReadonlyArray<string>, { host, ip, isTrusted, protocol }: Forwarding): Array<string> => {
    const lines = linesOf(raw)
    const isOurConnection = isOfConnection(lines)
    const isOurToken = lines.some(([name, value]) => name.toLowerCase() === "authorization" && isOurCredential(value))
    const kept: Array<string> = []
    for (const [name, value] of lines) {
      const lower = name.toLowerCase()
      // The sender of the request frames its body
      if (isOurConnection(lower) || credentialHeaders.has(lower) || lower === "expect" || lower === "content-length") continue
      if (lower === "x-forwarded-for" || lower === "x-forwarded-host" || lower === "x-forwarded-proto") continue
      if (forwardingHeaders.has(lower) && !isTrusted) continue
      // A proof of possession belongs to the token that is sent with it (RFC 9449 §7.1)
      if (isOurToken && (lower === "authorization" || lower === "dpop")) continue
      const left = lower === "cookie" ? cookies(value) : value
      if (lower !== "cookie" || left !== "") kept.push(name, left)
    }
    kept.push("X-Forwarded-For", ip, "X-Forwarded-Host", host, "X-Forwarded-Proto", protocol)
    return kept
  }
}

/** The values of every cookie of a name, in their order. */
export const cookiesOf = (header: string | undefined, name: string): ReadonlyArray<string> =>
  (header ?? "").split(";").flatMap((cookie) => {
    const mark = cookie.indexOf("=")
    return cookie.slice(0, mark).trim() === name ? [cookie.slice(mark + 1).trim()] : []
  })

/** A query without the parameters that carry a credential of the service. */
export const withoutCredentials = (names: Names) => {
  const ours = new Set(sessionQueriesOf({ names }))
  const decoded = (text: string): string => new URLSearchParams(`${text}=`).keys().next().value ?? ""
  return (query: string): string =>
    query === ""
      ? query
      : query
          .split("&")
          .filter((parameter) => {
            const mark = parameter.indexOf("=")
            const name = decoded(mark < 0 ? parameter : parameter.slice(0, mark))
            if (name === "access_token") return parseCredential(new URLSearchParams(parameter).get(name) ?? "") === undefined
            return !ours.has(name)
          })
          .join("&")
}

/** Where an app may set cookies: on its own host, or below its own path of the service's host. */
export type Scope = { readonly _tag: "Host" } | { readonly _tag: "Path"; readonly base: string }

/** A path as a cookie's attribute: a semicolon would end it, and begin another attribute. */
export const cookiePath = (path: string): string => path.replaceAll(";", "%3B")

/** A cookie as the app may set it; undefined for one of the service's names. */
const confined = (cookie: string, scope: Scope, isOurs: (name: string) => boolean): string | undefined => {
  const [pair = "", ...attributes] = cookie.split(";")
  // Browsers send a cookie without a name as its value alone, which begins with the name that is read
  const name = pair.replace(/^[=\s]+/, "").split("=", 1)[0] ?? ""
  if (isOurs(name) || (scope._tag === "Path" && /^\s*__host-/i.test(name))) return undefined
  const others = attributes.filter((attribute) => !/^\s*domain\s*=/i.test(attribute))
  if (scope._tag === "Host") return [pair, ...others].join(";")
  const path = others
    .findLast((attribute) => /^\s*path\s*=/i.test(attribute))
    ?.replace(/^\s*path\s*=\s*/i, "")
    .trim()
  const base = cookiePath(scope.base)
  const below = path?.startsWith(base) === true && !path.includes("/..") ? path : base
  return [pair, ...others.filter((attribute) => !/^\s*path\s*(=|$)/i.test(attribute)), ` Path=${below}`].join(";")
}

/** Makes the head of the answer to a client from the app's. Headers with several texts are lists. */
export const responseHeaders = (names: Names) => {
  const isOurs = isServiceCookie(names)
  return (raw: ReadonlyArray<string>, scope: Scope): Record<string, string | Array<string>> => {
    const lines = linesOf(raw)
    const isOurConnection = isOfConnection(lines)
    // An app may name its headers like properties of objects
    const headers: Record<string, string | Array<string>> = Object.create(null)
    for (const [name, given] of lines) {
      const lower = name.toLowerCase()
      if (isOurConnection(lower) || (scope._tag === "Path" && hostWide.has(lower))) continue
      const value = lower === "set-cookie" ? confined(given, scope, isOurs) : given
      if (value === undefined) continue
      const before = headers[lower]
      headers[lower] =
        before === undefined ? (lower === "set-cookie" ? [value] : value) : [...(Array.isArray(before) ? before : [before]), value]
    }
    return headers
  }
}
