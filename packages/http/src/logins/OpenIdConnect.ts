/** Logins by an OpenID Connect provider. identity.md §7.3, deployment.md §3.8. */
import type { Options } from "@atelier/core/deployment"
import { type LinkClaims, type LoginProvider, RefreshRefused } from "@atelier/core/identity"
import { Invalid, StartError } from "@atelier/core/platform"
import { Effect, Redacted, type Scope } from "effect"
import * as client from "openid-client"
import { type Claims, identityFrom } from "./OidcClaims.js"
import { discovery } from "./OidcDiscovery.js"
import { failed, isSpent, isUnusable, reasonOf, wrongToken } from "./OidcFailures.js"
import { mergedClaims, tokensFrom, verified } from "./OidcTokens.js"
import { listedValues } from "./listedValues.js"

/** The options that are about the provider. deployment.md §3.8. */
export type OidcOptions = Pick<
  Options,
  | "dangerousOidcEmailFallback"
  | "dangerousOidcSkipIssuerChecks"
  | "oidcAccessTokenClaims"
  | "oidcAllowSignups"
  | "oidcAuthUrlParams"
  | "oidcClientId"
  | "oidcClientSecret"
  | "oidcEmailDomain"
  | "oidcEmailField"
  | "oidcIconUrl"
  | "oidcIgnoreEmailVerified"
  | "oidcIgnoreUserinfo"
  | "oidcIssuerUrl"
  | "oidcNameField"
  | "oidcRedirectAllowedHosts"
  | "oidcRedirectUrl"
  | "oidcScopes"
  | "oidcSignInText"
  | "oidcSignupsDisabledText"
  | "oidcUsernameField"
>

/** Reads the provider's discovery document and returns the provider. Fails if the provider answers without a usable document. */
export const make = (options: OidcOptions): Effect.Effect<LoginProvider, StartError, Scope.Scope> =>
  Effect.gen(function* () {
    const issuerUrl = yield* Effect.try({
      try: () => new URL(options.oidcIssuerUrl),
      catch: () => new StartError({ option: "options.oidcIssuerUrl", value: options.oidcIssuerUrl, reason: "must be a URL" })
    })
    if (options.oidcAccessTokenClaims && !options.oidcIgnoreUserinfo) {
      return yield* new StartError({ option: "options.oidcAccessTokenClaims", reason: "needs oidcIgnoreUserinfo" })
    }
    const { oidcRedirectUrl: redirect_url } = options
    if (redirect_url !== "" && !(URL.canParse(redirect_url) && /^https?:$/.test(new URL(redirect_url).protocol))) {
      return yield* new StartError({ option: "options.oidcRedirectUrl", value: redirect_url, reason: "must be an http or https URL" })
    }
    const rules = {
      username_field: options.oidcUsernameField,
      name_field: options.oidcNameField,
      email_field: options.oidcEmailField,
      email_domain: listedValues(options.oidcEmailDomain),
      ignore_email_verified: options.oidcIgnoreEmailVerified
    }
    const discovered = yield* discovery({
      issuerUrl,
      clientId: options.oidcClientId,
      clientSecret: Redacted.value(options.oidcClientSecret),
      skipsIssuerChecks: options.dangerousOidcSkipIssuerChecks
    }).pipe(
      Effect.mapError(
        ({ detail, message }) =>
          new StartError({
            option: "options.oidcIssuerUrl",
            value: options.oidcIssuerUrl,
            reason: detail === undefined ? message : `${message} ${detail}`
          })
      )
    )

    return {
      type: "oidc",
      allow_signups: options.oidcAllowSignups,
      signups_disabled_text: options.oidcSignupsDisabledText,
      email_fallback: options.dangerousOidcEmailFallback,
      sign_in_text: options.oidcSignInText,
      icon_url: options.oidcIconUrl,
      redirect_url,
      redirect_allowed_hosts: options.oidcRedirectAllowedHosts,
      pkce: Effect.map(discovered, ({ metadata }) => metadata.code_challenge_methods_supported?.includes("S256") === true),
      start: ({ code_challenge, nonce, redirect_uri, state }) =>
        Effect.flatMap(discovered, ({ configuration }) =>
          Effect.try({
            try: () =>
              client.buildAuthorizationUrl(configuration, {
                ...options.oidcAuthUrlParams,
                response_type: "code",
                scope: listedValues(options.oidcScopes).join(" "),
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
            catch: (error) => (isUnusable(error) ? wrongToken(error) : failed("The provider refused the code.")(error))
          })
          yield* verified(given.id_token ?? "", provider)
          const id_token_claims: Claims = { ...given.claims() }
          if (!id_token_claims["sub"]) return yield* new Invalid({ message: "The provider did not identify you." })
          const claims: LinkClaims = { id_token_claims, ...(yield* mergedClaims(options, given, id_token_claims, provider)) }
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
