import { type LoginProvider, LoginProviders } from "@atelier/core/identity"
import { Effect, Layer } from "effect"
import { type GitHubOptions, make as makeGitHub } from "./GitHub.js"
import { make as makeOpenIdConnect, type OidcOptions } from "./OpenIdConnect.js"

/** Which providers of logins a deployment has. */
export interface LoginOptions {
  /** Logins by OpenID Connect; none unless given. deployment.md §3.8. */
  readonly oidc?: OidcOptions
  /** Logins by GitHub; none unless given. deployment.md §3.8. */
  readonly oauth2?: { readonly github?: GitHubOptions }
  /** The host's own providers; each stands for the one of its type. */
  readonly loginProviders?: ReadonlyArray<LoginProvider>
}

/** Fails where an option contradicts another one, and where the OpenID Connect provider cannot be discovered. */
export const layer = ({ loginProviders = [], oauth2, oidc }: LoginOptions) =>
  Layer.effect(
    LoginProviders,
    Effect.gen(function* () {
      const own = (type: LoginProvider["type"]) => loginProviders.some((provider) => provider.type === type)
      const providers = [...loginProviders]
      if (oidc !== undefined && !own("oidc")) providers.push(yield* makeOpenIdConnect(oidc))
      const { github } = oauth2 ?? {}
      if (github !== undefined && !own("github")) providers.push(yield* Effect.try(() => makeGitHub(github)))
      return providers
    })
  )
