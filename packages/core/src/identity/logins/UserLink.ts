/** A user's identity at a login provider, and the provider's tokens for the service. identity.md §7.4. */
import { Redacted, Schema } from "effect"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { UserId } from "../users/User.js"

/** The types of providers. A deployment has at most one of each. */
export const ExternalLoginType = Schema.Literal("github", "oidc")
export type ExternalLoginType = typeof ExternalLoginType.Type

export const isExternalLoginType = Schema.is(ExternalLoginType)

/** A user has one link per kind of provider. What it carries in secret is not a part of it. */
export const UserLink = Schema.Struct({
  id: Uuid,
  user_id: UserId,
  login_type: ExternalLoginType,
  /** The user's id at the provider; empty until the user has logged in through it. */
  linked_id: Schema.String,
  /** When the provider's access token ends; null where it does not. */
  oauth_expiry: Schema.NullOr(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp
})
export interface UserLink extends Schema.Schema.Type<typeof UserLink> {}

/** The tokens of a provider for requests about the user. */
export interface ProviderTokens {
  readonly access_token: Redacted.Redacted<string>
  /** Empty if the provider gave none. */
  readonly refresh_token: Redacted.Redacted<string>
  readonly expires_at: Timestamp | null
}

/** A provider's claims about a user, as JSON objects: the signed ones, those of the user info endpoint, and both merged. */
export const LinkClaims = Schema.Struct({
  id_token_claims: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  user_info_claims: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  merged_claims: Schema.Record({ key: Schema.String, value: Schema.Unknown })
})
export interface LinkClaims extends Schema.Schema.Type<typeof LinkClaims> {}

/** Of a provider that makes no claims. */
export const noClaims: LinkClaims = { id_token_claims: {}, user_info_claims: {}, merged_claims: {} }

/** Levels of claims below a provider's objects. SQLite reads no JSON of more than 1,000. */
const maximumDepth = 64

const isDeeperThan = (value: unknown, levels: number): boolean =>
  typeof value === "object" && value !== null && (levels === 0 || Object.values(value).some((each) => isDeeperThan(each, levels - 1)))

/** Whether claims are nested so deeply that no store could read them all. */
export const areTooDeep = (claims: LinkClaims): boolean => Object.values(claims).some((each) => isDeeperThan(each, maximumDepth))
