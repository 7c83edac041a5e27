import { LoginMethods, type OfferedLogins, Sessions, UserPasswords } from "@atelier/core/identity"
import { Effect, Redacted } from "effect"
import * as contract from "../../contract/identity/logins.js"
import { callInfo } from "../../server/request/CurrentRequest.js"
import { json } from "../../server/codec/respond.js"
import { sessionCookie } from "../../server/credentials/SessionCookie.js"
import { Settings } from "../../server/request/Settings.js"
import * as Handlers from "../Handlers.js"

/** There is no vendor whose GitHub client could be the default one. */
const loginMethodsView = ({ github, oidc, password, terms_of_service_url }: OfferedLogins) => ({
  ...(terms_of_service_url === "" ? {} : { terms_of_service_url }),
  password: { enabled: password },
  github: { enabled: github !== undefined, default_provider_configured: false },
  oidc: { enabled: oidc !== undefined, signInText: oidc?.sign_in_text ?? "", iconUrl: oidc?.icon_url ?? "" }
})

export const logins = Handlers.group(contract.logins, (handlers) =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const passwords = yield* UserPasswords
    const methods = yield* LoginMethods
    const cookie = sessionCookie(yield* Settings)
    return handlers
      .handle("logIn", ({ payload }) =>
        Effect.gen(function* () {
          const token = Redacted.value(yield* sessions.logIn(payload, yield* callInfo))
          return cookie.set(json(201, { session_token: token }), token)
        })
      )
      .handle("logOut", () => Effect.as(sessions.logOut(), cookie.clear(json(200, { message: "Logged out." }))))
      .handle("getLoginType", ({ path }) => Effect.map(methods.ofUser(path.user), (login_type) => ({ login_type })))
      .handle("listLoginMethods", () => Effect.map(methods.offered, loginMethodsView))
      .handle("updatePassword", ({ path, payload }) => passwords.change(path.user, payload))
      .handle("validatePassword", ({ payload }) => passwords.validate(payload.password))
  })
)
