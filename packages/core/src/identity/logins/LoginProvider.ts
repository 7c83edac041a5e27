/** Providers of logins as the service sees them: a host may have its own. identity.md §7. */
import { Context, Data, type Effect } from "effect"
import type { Forbidden, Invalid, Unauthenticated } from "../../platform/Errors.js"
import type { ExternalLoginType, LinkClaims, ProviderTokens } from "./UserLink.js"
import type { Redacted } from "effect"

/** The provider could not be asked, or answered what cannot be used. Not the caller's fault. */
export class ProviderFailure extends Data.TaggedError("ProviderFailure")<{
  readonly message: string
  readonly detail?: string
  /** Whether the provider did not answer, so that a later attempt may succeed. */
  readonly isAway?: boolean
}> {}

/** The user has not yet allowed the device to log in: ask again. RFC 8628 §3.5. */
export class AuthorizationPending extends Data.TaggedError("AuthorizationPending")<{}> {}

/** The provider gives no more tokens for this one. */
export class RefreshRefused extends Data.TaggedError("RefreshRefused")<{ readonly detail: string }> {}

/** The request that sends a browser to a provider. */
export interface AuthorizationRequest {
  readonly redirect_uri: string
  readonly state: string
  readonly nonce: string
  /** S256 (RFC 7636 §4.2). */
  readonly code_challenge: string
}

/** The response that a browser, or a device, brings back. Its state has been compared. */
export interface AuthorizationResponse {
  readonly redirect_uri: string
  /** Everything behind the question mark: some providers send more than the two that follow. */
  readonly query: string
  readonly code: string
  readonly state: string
  readonly nonce: string
  readonly code_verifier: Redacted.Redacted<string>
}

/** A person whose identity a provider has verified. Texts are the provider's own. */
export interface VerifiedIdentity {
  /** The provider's unique id for this user, which it never reuses; not empty. */
  readonly linked_id: string
  /** An address whose owner this is. */
  readonly email: string
  /** The username that a new user gets if it is free; may be empty. */
  readonly username: string
  readonly name: string
  readonly avatar_url: string
  /** The account at github.com; undefined elsewhere. */
  readonly github_com_user_id?: number | undefined
  readonly tokens: ProviderTokens
  readonly claims: LinkClaims
}

/** The codes that a device without a browser shows its user (RFC 8628 §3.2). Durations are in seconds. */
export interface DeviceAuthorization {
  readonly device_code: string
  readonly user_code: string
  readonly verification_uri: string
  readonly expires_in: number
  readonly interval: number
}

export interface LoginProvider {
  readonly type: ExternalLoginType
  /** Whether a person without an account gets one. The first user of a deployment always does. */
  readonly allow_signups: boolean
  /** The message for a person without an account while signups are disabled; empty for the default message. */
  readonly signups_disabled_text: string
  /** Whether a person with another id but the same address is matched to the linked user. Insecure if addresses change hands. */
  readonly email_fallback: boolean
  /** The provider's name on the login page. */
  readonly sign_in_text: string
  readonly icon_url: string
  /** The origin that browsers come back to; empty for the access URL's. */
  readonly redirect_url: string
  /** Hosts that browsers may come back to; with none, only the access URL's or `redirect_url`'s. */
  readonly redirect_allowed_hosts: ReadonlyArray<string>
  /** Whether the provider takes a code challenge. */
  readonly pkce: Effect.Effect<boolean, ProviderFailure>
  /** Where the browser goes to. */
  readonly start: (request: AuthorizationRequest) => Effect.Effect<string, ProviderFailure>
  /** Returns the verified identity. `Unauthenticated` is for users that the provider knows but the deployment does not admit. */
  readonly complete: (
    response: AuthorizationResponse
  ) => Effect.Effect<VerifiedIdentity, Invalid | Unauthenticated | Forbidden | ProviderFailure | AuthorizationPending>
  /** New tokens for an old one, which is spent then. Ends within seconds. */
  readonly refresh: (refreshToken: Redacted.Redacted<string>) => Effect.Effect<ProviderTokens, RefreshRefused | ProviderFailure>
  /** Begins a login of a device; undefined where browsers go to the provider themselves. */
  readonly device?: Effect.Effect<DeviceAuthorization, ProviderFailure> | undefined
}

/** The providers of the deployment, at most one of each type. */
export class LoginProviders extends Context.Reference<LoginProviders>()("@atelier/core/LoginProviders", {
  defaultValue: (): ReadonlyArray<LoginProvider> => []
}) {}

/** The provider of that type, if the deployment has one. */
export const providerOf = (providers: ReadonlyArray<LoginProvider>, type: ExternalLoginType): LoginProvider | undefined =>
  providers.find((provider) => provider.type === type)
