/** Logins by GitHub and OpenID Connect. identity.md §6.6, §7. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { ExternalLoginType, LinkClaims } from "@atelier/core/identity"
import { Numbers, Timestamp, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, needed, Path, Query, secret, text } from "../../wire/input.js"
import { Limiter, operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

/** The query of a browser, on its way to the provider and back from there. */
const CallbackQuery = Query({
  code: text,
  state: text,
  error: text,
  error_description: text,
  error_uri: text,
  /** Where to go on afterwards. */
  redirect: text,
  oidc_merge_state: text
})

export const ExternalAuthDevice = Schema.Struct({
  device_code: Schema.String,
  user_code: Schema.String,
  verification_uri: Schema.String,
  expires_in: Numbers.described(Numbers.Count, "Seconds until the codes expire."),
  interval: Numbers.described(Numbers.Count, "Seconds to wait between two attempts to log in.")
}).annotations({ identifier: "ExternalAuthDevice" })

export const externalLogins = HttpApiGroup.make("externalLogins")
  .annotate(OpenApi.Description, "Login with GitHub and OpenID Connect.")
  .add(
    HttpApiEndpoint.post("convertLogin", "/api/v2/users/:user/convert-login")
      .annotateContext(
        operation(
          "Convert a login",
          "Begins the change of the caller's login type from a password to an external provider. The state is used once, in the provider's callback."
        )
      )
      .setPath(Path({ user: Schema.String }))
      .setPayload(Body({ to_type: needed(text), password: needed(secret) }))
      .addSuccess(
        Schema.Struct({
          state_string: Schema.String,
          expires_at: Timestamp.Timestamp,
          to_type: ExternalLoginType,
          user_id: Uuid.Uuid
        }).annotations({ identifier: "OAuthConversionResponse" }),
        { status: 201 }
      )
      .addError(refusals("NotFound", "Forbidden", "Unauthenticated"))
      .annotate(Limiter, "login")
  )
  .add(
    HttpApiEndpoint.get("getOidcClaims", "/api/v2/users/oidc-claims")
      .annotateContext(
        operation("Get the caller's claims", "Returns the claims that the OpenID Connect provider sent at the caller's last login.")
      )
      .addSuccess(
        Schema.Struct({ claims: Schema.Record({ key: Schema.String, value: Schema.Unknown }) }).annotations({
          identifier: "OIDCClaimsResponse"
        })
      )
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getUserClaims", "/api/v2/debug/:user/debug-link")
      .annotateContext(
        operation(
          "Get a user's claims",
          "Returns all claims that the OpenID Connect provider sent at the user's last login, for operators who look for mistakes in its settings."
        )
      )
      .setPath(Path({ user: Schema.String }))
      .addSuccess(LinkClaims.annotations({ identifier: "OIDCLinkClaims" }))
      .addError(refusals("Forbidden", "NotFound"))
  )
  .middlewareEndpoints(Authenticated)
  .add(
    HttpApiEndpoint.get("oidcCallback", "/api/v2/users/oidc/callback")
      .annotateContext(
        operation(
          "Log in with OpenID Connect",
          "Sends the browser to the OpenID Connect provider; with a `code` from there, logs the user in and redirects to the application."
        )
      )
      .setUrlParams(CallbackQuery)
      .addSuccess(HttpApiSchema.Empty(307))
      .addError(refusals("Unauthenticated", "Forbidden", "Conflict"))
      .annotate(Limiter, "login")
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("githubCallback", "/api/v2/users/oauth2/github/callback")
      .annotateContext(
        operation(
          "Log in with GitHub",
          "Sends the browser to GitHub; with a `code` from there, logs the user in. The device flow gets the target as JSON in place of a redirect."
        )
      )
      .setUrlParams(CallbackQuery)
      .addSuccess(HttpApiSchema.Empty(307))
      .addSuccess(Schema.Struct({ redirect_url: Schema.String }).annotations({ identifier: "OAuth2DeviceFlowCallbackResponse" }))
      .addError(refusals("Unauthenticated", "Forbidden", "Conflict"))
      .annotate(Limiter, "login")
  )
  .add(
    HttpApiEndpoint.get("startGithubDevice", "/api/v2/users/oauth2/github/device")
      .annotateContext(operation("Start a GitHub device login", "Returns the codes of a new device authorization (RFC 8628) at GitHub."))
      .addSuccess(ExternalAuthDevice)
      .annotate(Limiter, "login")
  )
