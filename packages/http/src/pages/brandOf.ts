import { DeploymentAppearance, productName } from "@atelier/core/deployment"
import { Effect } from "effect"
import { type HttpSettings, Settings } from "../server/request/Settings.js"
import type { PageBrand } from "./page.js"

/** What pages show where the store is not asked: the host's own name and logo. */
export const brandOfHost = ({ appearance, names }: Pick<HttpSettings, "appearance" | "names">): PageBrand => ({
  name: appearance.name || productName(names.word),
  logo: appearance.logo,
  documentation: "",
  accent: appearance.accent
})

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
