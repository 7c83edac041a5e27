import { Context, Effect } from "effect"
import { CurrentActor } from "../../access/actors/Actor.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Forbidden, type NotFound } from "../../platform/Errors.js"
import { type LoginProvider, LoginProviders, providerOf } from "./LoginProvider.js"
import { Users } from "../users/Users.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"

/** The description of a provider on the login page. */
export type OfferedProvider = Pick<LoginProvider, "sign_in_text" | "icon_url">

/** The ways to log in that the deployment offers. identity.md §6.7. */
export interface OfferedLogins {
  readonly password: boolean
  /** The public settings of each provider; undefined if the deployment has no such provider. */
  readonly github: OfferedProvider | undefined
  readonly oidc: OfferedProvider | undefined
  /** Empty if the deployment has no terms of service. */
  readonly terms_of_service_url: string
}

/** The methods of {@link LoginMethods}. */
export interface LoginMethodsService {
  /** The login methods, which the login page shows without authentication. */
  readonly offered: Effect.Effect<OfferedLogins>

  /** How a user logs in. Fails with `Forbidden` for any other actor than the user, including user administrators. identity.md §8.7. */
  readonly ofUser: (
    reference: string
  ) => Effect.Effect<"" | "none" | "github" | "oidc" | "password" | "token", Forbidden | NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const users = yield* Users
  const providers = yield* LoginProviders
  const { disablePasswordAuth, termsOfServiceUrl } = yield* DeploymentOptions

  return {
    offered: Effect.succeed<OfferedLogins>({
      password: !disablePasswordAuth,
      github: providerOf(providers, "github"),
      oidc: providerOf(providers, "oidc"),
      terms_of_service_url: termsOfServiceUrl
    }),

    ofUser: Traced.fn("LoginMethods.ofUser")(function* (reference: string) {
      const { userId } = yield* CurrentActor
      const { id, login_type } = yield* users.get(reference)
      return id === userId ? login_type : yield* new Forbidden()
    })
  }
})

/** How one logs in. */
export class LoginMethods extends Context.Tag("@atelier/core/LoginMethods")<LoginMethods, LoginMethodsService>() {
  static readonly layer = standingOn(service(LoginMethods, make), Users.layer)
}
