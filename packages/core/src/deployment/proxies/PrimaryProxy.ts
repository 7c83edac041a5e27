import { Effect, Option, Schema } from "effect"
import { Access } from "../../access/index.js"
import { Invalid, refuseViolations } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Deployment } from "../Deployment.js"
import type { DeploymentOptions, Options } from "../options/DeploymentOptions.js"
import type { DeploymentValues } from "../DeploymentValues.js"
import type { ObservedProxy, ProxyFields } from "./WorkspaceProxies.js"
import { object, missing } from "./ProxyAccess.js"
import { textViolations } from "./ProxyFieldRules.js"

/** The deployment itself, as the first of its proxies. */
export const primaryName = "primary"

const PrimaryText = Schema.parseJson(Schema.Struct({ display_name: Schema.String, icon: Schema.String }))

const primaryKey = "primary_region"

/** The host names of apps, with the port of the deployment where the pattern has none. Empty where apps are served by path alone. */
export const appHostPattern = ({ accessUrl, wildcardAccessUrl }: Pick<Options, "accessUrl" | "wildcardAccessUrl">): string => {
  const { port } = new URL(accessUrl)
  return wildcardAccessUrl === "" || port === "" || /:\d+$/.test(wildcardAccessUrl) ? wildcardAccessUrl : `${wildcardAccessUrl}:${port}`
}

const decodePrimary = Schema.decodeOption(PrimaryText)

const encodePrimary = Schema.encodeSync(PrimaryText)

interface Needs {
  readonly values: DeploymentValues["Type"]
  readonly deploymentId: Deployment["Type"]["id"]
  readonly options: DeploymentOptions["Type"]
}

/** The deployment itself, shown as the first of its proxies. */
export const primaryProxy = ({ values, deploymentId, options }: Needs) => {
  const primary = Effect.gen(function* () {
    const now = yield* Timestamp.now
    const { display_name, icon } = Option.getOrElse(Option.flatMap(yield* values.get(primaryKey), decodePrimary), () => ({
      display_name: "Default",
      icon: "/emojis/1f3e1.png"
    }))
    const observed: ObservedProxy = {
      id: deploymentId,
      created_at: now,
      updated_at: now,
      deleted: false,
      name: primaryName,
      display_name,
      icon,
      url: options.accessUrl,
      wildcard_hostname: appHostPattern(options),
      derp_enabled: false,
      derp_only: false,
      version: "",
      status: { status: "ok", report: { errors: [], warnings: [] }, checked_at: now }
    }
    return observed
  })

  const isPrimary = (reference: string): boolean => reference === primaryName || reference === deploymentId

  const changePrimary = (fields: ProxyFields) =>
    Effect.gen(function* () {
      yield* Access.authorizeOrHide("update", object({ id: deploymentId }), missing)
      if (fields.name !== primaryName) return yield* Invalid.field("name", "of the primary proxy cannot be changed")
      yield* refuseViolations(textViolations(fields))
      yield* values.put(primaryKey, encodePrimary({ display_name: fields.display_name, icon: fields.icon }))
      return { proxy: yield* primary, token: undefined }
    })

  return { primary, isPrimary, changePrimary }
}

/** The result of {@link primaryProxy}. */
export type PrimaryProxy = ReturnType<typeof primaryProxy>
