import { type Banner, DeploymentAppearance } from "@atelier/core/deployment"
import { Effect } from "effect"
import * as contract from "../../contract/deployment/appearance.js"
import * as Handlers from "../Handlers.js"

/** A banner as clients read it. */
const view = ({ background_color, enabled, message }: Banner) => ({
  enabled,
  ...(message === "" ? {} : { message }),
  ...(background_color === "" ? {} : { background_color })
})

const off: Banner = { enabled: false, message: "", background_color: "" }

export const appearance = Handlers.group(contract.appearance, (handlers) =>
  Effect.gen(function* () {
    const appearance = yield* DeploymentAppearance
    return handlers
      .handle("getAppearance", () =>
        Effect.map(appearance.get, ({ announcement_banners, service_banner, ...rest }) => ({
          ...rest,
          announcement_banners: announcement_banners.map(view),
          service_banner: view(service_banner)
        }))
      )
      .handle("updateAppearance", ({ payload: { service_banner = off, ...settings } }) =>
        // The older banner is read and not stored
        Effect.as(appearance.put(settings), {
          ...settings,
          announcement_banners: settings.announcement_banners.map(view),
          service_banner: view(service_banner)
        })
      )
  })
)
