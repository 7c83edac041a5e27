/** Logins by an OpenID Connect provider. identity.md §7.3, deployment.md §3.8. */
import { type LinkClaims, type LoginProvider, type ProviderFailure, type ProviderTokens, RefreshRefused } from "@atelier/core/identity"
import { Invalid, StartError, Timestamp } from "@atelier/core/platform"
import { Effect, Redacted } from "effect"
import { jwtVerify } from "jose"
import * as client from "openid-client"
import { type Claims, identityFrom } from "./OidcClaims.js"
import { clockTolerance, type Discovered, discovery } from "./OidcDiscovery.js"
import { failed, isSpent, isUnusable, isWrongSignature, reasonOf, wrongToken } from "./OidcFailures.js"

/** Names and defaults are those of deployment.md §3.8. */
export interface OidcOptions {
  readonly client_id: string
  readonly client_secret?: string | Redacted.Redacted<string>
  /** Its discovery document says everything else. */
  readonly issuer_url: string
  /** Default `openid`, `profile`, `email`. */
  readonly scopes?: ReadonlyArray<string>
  /** Default `{"access_type": "offline"}`. */
  readonly auth_url_params?: Readonly<Record<string, string>>
  /** Default `preferred_username`. */
  readonly username_field?: string
  /** Default `name`. */
  readonly name_field?: string
  /** Default `email`. */
  readonly email_field?: string
  /** Domains whose addresses are admitted; all by default. */
  readonly email_domain?: ReadonlyArray<string>
  /**
   * Trusts addresses that the provider has not verified. Insecure: a person who can enter any address at the provider can take over any
   * account here.
   */
  readonly ignore_email_verified?: boolean
  /** Takes claims from the ID token alone. */
  readonly ignore_user_info?: boolean
  /** Takes claims from the access token too, which has to be a signed JWT; needs `ignore_user_info`. */
  readonly source_user_info_from_access_token?: boolean
  /** Default true. */
  readonly allow_signups?: boolean
  readonly signups_disabled_text?: string
  /** Default `OpenID Connect`. */
  readonly sign_in_text?: string
  readonly icon_url?: string
  /** Insecure: see `LoginProvider`. */
  readonly email_fallback?: boolean
  /** Takes a discovery document that names another issuer than `issuer_url`. Tokens have to be that issuer's. */
  readonly skip_issuer_checks?: boolean
  /** Where browsers come back to instead of the access URL; its path is dropped. */
  readonly redirect_url?: string
  /** Hosts that browsers may come back to, each to the one it came from. */
  readonly redirect_allowed_hosts?: ReadonlyArray<string>
}

/** Signatures that only the provider can make. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]

/** The longest lifetime that is stored, in seconds: ten years. */
const longestLifetime = 315_360_000

/** Reads the provider's discovery document and returns the provider. Fails if no usable document is found. */
export const make = (options: OidcOptions): Effect.Effect<LoginProvider, StartError> =>
  Effect.gen(function* () {
    const issuerUrl = yield* Effect.try({
      try: () => new URL(options.issuer_url),
      catch: () => new StartError({ option: "oidc.issuer_url", value: options.issuer_url, reason: "must be a URL" })
    })
    if (options.source_user_info_from_access_token === true && options.ignore_user_info !== true) {
      return yield* new StartError({ option: "oidc.source_user_info_from_access_token", reason: "needs oidc.ignore_user_info" })
    }
    const { redirect_url = "" } = options
    if (redirect_url !== "" && !(URL.canParse(redirect_url) && /^https?:$/.test(new URL(redirect_url).protocol))) {
      return yield* new StartError({ option: "oidc.redirect_url", value: redirect_url, reason: "must be an http or https URL" })
    }
    const secret = options.client_secret ?? ""
    const clientSecret = Redacted.isRedacted(secret) ? Redacted.value(secret) : secret
    const rules = {
      username_field: options.username_field ?? "preferred_username",
      name_field: options.name_field ?? "name",
      email_field: options.email_field ?? "email",
      email_domain: options.email_domain ?? [],
      ignore_email_verified: options.ignore_email_verified ?? false
    }
    const discovered = yield* discovery({
      issuerUrl,
      clientId: options.client_id,
      clientSecret,
      skipsIssuerChecks: options.skip_issuer_checks === true
    }).pipe(
      Effect.mapError(
        ({ detail, message }) =>
          new StartError({
            option: "oidc.issuer_url",
            value: options.issuer_url,
            reason: detail === undefined ? message : `${message} ${detail}`
          })
      )
    )

    const tokensFrom = (answer: client.TokenEndpointResponse): Effect.Effect<ProviderTokens> =>
      Effect.map(Timestamp.now, (now) => ({
        access_token: Redacted.make(answer.access_token),
        refresh_token: Redacted.make(answer.refresh_token ?? ""),
        expires_at: answer.expires_in === undefined ? null : Timestamp.plus(now, `${Math.min(answer.expires_in, longestLifetime)} seconds`)
      }))

    const verified = (token: string, { keys }: Discovered, issuer?: string): Effect.Effect<Claims, Invalid | ProviderFailure> =>
      Effect.tryPromise({
        try: async (): Promise<Claims> =>
          (await jwtVerify(token, keys, { algorithms, clockTolerance, ...(issuer === undefined ? {} : { issuer }) })).payload,
        catch: (error) => (isWrongSignature(error) ? wrongToken(error) : failed("The provider's keys could not be read.")(error))
      })

    /** Merges the ID token's claims with those of other sources by precedence. */
    const merged = (given: client.TokenEndpointResponse, signed: Claims, provider: Discovered) =>
      Effect.gen(function* () {
        const { configuration, metadata } = provider
        if (options.source_user_info_from_access_token === true) {
          const claims = yield* verified(given.access_token, provider, metadata.issuer)
          if (claims["sub"] !== undefined && claims["sub"] !== signed["sub"]) {
            return yield* new Invalid({ message: "The provider's tokens are of two users." })
          }
          return { user_info_claims: claims, merged_claims: { ...claims, ...signed } }
        }
        if (options.ignore_user_info === true || metadata.userinfo_endpoint === undefined) {
          return { user_info_claims: {}, merged_claims: signed }
        }
        const claims: Claims = yield* Effect.tryPromise({
          try: () => client.fetchUserInfo(configuration, given.access_token, String(signed["sub"])),
          catch: failed("The provider's user info could not be read.")
        })
        return { user_info_claims: claims, merged_claims: { ...signed, ...claims } }
      })

    return {
      type: "oidc",
      allow_signups: options.allow_signups ?? true,
      signups_disabled_text: options.signups_disabled_text ?? "",
      email_fallback: options.email_fallback ?? false,
      sign_in_text: options.sign_in_text ?? "OpenID Connect",
      icon_url: options.icon_url ?? "",
      redirect_url,
      redirect_allowed_hosts: options.redirect_allowed_hosts ?? [],
      pkce: Effect.map(discovered, ({ metadata }) => metadata.code_challenge_methods_supported?.includes("S256") === true),
      start: ({ code_challenge, nonce, redirect_uri, state }) =>
        Effect.flatMap(discovered, ({ configuration }) =>
          Effect.try({
            try: () =>
              client.buildAuthorizationUrl(configuration, {
                ...(options.auth_url_params ?? { access_type: "offline" }),
                response_type: "code",
                scope: (options.scopes ?? ["openid", "profile", "email"]).join(" "),
                redirect_uri,
                state,
                nonce,
                ...(code_challenge === "" ? {} : { code_challenge, code_challenge_method: "S256" })
              }).href,
            catch: failed("The provider cannot be visited.")
          })
        ),
      complete: ({ code_verifier, nonce, query, redirect_uri, state }) =>
        Effect.gen(function* () {
          const provider = yield* discovered
          const verifier = Redacted.value(code_verifier)
          const given = yield* Effect.tryPromise({
            try: () =>
              client.authorizationCodeGrant(provider.configuration, new URL(`${redirect_uri}?${query}`), {
                expectedState: state,
                expectedNonce: nonce,
                idTokenExpected: true,
                ...(verifier === "" ? {} : { pkceCodeVerifier: verifier })
              }),
            catch: (error) => (isUnusable(error) ? wrongToken(error) : failed("The provider did not take the code.")(error))
          })
          yield* verified(given.id_token ?? "", provider)
          const id_token_claims: Claims = { ...given.claims() }
          if (!id_token_claims["sub"]) return yield* new Invalid({ message: "The provider does not say who you are." })
          const claims: LinkClaims = { id_token_claims, ...(yield* merged(given, id_token_claims, provider)) }
          return { ...(yield* identityFrom(rules, claims)), tokens: yield* tokensFrom(given) }
        }),
      refresh: (refreshToken) =>
        Effect.gen(function* () {
          const { configuration } = yield* discovered
          const given = yield* Effect.tryPromise({
            try: () => client.refreshTokenGrant(configuration, Redacted.value(refreshToken)),
            catch: (error) =>
              isSpent(error) ? new RefreshRefused({ detail: reasonOf(error) }) : failed("The provider did not renew the tokens.")(error)
          })
          return yield* tokensFrom(given)
        })
    } satisfies LoginProvider
  })
