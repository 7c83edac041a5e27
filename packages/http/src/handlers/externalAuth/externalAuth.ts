import { ExternalAuth, type ExternalAuthProvider } from "@atelier/core/externalAuth"
import { Timestamp } from "@atelier/core/platform"
import { Effect } from "effect"
import * as contract from "../../contract/externalAuth/externalAuth.js"
import * as Handlers from "../Handlers.js"

const providerView = (provider: ExternalAuthProvider) => ({
  id: provider.id,
  type: provider.type,
  device: provider.device_flow,
  display_name: provider.display_name,
  display_icon: provider.display_icon,
  allow_refresh: !provider.no_refresh,
  allow_validate: provider.validate_url !== "",
  supports_revocation: provider.revoke_url !== "",
  code_challenge_methods_supported: provider.code_challenge_methods_supported
})

export const externalAuth = Handlers.group(contract.externalAuth, (handlers) =>
  Effect.gen(function* () {
    const links = yield* ExternalAuth
    const providers = links.providers.map(providerView)

    return handlers
      .handle("listExternalAuth", () =>
        Effect.map(links.list(), (listed) => ({
          providers,
          links: listed.map((link) => ({ ...link, expires: link.expires ?? Timestamp.never }))
        }))
      )
      .handle("getExternalAuth", ({ path }) => links.get(path.externalauth))
      .handle("deleteExternalAuth", ({ path }) => links.unlink(path.externalauth))
      .handle("startExternalAuthDevice", ({ path }) => links.startDevice(path.externalauth))
      .handle("completeExternalAuthDevice", ({ path, payload }) => links.completeDevice(path.externalauth, payload.device_code))
  })
)
