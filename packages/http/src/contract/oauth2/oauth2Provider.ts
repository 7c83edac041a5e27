/** The clients of the authorization server as administrators keep them. oauth2-provider.md §11. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, needed, Path, Query, text } from "../../wire/input.js"
import { operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

export const OAuth2ProviderApp = Schema.Struct({
  id: Uuid.Uuid,
  name: Schema.String,
  callback_url: Schema.String,
  icon: Schema.String,
  endpoints: Schema.Struct({
    authorization: Schema.String,
    token: Schema.String,
    token_revoke: Schema.String,
    /** Empty: there is no device authorization. */
    device_authorization: Schema.String
  }).annotations({ identifier: "OAuth2AppEndpoints" })
}).annotations({ identifier: "OAuth2ProviderApp" })
export interface OAuth2ProviderApp extends Schema.Schema.Type<typeof OAuth2ProviderApp> {}

const Secret = Schema.Struct({
  id: Uuid.Uuid,
  last_used_at: Schema.NullOr(Timestamp.Timestamp),
  client_secret_truncated: Schema.String
}).annotations({ identifier: "OAuth2ProviderAppSecret" })

const NewSecret = Schema.Struct({ id: Uuid.Uuid, client_secret_full: Schema.Redacted(Schema.String) }).annotations({
  identifier: "OAuth2ProviderAppSecretFull"
})

const AppRequest = Body({ name: needed(text), callback_url: needed(text), icon: text })

const Settings = Schema.Struct({ dynamic_client_registration_enabled: Schema.Boolean }).annotations({
  identifier: "OAuth2ProviderSettings"
})

const app = { app: Uuid.Uuid }
const secret = { ...app, secretID: Uuid.Uuid }

export const oauth2Provider = HttpApiGroup.make("oauth2Provider")
  .annotate(OpenApi.Description, "Apps that act for users by OAuth2, their secrets, and the settings of the authorization server.")
  .add(
    HttpApiEndpoint.get("listOAuth2Apps", "/api/v2/oauth2-provider/apps")
      .annotateContext(
        operation("List OAuth2 apps", "Returns all apps by name. With `user_id` only those that have an access token of that user.")
      )
      .setUrlParams(Query({ user_id: Schema.optional(Uuid.Uuid) }))
      .addSuccess(Schema.Array(OAuth2ProviderApp))
      .addError(refusals("Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.post("createOAuth2App", "/api/v2/oauth2-provider/apps")
      .annotateContext(operation("Create an OAuth2 app", "Creates an app without a secret."))
      .setPayload(AppRequest)
      .addSuccess(OAuth2ProviderApp, { status: 201 })
      .addError(refusals("Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getOAuth2App", "/api/v2/oauth2-provider/apps/:app")
      .annotateContext(operation("Get an OAuth2 app", "Returns an app."))
      .setPath(Path(app))
      .addSuccess(OAuth2ProviderApp)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.put("updateOAuth2App", "/api/v2/oauth2-provider/apps/:app")
      .annotateContext(operation("Update an OAuth2 app", "Replaces the name, the callback URL and the icon of an app."))
      .setPath(Path(app))
      .setPayload(AppRequest)
      .addSuccess(OAuth2ProviderApp)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.del("deleteOAuth2App", "/api/v2/oauth2-provider/apps/:app")
      .annotateContext(operation("Delete an OAuth2 app", "Deletes an app with its secrets, codes and tokens."))
      .setPath(Path(app))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listOAuth2AppSecrets", "/api/v2/oauth2-provider/apps/:app/secrets")
      .annotateContext(operation("List an OAuth2 app's secrets", "Returns the last characters of each client secret, oldest first."))
      .setPath(Path(app))
      .addSuccess(Schema.Array(Secret))
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.post("createOAuth2AppSecret", "/api/v2/oauth2-provider/apps/:app/secrets")
      .annotateContext(
        operation("Create an OAuth2 app's secret", "Creates a client secret and shows it, this once. Earlier ones stay valid.")
      )
      .setPath(Path(app))
      .addSuccess(NewSecret, { status: 201 })
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.del("deleteOAuth2AppSecret", "/api/v2/oauth2-provider/apps/:app/secrets/:secretID")
      .annotateContext(operation("Delete an OAuth2 app's secret", "Deletes a client secret. Tokens that were issued with it end."))
      .setPath(Path(secret))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getOAuth2Settings", "/api/v2/oauth2-provider/settings")
      .annotateContext(operation("Get the OAuth2 settings", "Returns whether clients may register themselves."))
      .addSuccess(Settings)
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.put("updateOAuth2Settings", "/api/v2/oauth2-provider/settings")
      .annotateContext(operation("Update the OAuth2 settings", "Changes the settings that are given."))
      .setPayload(Body({ dynamic_client_registration_enabled: Schema.optional(Schema.Boolean) }))
      .addSuccess(Settings)
      .addError(refusals("Forbidden"))
  )
  .middlewareEndpoints(Authenticated)
