/** Subscriptions of browsers to push messages, and their rules. notifications-audit-insights.md §A9. */
import { Either, Encoding } from "effect"
import { withoutTrailing } from "../platform/texts/Address.js"
import { isPublicAddress } from "../platform/texts/PublicAddress.js"
import type * as Timestamp from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"

/** What a browser hands out for others to push messages to it. Keys are in base64url. RFC 8291 §2. */
export interface PushTarget {
  readonly endpoint: string
  readonly p256dh_key: string
  readonly auth_key: string
}

export interface PushSubscription extends PushTarget {
  readonly id: Uuid
  readonly user_id: Uuid
  readonly created_at: Timestamp.Timestamp
}

/** Characters of an endpoint. */
const maximumEndpoint = 2_048

/** Characters of a key, which has 65 bytes at most. */
const maximumKey = 128

/** The rule that an endpoint breaks. The service calls it, so it must be a server on the Internet. */
export const endpointViolation = (endpoint: string): string | undefined => {
  if (endpoint === "") return "is required"
  if (endpoint.length > maximumEndpoint) return `must have at most ${maximumEndpoint} characters`
  const url = /^https:\/\/[^/]/i.test(endpoint) && URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (url === undefined) return "must be an https URL"
  if (url.username !== "" || url.password !== "") return "must not have a user name or a password"
  const host = url.hostname.replace(/\.$/, "")
  const isAddress = /^\d+(\.\d+){3}$|^\[/.test(host)
  const isPrivate = isAddress ? !isPublicAddress(host.replace(/^\[|\]$/g, "")) : /(^|\.)localhost$/.test(host)
  return isPrivate ? "must be a server on the Internet" : undefined
}

/** The bytes of a key in base64url or base64, padded or not. */
export const keyBytes = (key: string): Uint8Array | undefined =>
  key.length > maximumKey
    ? undefined
    : Either.getOrUndefined(Encoding.decodeBase64Url(withoutTrailing("=", key.replaceAll("+", "-").replaceAll("/", "_"))))

/** The rules that the keys of a subscription break. RFC 8291 §3.1. */
export const keyViolations = ({ auth_key, p256dh_key }: PushTarget): Readonly<Record<string, string | undefined>> => {
  const point = keyBytes(p256dh_key)
  return {
    auth_key: keyBytes(auth_key)?.length === 16 ? undefined : "must be 16 bytes in base64url",
    p256dh_key: point?.length === 65 && point[0] === 4 ? undefined : "must be an uncompressed point of P-256 in base64url"
  }
}
