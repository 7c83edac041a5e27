/** A request's target as it is routed. identity.md §1.1 no. 4, §1.5. */
import { StartError } from "@atelier/core/platform"

export interface Target {
  /** The path without the mount's prefix, with one slash where there were several, and with no character encoded that needs not be. */
  readonly path: string
  /** The text after the question mark; empty without one. */
  readonly query: string
}

/**
 * Splits URLs. A path below the mount's prefix loses it; any other is taken as it is, from hosts that remove the prefix. `isOwn` decides where a
 * path could be either: the interface's own paths may begin like the prefix.
 */
export const targetReader = (basePath: string, isOwn: (path: string) => boolean): ((url: string) => Target) => {
  const within = (path: string): string => {
    if (basePath === "" || !path.startsWith(basePath)) return path
    if (path.length > basePath.length && path.charCodeAt(basePath.length) !== 0x2f) return path
    const rest = path.slice(basePath.length) || "/"
    return !isOwn(rest) && isOwn(path) ? path : rest
  }
  return (url) => {
    const mark = url.indexOf("?")
    const path = mark < 0 ? url : url.slice(0, mark)
    // The absolute form of a request's target (RFC 9112 §3.2.2)
    const local = path.charCodeAt(0) === 0x2f ? path : (/^https?:\/\/[^/]*(\/.*)?$/i.exec(path)?.[1] ?? "/")
    return { path: within(canonical(local)), query: mark < 0 ? "" : url.slice(mark + 1) }
  }
}

/** The prefix of a mount as paths are compared with it, without a slash at its end. Throws `StartError` for what is not a path. */
export const parseBasePath = (basePath: string): string => {
  if (!/^(\/[^?#]*)?$/.test(basePath))
    throw new StartError({ option: "basePath", value: basePath, reason: "must be a path that begins with a slash" })
  return canonical(new URL(`http://localhost${basePath}`).pathname).replace(/\/$/, "")
}

/** The path with one slash where there were several, and with no character encoded that needs not be. */
const canonical = (path: string): string => {
  // In a path with a broken encoding, decoding could form a new escape
  const decoded = path.includes("%") && isWellEncoded(path) ? path.replace(/%([2-7][0-9a-f])/gi, unreserved) : path
  return decoded.includes("//") ? decoded.replace(/\/{2,}/g, "/") : decoded
}

/**
 * Encoded or not, these characters mean the same (RFC 3986 §2.3), to the router too: what is decided by a path must see the one it
 * sees.
 */
const unreserved = (encoded: string, hex: string): string => {
  const character = String.fromCharCode(Number.parseInt(hex, 16))
  return /[\w.~-]/.test(character) ? character : encoded
}

/** Whether every percent-encoding of a path stands for UTF-8 text. */
export const isWellEncoded = (path: string): boolean => {
  if (!path.includes("%")) return true
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/** The first non-empty value of a parameter; the query is searched only where it names it. */
export const queryValue = (query: string, names: ReadonlyArray<string>): string | undefined => {
  if (!names.some((name) => query.includes(name))) return undefined
  const parameters = new URLSearchParams(query)
  for (const name of names) {
    const value = parameters.get(name)
    if (value) return value
  }
  return undefined
}
