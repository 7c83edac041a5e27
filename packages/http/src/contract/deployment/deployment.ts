/** The service itself: its address, version and health. deployment.md §1. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Numbers, Timestamp } from "@atelier/core/platform"
import { Schema, Struct } from "effect"
import { dialectal } from "../../wire/dialect.js"
import { refusals, Response } from "../../wire/errors.js"
import { operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

/** The version and features of the running service. deployment.md §1.2. */
export const BuildInfo = Schema.Struct({
  /** Semantic version with the prefix `v`. */
  version: Schema.String,
  /** Where the source of that version is. */
  external_url: Schema.String,
  dashboard_url: Schema.String,
  /** Whether the service reports about its use. */
  telemetry: Schema.Boolean,
  workspace_proxy: Schema.Boolean,
  agent_api_version: Schema.String,
  provisioner_api_version: Schema.String,
  upgrade_message: Schema.String,
  deployment_id: Schema.String,
  webpush_public_key: Schema.optional(Schema.String)
}).annotations({ identifier: "BuildInfoResponse" })
export interface BuildInfo extends Schema.Schema.Type<typeof BuildInfo> {}

/** Whether a feature is granted and switched on. deployment.md §5.2. */
const Feature = Schema.Struct({
  entitlement: Schema.Literal("entitled", "grace_period", "not_entitled"),
  enabled: Schema.Boolean,
  /** The amount that is granted; absent where none is claimed. */
  limit: Schema.optional(Numbers.Count),
  /** The measured amount. */
  actual: Schema.optional(Numbers.Count),
  /** The period that the amount counts in. */
  usage_period: Schema.optional(Schema.Struct({ issued_at: Timestamp.Timestamp, start: Timestamp.Timestamp, end: Timestamp.Timestamp }))
}).annotations({ identifier: "Feature" })

const Features = Schema.Record({ key: Schema.String, value: Feature })

/** The reference does not know this feature. */
const KnownFeatures = dialectal({
  standard: Features,
  reference: Schema.transform(Features, Schema.typeSchema(Features), {
    strict: true,
    decode: (features) => features,
    encode: (features) => Struct.omit(features, "agent_runtime_hours")
  })
})

/** All features, with the warnings of their licenses. deployment.md §5. */
const Entitlements = Schema.Struct({
  /** Every feature by name. */
  features: KnownFeatures,
  warnings: Schema.Array(Schema.String),
  errors: Schema.Array(Schema.String),
  /** Whether any feature is granted. */
  has_license: Schema.Boolean,
  trial: Schema.Boolean,
  require_telemetry: Schema.Boolean,
  /** When the rest was found out. */
  refreshed_at: Timestamp.Timestamp
}).annotations({ identifier: "Entitlements" })

/** The state of one kind of background work in a process. */
const BackgroundWork = Schema.Struct({
  name: Schema.String,
  /** Loops that run, such as one for each connection. */
  loops: Schema.Int,
  /** Loops whose last turn failed. */
  failing: Schema.Int,
  last_success_at: Schema.NullOr(Timestamp.Timestamp),
  last_failure_at: Schema.NullOr(Timestamp.Timestamp),
  /** The name of the last error. */
  last_failure: Schema.NullOr(Schema.String),
  /** Turns that failed since one succeeded. */
  consecutive_failures: Schema.Int,
  /** Items, such as rows, that could not be dealt with since the process started. */
  failed_items: Schema.Int
}).annotations({ identifier: "BackgroundWork" })

/** One of several processes that serve an address. */
const WorkerHealth = Schema.Struct({
  /** From 1; a process that takes another one's place has its number. */
  number: Schema.Int,
  /** The id of the process; null if it could not be started. */
  pid: Schema.NullOr(Schema.Int),
  /** A `silent` worker has given no sign of life for ten seconds. */
  activity: Schema.Literal("starting", "serving", "silent", "ending", "dead"),
  /** When that began. */
  since: Timestamp.Timestamp,
  /** Processes that were started for this number. */
  starts: Schema.Int
}).annotations({ identifier: "WorkerHealth" })

export const HealthDetails = Schema.Struct({
  /** Whether no loop of background work fails. */
  ok: Schema.Boolean,
  background: Schema.Array(BackgroundWork),
  /** The processes that serve the address; empty if one does. */
  workers: Schema.Array(WorkerHealth)
}).annotations({ identifier: "HealthDetails" })

export const deployment = HttpApiGroup.make("deployment")
  .annotate(OpenApi.Description, "The service's version and health.")
  .add(
    HttpApiEndpoint.get("index", "/api/v2")
      .annotateContext(operation("Greet a client", "Confirms that the service answers below this path."))
      .addSuccess(Response)
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("buildInfo", "/api/v2/buildinfo")
      .annotateContext(
        operation(
          "Get build information",
          "Returns the version that runs, the versions of its protocols and where it is reached. Needs no credential."
        )
      )
      .addSuccess(BuildInfo)
  )
  .add(
    HttpApiEndpoint.get("entitlements", "/api/v2/entitlements")
      .annotateContext(operation("Get entitlements", "Returns every licensed feature with whether it is granted and whether it is on."))
      .addSuccess(Entitlements)
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.get("health", "/healthz")
      .annotateContext(operation("Check liveness", "Answers `OK` while the process serves requests. Needs no credential."))
      .addSuccess(HttpApiSchema.Text({ contentType: "text/plain; charset=utf-8" }))
  )
  .add(
    HttpApiEndpoint.get("healthDetails", "/healthz/details")
      .annotateContext(
        operation(
          "Get the state of background work",
          "Returns how the background work of the process that answers fares. Requires permission to read debugging information."
        )
      )
      .addSuccess(HealthDetails)
      .addError(refusals("Forbidden"))
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.get("ready", "/readyz")
      .annotateContext(
        operation(
          "Check readiness",
          "Returns `OK` while the process accepts requests and the store answers, otherwise 503. The text reports a store without room for writes, and the state of each of several processes. Needs no credential."
        )
      )
      .addSuccess(HttpApiSchema.Text({ contentType: "text/plain; charset=utf-8" }))
  )
  .add(
    HttpApiEndpoint.get("latencyCheck", "/latency-check")
      .annotateContext(
        operation("Measure latency", "Answers `OK` at once, from any origin, so that browsers can measure the latency to the service.")
      )
      .addSuccess(HttpApiSchema.Text({ contentType: "text/plain; charset=utf-8" }))
  )
