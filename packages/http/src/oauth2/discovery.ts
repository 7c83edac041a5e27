/** The documents that clients find the authorization server by (RFC 8414, RFC 9728). oauth2-provider.md §12. */
import { externalScopes } from "@atelier/core/access"
import { authMethods, grantTypes, prompts, responseModes, responseTypes } from "@atelier/core/oauth2"
import { signatureAlgorithms } from "../server/credentials/signatureAlgorithms.js"
import { mcpPath } from "../mcp/path.js"
import type { HttpSettings } from "../server/request/Settings.js"

/** The metadata of the authorization server. */
export const serverMetadata = (accessUrl: string, registrationEnabled: boolean): object => ({
  issuer: accessUrl,
  authorization_endpoint: `${accessUrl}/oauth2/authorize`,
  token_endpoint: `${accessUrl}/oauth2/tokens`,
  device_authorization_endpoint: `${accessUrl}/oauth2/device_authorization`,
  pushed_authorization_request_endpoint: `${accessUrl}/oauth2/par`,
  require_pushed_authorization_requests: false,
  revocation_endpoint: `${accessUrl}/oauth2/revoke`,
  introspection_endpoint: `${accessUrl}/oauth2/introspect`,
  ...(registrationEnabled ? { registration_endpoint: `${accessUrl}/oauth2/register` } : {}),
  client_id_metadata_document_supported: registrationEnabled,
  response_types_supported: responseTypes,
  response_modes_supported: responseModes,
  prompt_values_supported: prompts,
  grant_types_supported: grantTypes,
  code_challenge_methods_supported: ["S256"],
  token_endpoint_auth_methods_supported: authMethods,
  revocation_endpoint_auth_methods_supported: authMethods,
  introspection_endpoint_auth_methods_supported: authMethods.filter((method) => method !== "none"),
  token_endpoint_auth_signing_alg_values_supported: signatureAlgorithms,
  revocation_endpoint_auth_signing_alg_values_supported: signatureAlgorithms,
  introspection_endpoint_auth_signing_alg_values_supported: signatureAlgorithms,
  dpop_signing_alg_values_supported: signatureAlgorithms,
  scopes_supported: externalScopes,
  authorization_response_iss_parameter_supported: true
})

/**
 * The resource that a suffix of the document's path names. Clients put the resource's whole path behind the well-known one (RFC 9728 §3.1), which
 * begins with the path of the mount; those that know the mount put only the rest there.
 */
const resourceOf = (accessUrl: string, suffix: string): string => {
  const { origin, pathname } = new URL(accessUrl)
  const mount = pathname.replace(/\/$/, "")
  const isWhole = mount !== "" && (suffix === mount || suffix.startsWith(`${mount}/`))
  return isWhole ? `${origin}${suffix}` : `${accessUrl}${suffix}`
}

/**
 * The metadata of the deployment, or of a part of it, as a protected resource. `suffix` is empty or begins with a slash. `toolScopes` are those of
 * the tools at `/mcp`, if there are any: clients that are told of no scopes ask for all that the document lists.
 */
export const resourceMetadata = (
  { accessUrl, takesAccessTokenQuery }: Pick<HttpSettings, "accessUrl" | "takesAccessTokenQuery">,
  suffix: string,
  toolScopes: ReadonlyArray<string> | undefined
): object => {
  const resource = resourceOf(accessUrl, suffix.replace(/\/$/, ""))
  const isOfTools = toolScopes !== undefined && resource === `${accessUrl}${mcpPath}`
  return {
    resource,
    authorization_servers: [accessUrl],
    scopes_supported: isOfTools ? toolScopes : externalScopes,
    bearer_methods_supported: takesAccessTokenQuery && !isOfTools ? ["header", "query"] : ["header"],
    dpop_signing_alg_values_supported: signatureAlgorithms,
    dpop_bound_access_tokens_required: false
  }
}

/** Whether the authorization server has a document with a suffix: without one, and with the path of its issuer (RFC 8414 §3.1). */
export const isIssuerSuffix = (accessUrl: string, suffix: string): boolean => {
  const bare = suffix.replace(/\/$/, "")
  return bare === "" || bare === new URL(accessUrl).pathname.replace(/\/$/, "")
}
