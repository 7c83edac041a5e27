import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Deployment, DeploymentOptions, Entitlements, type Feature, type GrantedFeature, featureStates } from "@atelier/core/deployment"
import { Health, ProcessGroup } from "@atelier/core/insights"
import { WebPush } from "@atelier/core/notifications"
import { Timestamp } from "@atelier/core/platform"
import { Effect, Record, Redacted } from "effect"
import * as contract from "../../contract/deployment/deployment.js"
import type { BuildInfo } from "../../contract/deployment/deployment.js"
import { Draining } from "../../server/operate/Draining.js"
import { licenseWarnings } from "../../server/operate/LicenseWarnings.js"
import * as Readiness from "../../server/operate/Readiness.js"
import { json } from "../../server/codec/respond.js"
import { Settings } from "../../server/request/Settings.js"
import { StoreFaults } from "../../server/operate/StoreFaults.js"
import * as Handlers from "../Handlers.js"

/** Scripts of any site may measure how far away the service is. deployment.md §1.1. */
const latencyHeaders = {
  "timing-allow-origin": "*",
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "*",
  "access-control-allow-methods": "*",
  "access-control-allow-credentials": "false"
}

/** A feature with its period as times. */
const wireFeature = ({ usage_period, ...feature }: GrantedFeature) => ({
  ...feature,
  ...(usage_period === undefined ? {} : { usage_period: Record.map(usage_period, (millis) => Timestamp.fromMillis(millis)) })
})

/** Where the source of the running version is. */
export const sourceUrl = "https://github.com/atelier/atelier"

const notReady = (message: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeader(json(503, { message }), "retry-after", "5")

export const deployment = Handlers.group(contract.deployment, (handlers) =>
  Effect.gen(function* () {
    const { id } = yield* Deployment
    const faults = yield* StoreFaults
    const readiness = yield* Readiness.make
    const { accessUrl, version } = yield* Settings
    const { browserOnly, cliUpgradeMessage, scimAuthHeader } = yield* DeploymentOptions
    const { isLeaving } = yield* Draining
    const health = yield* Health
    const group = yield* ProcessGroup
    const buildInfo: BuildInfo = {
      version,
      external_url: sourceUrl,
      dashboard_url: accessUrl,
      telemetry: false,
      workspace_proxy: false,
      agent_api_version: "1.0",
      provisioner_api_version: "1.18",
      upgrade_message: cliUpgradeMessage,
      deployment_id: id,
      webpush_public_key: yield* (yield* WebPush).publicKey
    }
    const licensed = yield* Entitlements
    const warnings = yield* licenseWarnings(licensed)
    const off: ReadonlySet<Feature> = new Set([
      ...(browserOnly ? [] : (["browser_only"] as const)),
      ...(Redacted.value(scimAuthHeader) === "" ? (["scim"] as const) : [])
    ])
    return handlers
      .handle("index", Handlers.constant({ message: "👋" }))
      .handle("buildInfo", Handlers.constant(buildInfo))
      .handle("entitlements", () =>
        Effect.map(Timestamp.now, (refreshed_at) => {
          const granted = licensed.grants?.()
          if (granted !== undefined) return { ...granted, features: Record.map(granted.features, wireFeature), refreshed_at }
          const features = featureStates(licensed, (feature) => !off.has(feature))
          const has_license = Object.values(features).some(({ entitlement }) => entitlement === "entitled")
          return { features, warnings: warnings(), errors: [], has_license, trial: false, require_telemetry: false, refreshed_at }
        })
      )
      .handle("health", Handlers.constant("OK"))
      .handle("healthDetails", () =>
        Effect.map(Effect.all([health.background, health.members]), ([background, workers]) => ({
          ok: background.every(({ failing }) => failing === 0),
          background,
          workers
        }))
      )
      .handle("ready", () =>
        Effect.gen(function* () {
          if (yield* isLeaving) return notReady("The service is shutting down.")
          const unavailable = yield* readiness
          if (unavailable !== undefined) return notReady(faults.textOf(unavailable))
          const own = (yield* faults.lasting) ?? "OK"
          const members = group === undefined ? [] : yield* group.members
          return [own, ...members.map(({ activity, number }) => `worker ${number}: ${activity}`)].join("\n")
        })
      )
      .handle("latencyCheck", () => Effect.succeed(HttpServerResponse.text("OK", { headers: latencyHeaders })))
  })
)
