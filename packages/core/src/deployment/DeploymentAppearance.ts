/** How a deployment presents itself: its name, logo, banners and links. deployment.md §7. */
import { Context, Effect, Option, Schema } from "effect"
import { Access, AccessObjects } from "../access/index.js"
import { isUnsafeAddress } from "../platform/texts/Address.js"
import { Invalid, type Forbidden } from "../platform/Errors.js"
import { DeploymentOptions } from "./options/DeploymentOptions.js"
import { DeploymentValues } from "./DeploymentValues.js"
import { Entitlements, requireFeature } from "./licenses/Entitlements.js"
import * as Traced from "../platform/wiring/Traced.js"
import { service } from "../platform/wiring/Standing.js"
import type { SupportLink } from "./options/readers.js"
import type { CurrentActor } from "../access/actors/Actor.js"

/** A message above every page. */
export const Banner = Schema.Struct({
  enabled: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  message: Schema.optionalWith(Schema.String, { default: () => "" }),
  /** `#` and six hexadecimal digits. */
  background_color: Schema.optionalWith(Schema.String, { default: () => "" })
})
export interface Banner extends Schema.Schema.Type<typeof Banner> {}

const Stored = Schema.Struct({
  application_name: Schema.String,
  logo_url: Schema.String,
  announcement_banners: Schema.Array(Banner)
})

/** What an owner may set. */
export interface AppearanceSettings extends Schema.Schema.Type<typeof Stored> {}

const nothing: AppearanceSettings = { application_name: "", logo_url: "", announcement_banners: [] }

const key = "appearance"

/** Browsers show the logo: only web servers and paths of this one are asked for it. */
const isShowable = (address: string): boolean =>
  !isUnsafeAddress(address) && (!/^\s*[a-z][a-z0-9+.-]*:/i.test(address) || /^https?:/i.test(address))

const validate = ({ announcement_banners, logo_url }: AppearanceSettings): Effect.Effect<void, Invalid> => {
  const wrong = announcement_banners.find(({ background_color }) => !/^#[0-9a-fA-F]{6}$/.test(background_color))
  if (wrong !== undefined)
    return new Invalid({
      message: `The background color ${JSON.stringify(wrong.background_color.slice(0, 100))} must be # and six hexadecimal digits.`
    })
  return isShowable(logo_url) ? Effect.void : Invalid.field("logo_url", "must be an http or https address, or a path")
}

/** The appearance as every caller sees it. */
export interface ShownAppearance {
  readonly service_banner: { readonly message: string; readonly enabled: boolean; readonly background_color: string }
  readonly support_links: ReadonlyArray<SupportLink>
  readonly docs_url: string
  readonly application_name: string
  readonly logo_url: string
  readonly announcement_banners: readonly { readonly message: string; readonly enabled: boolean; readonly background_color: string }[]
}

/** The methods of {@link DeploymentAppearance}. */
export interface DeploymentAppearanceService {
  /** Returns the stored settings, or none of them while the deployment is not licensed for them. */
  readonly settings: Effect.Effect<AppearanceSettings>

  /** The appearance as pages, users and agents see it. */
  readonly get: Effect.Effect<ShownAppearance>

  /** Replaces all settings. Fails with `Forbidden` unless the actor may change the deployment and the feature is licensed. */
  readonly put: (settings: AppearanceSettings) => Effect.Effect<void, Invalid | Forbidden, CurrentActor>
}

const make = Effect.gen(function* () {
  const values = yield* DeploymentValues
  const { docsUrl: docs_url, supportLinks: links } = yield* DeploymentOptions
  const licensed = yield* Entitlements
  const form = Schema.parseJson(Stored)
  const decode = Schema.decodeOption(form)
  const encode = Schema.encodeSync(form)
  const defaultLinks = docs_url === "" ? [] : [{ name: "Documentation", target: docs_url, icon: "docs" }]

  const settings = Effect.map(values.get(key), (stored) =>
    licensed.has("appearance") ? Option.getOrElse(Option.flatMap(stored, decode), () => nothing) : nothing
  )

  return {
    settings,
    get: Effect.map(settings, (shown) => ({
      ...shown,
      service_banner: shown.announcement_banners[0] ?? { enabled: false, message: "", background_color: "" },
      support_links: licensed.has("appearance") && links.length > 0 ? links : defaultLinks,
      docs_url
    })),
    put: Traced.fn("DeploymentAppearance.put")(function* (settings: AppearanceSettings) {
      yield* Access.authorize("update", AccessObjects.bare("deployment_config"))
      yield* requireFeature("appearance")
      yield* validate(settings)
      yield* values.put(key, encode(settings))
    })
  }
})

export class DeploymentAppearance extends Context.Tag("@atelier/core/DeploymentAppearance")<
  DeploymentAppearance,
  DeploymentAppearanceService
>() {
  static readonly layer = service(DeploymentAppearance, make)
}
