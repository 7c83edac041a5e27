import { DeploymentOptions } from "@atelier/core/deployment"
import { type LoginProvider, LoginProviders } from "@atelier/core/identity"
import { service } from "@atelier/core/platform"
import { Effect } from "effect"
import { make as makeGitHub } from "./GitHub.js"
import { make as makeOpenIdConnect } from "./OpenIdConnect.js"

/** Fails where an option contradicts another one, and where the OpenID Connect provider answers without a usable discovery document. */
export const layer = (hosted: ReadonlyArray<LoginProvider>) =>
  service(
    LoginProviders,
    Effect.gen(function* () {
      const options = yield* DeploymentOptions
      const own = (type: LoginProvider["type"]) => hosted.some((provider) => provider.type === type)
      const providers = [...hosted]
      if (options.oidcClientId !== "" && !own("oidc")) providers.push(yield* makeOpenIdConnect(options))
      if (options.oauth2GithubClientId !== "" && !own("github")) providers.push(yield* Effect.try(() => makeGitHub(options)))
      return providers
    })
  )
