import { DeploymentAppearance, productName } from "@atelier/core/deployment"
import { Effect } from "effect"
import { Settings } from "../server/request/Settings.js"
import type { PageBrand } from "./page.js"

/** The name, the logo and the documentation that pages show now. deployment.md §7. */
export const brandOf = Effect.map(
  Effect.all([DeploymentAppearance, Settings]),
  ([appearance, { appearance: ofHost, names }]): Effect.Effect<PageBrand> =>
    Effect.map(appearance.get, ({ application_name, docs_url, logo_url }) => ({
      name: application_name || ofHost.name || productName(names.word),
      logo: logo_url || ofHost.logo,
      documentation: docs_url,
      accent: ofHost.accent
    }))
)
