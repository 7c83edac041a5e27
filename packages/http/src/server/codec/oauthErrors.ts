/** How OAuth2 clients are refused: every refusal below `/oauth2` has the form of RFC 6749 §5.2. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { OAuthError, OAuthErrorCode } from "@atelier/core/oauth2"
import type { NotModified } from "@atelier/core/platform"
import { type Refusal, responseOf, statusOf } from "../../wire/errors.js"

/** Whether refusals at a path have this form. */
export const isOAuthPath = (path: string): boolean => /^(?:\/api\/v2)?\/oauth2\//.test(path)

/** The body of a refusal. */
export interface OAuthErrorBody {
  readonly error: OAuthErrorCode
  readonly error_description?: string
}

const bodyOf = (error: OAuthErrorCode, message: string): OAuthErrorBody => ({
  error,
  ...(message === "" ? {} : { error_description: message })
})

const statuses: Partial<Record<OAuthErrorCode, number>> = {
  invalid_client: 401,
  invalid_token: 401,
  login_required: 401,
  server_error: 500,
  temporarily_unavailable: 503
}

/** The status and the body of a refusal of the protocol. */
export const oauthAnswer = ({ error, forbidden, message }: OAuthError): { readonly status: number; readonly body: OAuthErrorBody } => ({
  status: forbidden === true ? 403 : (statuses[error] ?? 400),
  body: bodyOf(error, message)
})

/** A refusal that has a body, in this form. */
export const oauthErrorOf = (refusal: Exclude<Refusal, NotModified>): OAuthErrorBody => {
  const { detail, message, validations = [] } = responseOf(refusal)
  const findings = validations.map(({ detail, field }) => `${field}: ${detail}`)
  const status = statusOf(refusal)
  const code = status === 500 ? "server_error" : status > 500 || status === 429 ? "temporarily_unavailable" : "invalid_request"
  return bodyOf(code, [message, ...(detail === undefined ? [] : [detail]), ...findings].join(" "))
}

/** Tells a client how to authenticate (RFC 6749 §5.2, RFC 6750 §3). */
export const challenged = (
  response: HttpServerResponse.HttpServerResponse,
  { error, forbidden }: OAuthError,
  realm: string
): HttpServerResponse.HttpServerResponse => {
  if (error === "invalid_client") return HttpServerResponse.setHeader(response, "www-authenticate", `Basic realm="${realm}"`)
  if (error !== "invalid_token" || forbidden === true) return response
  return HttpServerResponse.setHeader(response, "www-authenticate", `Bearer realm="${realm}", error="invalid_token"`)
}
