/** How a deployment presents itself. deployment.md §7. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Access, AccessObjects } from "@atelier/core/access"
import { Banner } from "@atelier/core/deployment"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, list, text } from "../../wire/input.js"
import { operation, RightFirst, TrailingSlash } from "../annotations.js"
import { Authenticated, UserOrAgentAuthenticated } from "../authentication.js"

/** Empty texts are left out. */
const BannerView = Schema.Struct({
  enabled: Schema.Boolean,
  message: Schema.optional(Schema.String),
  background_color: Schema.optional(Schema.String)
}).annotations({ identifier: "BannerConfig" })

const settings = {
  application_name: Schema.String,
  logo_url: Schema.String,
  announcement_banners: Schema.Array(BannerView),
  service_banner: BannerView
}

const Link = Schema.Struct({
  name: Schema.String,
  target: Schema.String,
  icon: Schema.String,
  location: Schema.optional(Schema.String)
}).annotations({ identifier: "LinkConfig" })

const AppearanceConfig = Schema.Struct({ ...settings, docs_url: Schema.String, support_links: Schema.Array(Link) }).annotations({
  identifier: "AppearanceConfig"
})

const UpdatedAppearance = Schema.Struct(settings).annotations({ identifier: "UpdateAppearanceConfig" })

export const appearance = HttpApiGroup.make("appearance")
  .annotate(OpenApi.Description, "The name, logo, banners and links of the deployment.")
  .add(
    HttpApiEndpoint.get("getAppearance", "/api/v2/appearance")
      .annotateContext(operation("Get the appearance", "Returns the name, logo, banners and links that pages and agents show."))
      .addSuccess(AppearanceConfig)
      .middleware(UserOrAgentAuthenticated)
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.put("updateAppearance", "/api/v2/appearance")
      .annotateContext(operation("Change the appearance", "Replaces the name, the logo and the announcement banners."))
      .setPayload(
        Body({
          application_name: text,
          logo_url: text,
          announcement_banners: list(Banner, 100),
          service_banner: Schema.optional(Banner)
        })
      )
      .addSuccess(UpdatedAppearance)
      .addError(refusals("Forbidden", "Invalid"))
      .annotate(RightFirst, Access.authorize("update", AccessObjects.bare("deployment_config")))
      .middleware(Authenticated)
      .annotate(TrailingSlash, true)
  )
