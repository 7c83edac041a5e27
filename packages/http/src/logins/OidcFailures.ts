/** How an OpenID Connect provider fails, and what is said of it. */
import { ProviderFailure } from "@atelier/core/identity"
import { Invalid } from "@atelier/core/platform"
import { errors as joseErrors } from "jose"
import * as client from "openid-client"
import { providerText } from "./providerText.js"

/** Whether the refresh token is of no more use (RFC 6749 §5.2), rather than something else being wrong. */
export const isSpent = (error: unknown): boolean => error instanceof client.ResponseBodyError && error.error === "invalid_grant"

/** Describes a failure without the request or the answer: both contain secrets. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof client.ResponseBodyError) return providerText(`${error.error}: ${error.error_description ?? ""}`)
  if (error instanceof client.ClientError) return providerText(`${error.code ?? "error"}: ${messageOf(error)}`)
  return providerText(error instanceof Error ? messageOf(error) : "")
}

/** The message of a request that got no answer says only that it failed: the system or its network has reported why. */
const messageOf = ({ cause, message }: Error): string => {
  if (message !== "fetch failed" || !(cause instanceof Error)) return message
  // Of a host with several addresses the system reports a code alone
  return `${message}: ${cause.message === "" && "code" in cause ? String(cause.code) : cause.message}`
}

/** Failures behind an answer of the token endpoint: what it answered is not an identity. */
const unusable = new Set([
  "OAUTH_INVALID_RESPONSE",
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
  "OAUTH_UNSUPPORTED_OPERATION",
  "OAUTH_PARSE_ERROR"
])

/** Whether what the token endpoint answered is not an identity, rather than no answer. */
export const isUnusable = (error: unknown): boolean => error instanceof client.ClientError && unusable.has(error.code ?? "")

/** Whether a signature was looked at and found wrong, rather than its key not being had. */
export const isWrongSignature = (error: unknown): boolean =>
  error instanceof joseErrors.JOSEError && /^ERR_(?:JWS|JWT|JOSE_|JWKS_NO|JWKS_MULTIPLE)/.test(error.code)

/** A refusal of what the provider has issued. */
export const wrongToken = (error: unknown): Invalid =>
  new Invalid({ message: "The provider's token could not be verified.", detail: reasonOf(error) })

/** Whether no answer came: the provider could not be reached, or took too long. */
const isUnanswered = (error: unknown): boolean =>
  (error instanceof TypeError && error.message === "fetch failed") ||
  (error instanceof client.ClientError && (error.code === "OAUTH_TIMEOUT" || error.code === "OAUTH_ABORT"))

/** Whether the answer says that the provider cannot do its work now. */
const isUnwell = (error: unknown): boolean =>
  error instanceof client.ClientError && error.cause instanceof Response && error.cause.status >= 500

/** A failure of the provider with a message of ours and its reason. */
export const failed = (message: string) => (error: unknown) =>
  new ProviderFailure({ message, detail: reasonOf(error), isAway: isUnanswered(error) })

/** As `failed`, for a request that a provider which is well never answers with a status of its own failures. */
export const failedReading = (message: string) => (error: unknown) =>
  new ProviderFailure({ message, detail: reasonOf(error), isAway: isUnanswered(error) || isUnwell(error) })
