/** What the fields of a proxy may be, as an administrator gives them and as its processes register. */
import { pictureViolation } from "../../platform/texts/Address.js"
import { type Validation, validationsOf } from "../../platform/Errors.js"
import { nil } from "../../platform/texts/Uuid.js"
import type { ProxyFields, Registration } from "./WorkspaceProxies.js"

export const maximumName = 128

export const maximumAddress = 2048

export const textViolations = ({ display_name, icon, name }: ProxyFields): ReadonlyArray<Validation> => [
  ...(name.length > maximumName ? [{ field: "name", detail: `must have at most ${maximumName} characters` }] : []),
  ...(display_name.length > maximumName ? [{ field: "display_name", detail: `must have at most ${maximumName} characters` }] : []),
  ...validationsOf({ icon: pictureViolation(icon, maximumAddress) })
]

/** A host name with one star, which is the first label or the first part of it. */
const isWildcard = (pattern: string): boolean => /^\*[a-z0-9-]*(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+(?::\d{1,5})?$/i.test(pattern)

const isBase = (address: string): boolean => {
  if (!URL.canParse(address)) return false
  const { hash, password, pathname, protocol, search, username } = new URL(address)
  return /^https?:$/.test(protocol) && pathname === "/" && `${hash}${password}${search}${username}` === ""
}

export const registrationViolations = ({ access_url, derp_enabled, derp_only, replica_id, wildcard_hostname }: Registration) => [
  ...(access_url.length <= maximumAddress && isBase(access_url)
    ? []
    : [{ field: "access_url", detail: "must be an http or https address without a path" }]),
  ...(wildcard_hostname === "" || isWildcard(wildcard_hostname)
    ? []
    : [{ field: "wildcard_hostname", detail: "must be a host name that begins with one star" }]),
  ...(replica_id === nil ? [{ field: "replica_id", detail: "must not be zero" }] : []),
  ...(derp_only && !derp_enabled ? [{ field: "derp_only", detail: "needs derp_enabled" }] : [])
]
