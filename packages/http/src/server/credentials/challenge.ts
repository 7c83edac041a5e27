/** What a client is told that was refused for its credential (RFC 6750 §3, RFC 9728 §5.1). */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type { Forbidden, Unauthenticated } from "@atelier/core/platform"
import type { RequestInfo } from "../request/CurrentRequest.js"
import { dpopTokenOf } from "./Credential.js"
import { proofRefused } from "./Credentials.js"
import { signatureAlgorithms } from "./signatureAlgorithms.js"

export interface Challenge {
  readonly realm: string
  readonly refused: Unauthenticated | Forbidden
  /** The address of the document that describes the resource. */
  readonly resourceMetadata: string
  /** The scopes that a token needs; not told unless given. */
  readonly scopes?: ReadonlyArray<string>
}

/** The header `WWW-Authenticate`. */
export const challenge = (
  request: HttpServerRequest.HttpServerRequest,
  { credential }: Pick<RequestInfo, "credential">,
  { realm, refused, resourceMetadata, scopes }: Challenge
): string => {
  const code = refused._tag === "Forbidden" ? "insufficient_scope" : refused === proofRefused ? "invalid_dpop_proof" : "invalid_token"
  const isDpop = dpopTokenOf(request) !== undefined
  // A quoted string of a header may contain these characters (RFC 9110 §5.6.4)
  const description = refused.message.replace(/["\\]|[^\x20-\x7e]/g, "")
  // A request without a credential is told of no error (RFC 6750 §3.1)
  const error = credential === undefined ? "" : ` error="${code}", error_description="${description}",`
  const scope = scopes === undefined ? "" : ` scope="${scopes.join(" ")}",`
  const algorithms = isDpop ? `, algs="${signatureAlgorithms.join(" ")}"` : ""
  return `${isDpop ? "DPoP" : "Bearer"} realm="${realm}",${error}${scope} resource_metadata="${resourceMetadata}"${algorithms}`
}
