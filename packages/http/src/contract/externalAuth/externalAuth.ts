/** The links of users to external providers, such as git hosts. deployment.md §10. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Numbers, Timestamp } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, needed, Path, text } from "../../wire/input.js"
import { dialectal } from "../../wire/dialect.js"
import { operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"
import { ExternalAuthDevice } from "../identity/externalLogins.js"

const Provider = Schema.Struct({
  id: Schema.String,
  type: Schema.String,
  device: Schema.Boolean,
  display_name: Schema.String,
  display_icon: Schema.String,
  allow_refresh: Schema.Boolean,
  allow_validate: Schema.Boolean,
  supports_revocation: Schema.Boolean,
  code_challenge_methods_supported: Schema.Array(Schema.String)
}).annotations({ identifier: "ExternalAuthLinkProvider" })

const Link = Schema.Struct({
  provider_id: Schema.String,
  created_at: Timestamp.Timestamp,
  updated_at: Timestamp.Timestamp,
  has_refresh_token: Schema.Boolean,
  /** The year 1 for a token that does not expire. */
  expires: Timestamp.Timestamp,
  authenticated: Schema.Boolean,
  /** Why the link is not authenticated. */
  validate_error: Schema.String
}).annotations({ identifier: "ExternalAuthLink" })

const User = Schema.Struct({
  id: Numbers.Integer,
  login: Schema.String,
  avatar_url: Schema.String,
  profile_url: Schema.String,
  name: Schema.String
}).annotations({ identifier: "ExternalAuthUser" })

const Installation = Schema.Struct({ id: Numbers.Integer, account: User, configure_url: Schema.String }).annotations({
  identifier: "ExternalAuthAppInstallation"
})

/** The reference tells it in the list alone. */
const SupportsRevocation = dialectal({
  standard: Schema.Boolean,
  reference: Schema.transform(Schema.Boolean, Schema.Boolean, { strict: true, decode: (supported) => supported, encode: () => false })
})

const ExternalAuth = Schema.Struct({
  authenticated: Schema.Boolean,
  device: Schema.Boolean,
  display_name: Schema.String,
  supports_revocation: SupportsRevocation,
  user: Schema.NullOr(User),
  app_installable: Schema.Boolean,
  app_install_url: Schema.String,
  installations: Schema.Array(Installation)
}).annotations({ identifier: "ExternalAuth" })

const byId = Path({ externalauth: Schema.String })

export const externalAuth = HttpApiGroup.make("externalAuth")
  .annotate(OpenApi.Description, "The caller's links to external providers, such as git hosts.")
  .add(
    HttpApiEndpoint.get("listExternalAuth", "/api/v2/external-auth")
      .annotateContext(
        operation(
          "List external authentication",
          "Returns the configured providers and the caller's links. Expired tokens are renewed, and all are validated."
        )
      )
      .addSuccess(
        Schema.Struct({ providers: Schema.Array(Provider), links: Schema.Array(Link) }).annotations({
          identifier: "ListUserExternalAuthResponse"
        })
      )
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getExternalAuth", "/api/v2/external-auth/:externalauth")
      .annotateContext(
        operation("Get external authentication", "Returns a provider and whether the caller is signed in to it. The token is validated.")
      )
      .setPath(byId)
      .addSuccess(ExternalAuth)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.del("deleteExternalAuth", "/api/v2/external-auth/:externalauth")
      .annotateContext(operation("Unlink a provider", "Removes the caller's link to a provider and revokes its tokens there."))
      .setPath(byId)
      .addSuccess(
        Schema.Struct({ token_revoked: Schema.Boolean, token_revocation_error: Schema.optional(Schema.String) }).annotations({
          identifier: "DeleteExternalAuthByIDResponse"
        })
      )
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("startExternalAuthDevice", "/api/v2/external-auth/:externalauth/device")
      .annotateContext(operation("Start a device flow", "Returns the codes of a new device authorization (RFC 8628) at a provider."))
      .setPath(byId)
      .addSuccess(ExternalAuthDevice)
      .addError(refusals("NotFound", "UpstreamFailure"))
  )
  .add(
    HttpApiEndpoint.post("completeExternalAuthDevice", "/api/v2/external-auth/:externalauth/device")
      .annotateContext(
        operation(
          "Complete a device flow",
          "Links the caller to a provider once the user has entered the code there. Until then, it is refused with the provider's code as the detail."
        )
      )
      .setPath(byId)
      .setPayload(Body({ device_code: needed(text) }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound"))
  )
  .middlewareEndpoints(Authenticated)
