/** The servers that an access token is meant for (RFC 8707). oauth2-provider.md §12 no. 4. */

/** Characters of one resource indicator, and how many a request may have. */
const maximumLength = 2048
export const maximumResources = 10

/** Whether a text can be a resource indicator (RFC 8707 §2): an absolute URI without a fragment. */
export const isResourceIndicator = (text: string): boolean => text.length <= maximumLength && !text.includes("#") && URL.canParse(text)

/**
 * The form in which resources are compared. Scheme and host are in lower case, the host in ASCII, the default port and one slash at the end
 * are left out. The query is kept.
 */
export const normalizedResource = (text: string): string => {
  const url = new URL(text)
  url.hash = ""
  return `${url.protocol}//${url.host}${url.pathname.replace(/\/$/, "")}${url.search}`
}

/** Whether a resource is this deployment, or a part of it that has a document of its own (RFC 9728 §3.1). */
export const isOwnResource = (text: string, accessUrl: string): boolean => {
  const own = normalizedResource(accessUrl)
  const normalized = normalizedResource(text)
  return normalized === own || normalized.startsWith(`${own}/`) || normalized.startsWith(`${own}?`)
}

/**
 * Whether a resource is this deployment, or the part of it that a path is in. `path` is below the access URL; without one, only the whole
 * deployment counts. A path with dot segments is routed as it is written, and must be in the part as written and when resolved.
 */
export const coversPath = (text: string, accessUrl: string, path: string | undefined): boolean => {
  if (!isOwnResource(text, accessUrl)) return false
  const [part = ""] = normalizedResource(text).slice(normalizedResource(accessUrl).length).split("?")
  if (part === "") return true
  if (path === undefined || !URL.canParse(`http://host${path}`)) return false
  const { pathname } = new URL(`http://host${path}`)
  return [path, pathname].every((form) => form === part || form.startsWith(`${part}/`))
}

/** Whether two requests name the same resources, in any order. */
export const isSameAudience = (left: ReadonlyArray<string>, right: ReadonlyArray<string>): boolean => {
  const [one, other] = [new Set(left), new Set(right)]
  return one.size === other.size && [...one].every((resource) => other.has(resource))
}
