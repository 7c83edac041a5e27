/** A request's target as it is routed. identity.md §1.1 no. 4, §1.5. */

export interface Target {
  /** The path without the mount's prefix, with one slash where there were several, and with no character encoded that needs not be. */
  readonly path: string
  /** What follows the question mark; empty when there is none. */
  readonly query: string
}

/** Splits a request's URL; undefined when it lies outside of the prefix. */
export const parseTarget = (url: string, basePath: string): Target | undefined => {
  const mark = url.indexOf("?")
  let path = mark < 0 ? url : url.slice(0, mark)
  // The absolute form of a request's target (RFC 9112 §3.2.2)
  if (path.charCodeAt(0) !== 0x2f) path = /^https?:\/\/[^/]*(\/.*)?$/i.exec(path)?.[1] ?? "/"
  // In what is not well encoded, what is left of an encoding could become one
  if (path.includes("%") && isWellEncoded(path)) path = path.replace(/%([2-7][0-9a-f])/gi, unreserved)
  if (path.includes("//")) path = path.replace(/\/{2,}/g, "/")
  if (basePath !== "") {
    if (!path.startsWith(basePath) || (path.length > basePath.length && path.charCodeAt(basePath.length) !== 0x2f)) return undefined
    path = path.slice(basePath.length) || "/"
  }
  return { path, query: mark < 0 ? "" : url.slice(mark + 1) }
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
