/** Which responses scripts of other sites may read. identity.md §1.6. */

import type { Names } from "../../wire/Brand.js"

/** Which origins the deployment lets read answers. */
export interface CorsSettings {
  /** Any origin may read what it asks for without credentials. For development. deployment.md §3.5. */
  readonly allowAll: boolean
  /** Origins whose pages use the interface as the service's own pages do. */
  readonly origins: ReadonlySet<string>
  readonly names: Pick<Names, "requestIdHeader" | "buildVersionHeader" | "entitlementsWarningHeader">
}

/** What the policy of an answer follows from. */
export interface Asked {
  readonly path: string
  readonly origin: string | undefined
  /** The method of a preflight. */
  readonly method: string
  /** The headers that a preflight asks for. */
  readonly headers: string | undefined
}

interface Policy {
  /** Methods whose preflight gets these headers; all methods unless given. */
  readonly methods?: ReadonlyArray<string>
  readonly preflight: Readonly<Record<string, string>>
  readonly response: Readonly<Record<string, string>>
}

const publicHeaders = "Content-Type, Accept, Authorization, DPoP, x-api-key, Mcp-Session-Id, MCP-Protocol-Version, Last-Event-ID"

/** The OAuth2 provider and the MCP server are called from any site, without credentials of the browser. */
const openPolicy: Policy = {
  preflight: {
    "access-control-allow-origin": "*",
    // PUT in addition to the reference's methods: clients manage their registration with it. oauth2-provider.md P-27
    "access-control-allow-methods": "GET, POST, PUT, DELETE, OPTIONS",
    "access-control-allow-headers": publicHeaders,
    "access-control-max-age": "86400"
  },
  response: {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "Content-Type, Authorization, x-api-key, Mcp-Session-Id, MCP-Protocol-Version"
  }
}

const developmentPolicy: Policy = {
  methods: ["GET"],
  preflight: {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET",
    "access-control-allow-headers": "Accept, Content-Type, X-LATENCY-CHECK, X-CSRF-TOKEN, Origin"
  },
  response: { "access-control-allow-origin": "*" }
}

const openPaths = /^(?:\/api\/v2)?(?:\/oauth2\/|\/\.well-known\/oauth-)|^\/mcp$|^\/api\/experimental\/mcp\//

/** The interface. Pages are left out: their forms and what they show are for the user alone. */
const interfacePaths = /^\/(?:(?:api|scim|bin)\/|(?:healthz|readyz)$)/

const isConsent = /^(?:\/api\/v2)?\/oauth2\/authorize$/

/** Names of headers, separated by commas (RFC 9110 §5.6.1). */
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/

/** Headers of answers that clients read, beside those that the brand names. */
const exposed = "Retry-After, ETag, Location, Content-Disposition, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset"

/** A listed origin is trusted with the browser's credentials, so the answer names it: `*` would not let them through. */
const listedPolicy = ({ names }: CorsSettings, origin: string, headers: string | undefined): Policy => {
  const leave = { "access-control-allow-origin": origin, "access-control-allow-credentials": "true" }
  return {
    preflight: {
      ...leave,
      "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
      ...(headers !== undefined && headerNames.test(headers) ? { "access-control-allow-headers": headers } : {}),
      "access-control-max-age": "600"
    },
    response: {
      ...leave,
      "access-control-expose-headers": `${names.requestIdHeader}, ${names.buildVersionHeader}, ${names.entitlementsWarningHeader}, ${exposed}`
    }
  }
}

/** The policy of an answer; undefined lets no other origin read it. */
const policyOf = (settings: CorsSettings, { headers, origin, path }: Pick<Asked, "path" | "origin" | "headers">): Policy | undefined => {
  const isOpen = openPaths.test(path)
  if (origin !== undefined && settings.origins.has(origin) && (isOpen ? !isConsent.test(path) : interfacePaths.test(path)))
    return listedPolicy(settings, origin, headers)
  return isOpen ? openPolicy : settings.allowAll ? developmentPolicy : undefined
}

/** The headers that answers to preflights vary by. */
export const preflightVary = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"

/** The headers of the answer to a preflight. */
export const preflightHeaders = (settings: CorsSettings, asked: Asked): Readonly<Record<string, string>> => {
  const policy = policyOf(settings, asked)
  const isAllowed = policy?.methods === undefined || policy.methods.includes(asked.method)
  return { vary: preflightVary, ...(isAllowed ? policy?.preflight : {}) }
}

/** The headers of an answer to a page of another origin. */
export const originHeaders = (settings: CorsSettings, path: string, origin: string): Readonly<Record<string, string>> =>
  policyOf(settings, { path, origin, headers: undefined })?.response ?? {}
