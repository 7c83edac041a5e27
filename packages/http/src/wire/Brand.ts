/**
 * Every literal of the wire that contains the product's name, from one word. architecture.md, "The wire".
 */
import { Context } from "effect"

/** The names a product's clients send and read. */
export interface Names {
  /** The product's word as it was given. */
  readonly word: string
  /** Request header that carries a session token, an API token or an agent's token. */
  readonly sessionHeader: string
  /** Cookie of a browser's session. */
  readonly sessionCookie: string
  /** Cookie of an account that is being converted to another way to log in. identity.md §6.6. */
  readonly conversionCookie: string
  /** Cookie of a browser's session for apps that are served by path. */
  readonly pathAppCookie: string
  /** How cookies of a browser's sessions for apps with hosts of their own begin. */
  readonly subdomainAppCookie: string
  /** Query parameter that brings a browser's session to an app's host. */
  readonly appKeyQuery: string
  /** Cookie of the right to one app, for a minute. */
  readonly signedAppCookie: string
  /** Query parameter of the right to one terminal, for a minute. */
  readonly signedAppQuery: string
  /** Query parameter that carries what the session header may. */
  readonly sessionQuery: string
  readonly requestIdHeader: string
  readonly buildVersionHeader: string
  readonly entitlementsWarningHeader: string
  readonly bypassRateLimitHeader: string
  readonly provisionerKeyHeader: string
  readonly provisionerPskHeader: string
  readonly proxyTokenHeader: string
  /** The address of the client that a workspace proxy acts for. */
  readonly proxyClientHeader: string
  /** The host that the client of a workspace proxy asked for. */
  readonly proxyHostHeader: string
  readonly relayReplicaHeader: string
  /** The token of a new deployment, with which callers of other machines create its first user. */
  readonly setupTokenHeader: string
  /** Protection space of `WWW-Authenticate`. */
  readonly realm: string
  /** The prefix of environment variables, including the underscore. */
  readonly environmentPrefix: string
}

/** The brand of a deployment without a product name. */
export const neutralWord = "Service"

/** The names of a product called `word`: characters that a header name may not hold (RFC 9110 §5.6.2) become a dash. */
export const namesOf = (word: string = neutralWord): Names => {
  const token = word.trim().replace(/[^0-9A-Za-z]+/g, "-")
  const lower = token.toLowerCase().replaceAll("-", "_")
  return {
    word,
    sessionHeader: `${token}-Session-Token`,
    sessionCookie: `${lower}_session_token`,
    conversionCookie: `${lower}_oauth_convert_jwt`,
    pathAppCookie: `${lower}_path_app_session_token`,
    subdomainAppCookie: `${lower}_subdomain_app_session_token`,
    appKeyQuery: `${lower}_application_connect_api_key_35e783`,
    signedAppCookie: `${lower}_signed_app_token`,
    signedAppQuery: `${lower}_signed_app_token_23db1dde`,
    sessionQuery: `${lower}_session_token`,
    requestIdHeader: `X-${token}-Request-Id`,
    buildVersionHeader: `X-${token}-Build-Version`,
    entitlementsWarningHeader: `X-${token}-Entitlements-Warning`,
    bypassRateLimitHeader: `X-${token}-Bypass-Ratelimit`,
    provisionerKeyHeader: `${token}-Provisioner-Daemon-Key`,
    provisionerPskHeader: `${token}-Provisioner-Daemon-PSK`,
    proxyTokenHeader: `${token}-External-Proxy-Token`,
    proxyClientHeader: `${token}-Workspace-Proxy-Real-IP`,
    proxyHostHeader: `${token}-Workspace-Proxy-Host`,
    setupTokenHeader: `${token}-Setup-Token`,
    relayReplicaHeader: `X-${token}-Relay-Source-Replica`,
    realm: lower,
    environmentPrefix: `${lower.toUpperCase()}_`
  }
}

/** The names in force. A host may replace single ones. */
export class Brand extends Context.Reference<Brand>()("@atelier/http/Brand", { defaultValue: (): Names => namesOf() }) {}
