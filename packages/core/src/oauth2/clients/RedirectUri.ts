/** The addresses that a browser may be sent back to. oauth2-provider.md §6. */
import type { ResponseMode } from "./OAuth2App.js"

export type ClientType = "public" | "confidential"

/** Characters of a redirect URI. */
const maximumLength = 2048

/** Schemes that run code, read files or are no place for a browser to go. */
const refusedSchemes = new Set(["javascript", "data", "vbscript", "blob", "file", "filesystem", "ftp", "about", "ws", "wss"])

/** Schemes that only start a program with an address, which nothing comes back from. */
const opaqueSchemes = new Set(["mailto", "tel", "sms"])

const outOfBand = "urn:ietf:wg:oauth:2.0:oob"

const isLoopback = (host: string): boolean => host === "localhost" || host === "127.0.0.1" || host === "[::1]"

/** The rule that a redirect URI breaks, or undefined. `anyHttpHost` lifts the rule that `http` needs a loopback host. */
export const redirectUriViolation = (text: string, type: ClientType, anyHttpHost = false): string | undefined => {
  if (text.length > maximumLength) return `must have at most ${maximumLength} characters`
  if (/[\s\p{Cc}\\]/u.test(text)) return "must not contain spaces, backslashes or control characters"
  if (text.includes("#")) return "must not have a fragment"
  if (text.includes("*")) return "must not contain wildcards"
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined || !URL.canParse(text)) return "must be an absolute URI"
  if (refusedSchemes.has(scheme)) return `must not have the scheme ${scheme}`
  if (scheme === "urn") return text === outOfBand ? undefined : `must be ${outOfBand} to have the scheme urn`
  if (opaqueSchemes.has(scheme)) return type === "confidential" ? undefined : `must not have the scheme ${scheme} at a public client`
  const { hostname, password, username } = new URL(text)
  if (username !== "" || password !== "") return "must not contain a user name or password"
  if (scheme !== "http" && scheme !== "https") {
    // Otherwise localhost:3000 would be a URI of the scheme "localhost"
    return text.startsWith("/", scheme.length + 1) ? undefined : "must have a slash behind the scheme"
  }
  if (!text.startsWith("//", scheme.length + 1) || hostname === "") return "must have a host"
  if (scheme === "https" || anyHttpHost || isLoopback(hostname)) return undefined
  return type === "confidential" && hostname.endsWith(".localhost") ? undefined : "must have the scheme https, or a loopback host"
}

/** A URI without the port where it is `http` on a loopback host: a native app cannot choose the port it listens on (RFC 8252 §7.3). */
const comparable = (text: string): string => {
  const url = new URL(text)
  if (url.protocol === "http:" && isLoopback(url.hostname)) url.port = ""
  return url.href
}

/** Whether a request's redirect URI is a registered one: equal in every part, except for the port of a loopback host. */
export const matchesRedirectUri = (registered: string, given: string): boolean =>
  redirectUriViolation(given, "confidential", true) === undefined &&
  URL.canParse(registered) &&
  comparable(registered) === comparable(given)

/** A redirect URI with parameters added to its query, or as its fragment. A registered URI has no fragment. */
export const withParameters = (
  uri: string,
  parameters: Readonly<Record<string, string | undefined>>,
  mode: ResponseMode = "query"
): string => {
  const added = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) added.append(name, value)
  if (mode === "fragment") return `${uri}#${added}`
  return `${uri}${uri.includes("?") ? (/[?&]$/.test(uri) ? "" : "&") : "?"}${added}`
}
