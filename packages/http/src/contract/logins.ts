/** How one logs in with a password, and out, and what ways there are. identity.md §6. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import { LoginType } from "@atelier/core/identity"
import { Schema } from "effect"
import { refusals, Response } from "../errors.js"
import { Body, Path, secret, text } from "../input.js"
import { Limiter, TrailingSlash } from "./annotations.js"
import { Authenticated } from "./authentication.js"

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
  .add(HttpApiEndpoint.post("logOut", "/api/v2/users/logout").addSuccess(Response).addError(refusals("NotFound")))
  .add(
    HttpApiEndpoint.get("getLoginType", "/api/v2/users/:user/login-type")
      .setPath(Path(user))
      .addSuccess(Schema.Struct({ login_type: LoginType }).annotations({ identifier: "UserLoginType" }))
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.put("updatePassword", "/api/v2/users/:user/password")
      .setPath(Path(user))
      .setPayload(Body({ password: secret, old_password: secret }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(Limiter, "login")
      .annotate(TrailingSlash, true)
  )
  .middlewareEndpoints(Authenticated)
  .add(HttpApiEndpoint.get("listLoginMethods", "/api/v2/users/authmethods").addSuccess(LoginMethods))
  .add(
    HttpApiEndpoint.post("logIn", "/api/v2/users/login")
      .setPayload(Body({ email: text, password: secret }))
      .addSuccess(
        Schema.Struct({ session_token: Schema.Redacted(Schema.String) }).annotations({ identifier: "LoginWithPasswordResponse" }),
        { status: 201 }
      )
      .addError(refusals("Unauthenticated", "Forbidden"))
      .annotate(Limiter, "login")
  )
  .add(
    HttpApiEndpoint.post("validatePassword", "/api/v2/users/validate-password")
      .setPayload(Body({ password: secret }))
      .addSuccess(
        Schema.Struct({ valid: Schema.Boolean, details: Schema.String }).annotations({ identifier: "ValidateUserPasswordResponse" })
      )
      .annotate(Limiter, "login")
  )
