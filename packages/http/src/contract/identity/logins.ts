/** How one logs in with a password, and out, and what ways there are. identity.md §6. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { LoginType } from "@atelier/core/identity"
import { Schema } from "effect"
import { refusals, Response } from "../../wire/errors.js"
import { Body, needed, Path, secret, text } from "../../wire/input.js"
import { Limiter, operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

/** The ways to log in. identity.md §6.7. */
const LoginMethods = Schema.Struct({
  terms_of_service_url: Schema.optional(Schema.String),
  password: Schema.Struct({ enabled: Schema.Boolean }).annotations({ identifier: "AuthMethod" }),
  github: Schema.Struct({ enabled: Schema.Boolean, default_provider_configured: Schema.Boolean }).annotations({
    identifier: "GithubAuthMethod"
  }),
  oidc: Schema.Struct({ enabled: Schema.Boolean, signInText: Schema.String, iconUrl: Schema.String }).annotations({
    identifier: "OIDCAuthMethod"
  })
}).annotations({ identifier: "AuthMethods" })

const user = { user: Schema.String }

export const logins = HttpApiGroup.make("logins")
  .annotate(OpenApi.Description, "Login with a password, and logout.")
  .add(
    HttpApiEndpoint.post("logOut", "/api/v2/users/logout")
      .annotateContext(operation("Log out", "Ends the caller's session and clears its cookie."))
      .addSuccess(Response)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getLoginType", "/api/v2/users/:user/login-type")
      .annotateContext(operation("Get a user's login type", "Returns the login type of a user."))
      .setPath(Path(user))
      .addSuccess(Schema.Struct({ login_type: LoginType }).annotations({ identifier: "UserLoginType" }))
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.put("updatePassword", "/api/v2/users/:user/password")
      .annotateContext(operation("Change a password", "Sets a user's password. Users give their old password to change their own."))
      .setPath(Path(user))
      .setPayload(Body({ password: needed(secret), old_password: secret }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(Limiter, "login")
      .annotate(TrailingSlash, true)
  )
  .middlewareEndpoints(Authenticated)
  .add(
    HttpApiEndpoint.get("listLoginMethods", "/api/v2/users/authmethods")
      .annotateContext(operation("List login methods", "Returns the ways to log in that this deployment offers. Needs no credential."))
      .addSuccess(LoginMethods)
  )
  .add(
    HttpApiEndpoint.post("logIn", "/api/v2/users/login")
      .annotateContext(
        operation("Log in with a password", "Checks an email address and a password and returns a session token, also as a cookie.")
      )
      .setPayload(Body({ email: needed(text), password: needed(secret) }))
      .addSuccess(
        Schema.Struct({ session_token: Schema.Redacted(Schema.String) }).annotations({ identifier: "LoginWithPasswordResponse" }),
        { status: 201 }
      )
      .addError(refusals("Unauthenticated", "Forbidden"))
      .annotate(Limiter, "login")
  )
  .add(
    HttpApiEndpoint.post("validatePassword", "/api/v2/users/validate-password")
      .annotateContext(operation("Validate a password", "Says whether a password is strong enough, without storing it."))
      .setPayload(Body({ password: needed(secret) }))
      .addSuccess(
        Schema.Struct({ valid: Schema.Boolean, details: Schema.String }).annotations({ identifier: "ValidateUserPasswordResponse" })
      )
      .annotate(Limiter, "login")
  )
