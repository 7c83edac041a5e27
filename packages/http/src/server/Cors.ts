/** Which responses scripts of other sites may read. identity.md §1.6. */

interface Policy {
  /** Methods whose preflight gets these headers; all methods unless given. */
  readonly methods?: ReadonlyArray<string>
  readonly preflight: Readonly<Record<string, string>>
  readonly response: Readonly<Record<string, string>>
}

const publicHeaders = "Content-Type, Accept, Authorization, x-api-key, Mcp-Session-Id, MCP-Protocol-Version, Last-Event-ID"

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

const openPaths = /^(?:\/api\/v2)?(?:\/oauth2\/|\/\.well-known\/oauth-)|^\/api\/experimental\/mcp\//

/** The policy of a path; undefined lets no other site read anything. */
const policyOf = (path: string, allowAll: boolean): Policy | undefined =>
  openPaths.test(path) ? openPolicy : allowAll ? developmentPolicy : undefined

/** The headers that answers to preflights vary by. */
export const preflightVary = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"

/** The headers of the answer to a preflight for a method. */
export const preflightHeaders = (path: string, allowAll: boolean, method: string): Readonly<Record<string, string>> => {
  const policy = policyOf(path, allowAll)
  const isAllowed = policy?.methods === undefined || policy.methods.includes(method)
  return { vary: preflightVary, ...(isAllowed ? policy?.preflight : {}) }
}

/** The headers of an answer to another site's request. */
export const originHeaders = (path: string, allowAll: boolean): Readonly<Record<string, string>> => policyOf(path, allowAll)?.response ?? {}
