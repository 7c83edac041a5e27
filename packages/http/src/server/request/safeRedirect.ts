/** Characters of a place to go on at. */
const maximumLength = 2048

/**
 * Where a browser goes on after a login, as a path of this service: whichever scheme and host a text names are dropped, and what is no
 * path is the root. identity.md §7.1 no. 7.
 */
export const safeRedirect = (text: string): string => {
  if (text.length > maximumLength) return "/"
  // As browsers do: control characters are not there, and a backslash is a slash
  const cleaned = text.replace(/[\p{Cc} ]+/gu, "").replaceAll("\\", "/")
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(cleaned)?.[0]
  if (scheme !== undefined && !cleaned.startsWith("//", scheme.length)) return "/"
  const path = scheme === undefined ? cleaned : cleaned.slice(scheme.length).replace(/^\/+[^/?#]*/, "")
  const rooted = path.startsWith("?") || path.startsWith("#") ? `/${path}` : `/${path.replace(/^\/+/, "")}`
  const { hash, pathname, search } = new URL(rooted, "http://host.invalid")
  // Removed dot segments may leave slashes at the beginning again
  return `${pathname.replace(/^\/+/, "/")}${search}${hash}`
}
