/** Port: the requests to providers of tokens for workspaces. deployment.md §10. */
import { Context, Data, type Effect, type Redacted } from "effect"
import { compilePattern, matchesPattern } from "../platform/texts/Pattern.js"
import type { ExternalAuthProvider } from "./ExternalAuthProvider.js"
import type { ExternalAuthTokenSet } from "./ExternalAuthLink.js"

/** The provider could not be asked, or its answer cannot be used. */
export class ExternalAuthFailure extends Data.TaggedError("ExternalAuthFailure")<{
  readonly message: string
  readonly detail: string
  /** Whether the same request may succeed soon. */
  readonly isTransient: boolean
}> {}

/** The provider refuses the request, and would refuse it again. */
export class ExternalAuthRefused extends Data.TaggedError("ExternalAuthRefused")<{
  /** The provider's code, such as `invalid_grant`. RFC 6749 §5.2, RFC 8628 §3.5. */
  readonly code: string
  readonly detail: string
}> {}

/** The account of a user at a provider. */
export interface ExternalAuthUser {
  readonly id: number
  readonly login: string
  readonly avatar_url: string
  readonly profile_url: string
  readonly name: string
}

/** An organization or account that a user has installed the provider's app in. */
export interface ExternalAuthInstallation {
  readonly id: number
  readonly account: ExternalAuthUser
  readonly configure_url: string
}

/** The codes that a user enters at the provider. RFC 8628 §3.2. */
export interface ExternalAuthDevice {
  readonly device_code: string
  readonly user_code: string
  readonly verification_uri: string
  /** Seconds. */
  readonly expires_in: number
  /** Seconds between two attempts. */
  readonly interval: number
}

/** The requests to one provider. Each ends within seconds. */
export interface ExternalAuthClient {
  readonly provider: ExternalAuthProvider
  /** The address that a browser is sent to. */
  readonly authorizationUrl: (request: {
    readonly redirect_uri: string
    readonly state: string
    /** S256 (RFC 7636 §4.2); empty without PKCE. */
    readonly code_challenge: string
  }) => string
  readonly exchange: (response: {
    readonly code: string
    readonly redirect_uri: string
    /** Empty without PKCE. */
    readonly code_verifier: Redacted.Redacted<string>
  }) => Effect.Effect<ExternalAuthTokenSet, ExternalAuthFailure | ExternalAuthRefused>
  readonly startDevice: Effect.Effect<ExternalAuthDevice, ExternalAuthFailure>
  readonly exchangeDevice: (deviceCode: string) => Effect.Effect<ExternalAuthTokenSet, ExternalAuthFailure | ExternalAuthRefused>
  readonly refresh: (
    refreshToken: Redacted.Redacted<string>
  ) => Effect.Effect<ExternalAuthTokenSet, ExternalAuthFailure | ExternalAuthRefused>
  /** Whether the provider still accepts the token, and whose it is where the provider tells. */
  readonly validate: (
    accessToken: Redacted.Redacted<string>
  ) => Effect.Effect<{ readonly isValid: boolean; readonly user: ExternalAuthUser | null }, ExternalAuthFailure>
  /** The installations of the provider's app; undefined where the provider tells of none. */
  readonly installations: (
    accessToken: Redacted.Redacted<string>
  ) => Effect.Effect<ReadonlyArray<ExternalAuthInstallation> | undefined, ExternalAuthFailure>
  /** Revokes the tokens at the provider. False where the provider has no address for it. */
  readonly revoke: (tokens: ExternalAuthTokenSet) => Effect.Effect<boolean, ExternalAuthFailure>
}

/** The clients of the configured providers, in their order. */
export class ExternalAuthClients extends Context.Reference<ExternalAuthClients>()("@atelier/core/ExternalAuthClients", {
  defaultValue: (): ReadonlyArray<ExternalAuthClient> => []
}) {}

/** Whether a provider has the repository at an address, or the host of this name. A provider without pattern has none. */
export const servesAddress = ({ regex }: ExternalAuthProvider, address: string): boolean => {
  if (regex === "") return false
  const pattern = compilePattern(regex)
  return typeof pattern !== "string" && matchesPattern(pattern, address) === true
}
