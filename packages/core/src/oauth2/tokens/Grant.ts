/** The permission that a user gives to an app, from the authorization code to the end of its tokens. oauth2-provider.md §13. */
import { Schema } from "effect"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"

/** Grants of one user to one app; a device more ends the oldest. */
export const maximumGrants = 50

/** `issued`: its code waits to be redeemed. `active`: it has an access token and a refresh token. */
export const GrantStatus = Schema.Literal("issued", "active", "revoked", "expired")
export type GrantStatus = typeof GrantStatus.Type

/**
 * What happens to a grant. `mismatch` is a wrong code verifier, `replay` a code that is presented again, `reuse` a refresh token that is
 * presented again long after it was replaced.
 */
export type GrantEvent = "redeem" | "mismatch" | "replay" | "rotate" | "reuse" | "revoke" | "expire"

/** The next status by status and event. An event without an entry is refused and changes nothing. */
export const grantTransitions = {
  issued: { redeem: "active", mismatch: "revoked", revoke: "revoked", expire: "expired" },
  active: { replay: "revoked", rotate: "active", reuse: "revoked", revoke: "revoked", expire: "expired" },
  revoked: {},
  expired: {}
} as const satisfies Record<GrantStatus, Partial<Record<GrantEvent, GrantStatus>>>

/** The status after an event; undefined where the event cannot happen to such a grant. */
export const afterEvent = (status: GrantStatus, event: GrantEvent): GrantStatus | undefined => {
  const transitions: Partial<Record<GrantEvent, GrantStatus>> = grantTransitions[status]
  return transitions[event]
}

/** A grant as it is stored, without the hash of its code. */
export const Grant = Schema.Struct({
  id: Uuid,
  app_id: Uuid,
  user_id: Uuid,
  status: GrantStatus,
  created_at: Timestamp,
  updated_at: Timestamp,
  code_expires_at: Timestamp,
  /** As the authorization request gave it; null where it gave none. */
  redirect_uri: Schema.NullOr(Schema.String),
  /** Hexadecimal SHA-256 of the client's `state`; null without one. Kept for investigations, never compared. */
  hashed_state: Schema.NullOr(Schema.String),
  /** S256 (RFC 7636 §4.2). */
  code_challenge: Schema.String,
  /** The audiences that the user consented to (RFC 8707), normalised; empty for tokens without a bound. */
  resource: Schema.Array(Schema.String),
  /** Scopes of the access tokens. */
  scopes: Schema.Array(Schema.String),
  /** The client secret that the grant was redeemed with. */
  secret_id: Schema.NullOr(Uuid),
  /** The access token. */
  api_key_id: Schema.NullOr(Schema.String),
  /** The end of the last refresh token. */
  refresh_expires_at: Schema.NullOr(Timestamp),
  /** The thumbprint of the key that the code or the tokens are bound to (RFC 9449 §6, §10); null for none. */
  dpop_jkt: Schema.NullOr(Schema.String)
})
export interface Grant extends Schema.Schema.Type<typeof Grant> {}

/** A refresh token as it is stored, without the hash of its secret. */
export interface RefreshToken {
  readonly prefix: string
  readonly grant_id: Uuid
  readonly expires_at: Timestamp
  /** When another one replaced it. */
  readonly rotated_at: Timestamp | null
}
