import { callbackUrl, type OAuth2App, OAuth2Apps, type OAuth2AppSecret } from "@atelier/core/oauth2"
import { Effect } from "effect"
import * as contract from "../../contract/oauth2/oauth2Provider.js"
import type { OAuth2ProviderApp } from "../../contract/oauth2/oauth2Provider.js"
import { Settings } from "../../server/request/Settings.js"
import * as Handlers from "../Handlers.js"

const appViewAt =
  (accessUrl: string) =>
  (app: OAuth2App): OAuth2ProviderApp => ({
    id: app.id,
    name: app.name,
    callback_url: callbackUrl(app),
    icon: app.icon,
    endpoints: {
      authorization: `${accessUrl}/oauth2/authorize`,
      token: `${accessUrl}/oauth2/tokens`,
      token_revoke: `${accessUrl}/oauth2/revoke`,
      device_authorization: `${accessUrl}/oauth2/device_authorization`
    }
  })

const secretView = ({ id, last_used_at, truncated }: OAuth2AppSecret) => ({ id, last_used_at, client_secret_truncated: truncated })

export const oauth2Provider = Handlers.group(contract.oauth2Provider, (handlers) =>
  Effect.gen(function* () {
    const apps = yield* OAuth2Apps
    const appView = appViewAt((yield* Settings).accessUrl)
    return handlers
      .handle("listOAuth2Apps", ({ urlParams }) => Effect.map(apps.list(urlParams.user_id), (all) => all.map(appView)))
      .handle("createOAuth2App", ({ payload }) => Effect.map(apps.create(payload), appView))
      .handle("getOAuth2App", ({ path }) => Effect.map(apps.get(path.app), appView))
      .handle("updateOAuth2App", ({ path, payload }) => Effect.map(apps.update(path.app, payload), appView))
      .handle("deleteOAuth2App", ({ path }) => apps.delete(path.app))
      .handle("listOAuth2AppSecrets", ({ path }) => Effect.map(apps.secrets(path.app), (all) => all.map(secretView)))
      .handle("createOAuth2AppSecret", ({ path }) =>
        Effect.map(apps.createSecret(path.app), ({ id, text }) => ({ id, client_secret_full: text }))
      )
      .handle("deleteOAuth2AppSecret", ({ path }) => apps.deleteSecret(path.app, path.secretID))
      .handle("getOAuth2Settings", () => apps.settings())
      .handle("updateOAuth2Settings", ({ payload }) => apps.updateSettings(payload))
  })
)
