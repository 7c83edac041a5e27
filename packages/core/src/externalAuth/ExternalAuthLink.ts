/** The tokens that a provider has given for one user. deployment.md §10. */
import type { Redacted } from "effect"
import type { Sealed } from "../platform/secrets/Encryption.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"

/** A user has at most one link to each provider. */
export interface ExternalAuthLink {
  readonly id: Uuid
  readonly user_id: Uuid
  readonly provider_id: string
  /** When the access token expires; null for a token that does not. */
  readonly oauth_expiry: Timestamp | null
  /** Why the provider refused to renew the tokens for good; empty while it has not. */
  readonly refresh_failure: string
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
}

/** A link with its tokens as they are stored. */
export interface SealedExternalAuthLink extends ExternalAuthLink {
  readonly tokens: Sealed
}

/** The tokens of a provider. */
export interface ExternalAuthTokenSet {
  readonly access_token: Redacted.Redacted<string>
  /** Empty if the provider gave none. */
  readonly refresh_token: Redacted.Redacted<string>
  readonly expires_at: Timestamp | null
  /** The members of the answer that the configuration names; null where it names none. */
  readonly extra: Readonly<Record<string, unknown>> | null
}
