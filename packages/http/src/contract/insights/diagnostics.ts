/** What operators look at: metrics and health. notifications-audit-insights.md Part E. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { contentType, HealthReport, HealthSection } from "@atelier/core/insights"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, list, Query, text } from "../../wire/input.js"
import { AlsoAnswers, operation, Streaming, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

const HealthSettings = Schema.Struct({ dismissed_healthchecks: Schema.Array(HealthSection) }).annotations({ identifier: "HealthSettings" })

/** What gzip compresses: a profile, or an archive of some. */
const profile = HttpApiSchema.Uint8Array({ contentType: "application/gzip" })

/** The endpoint of a profile that is taken for some seconds. */
const aProfile = <const Name extends string>(name: Name, path: `/api/v2/debug/pprof/${string}`, title: string, description: string) =>
  HttpApiEndpoint.get(name, path)
    .annotateContext(operation(title, description))
    .setUrlParams(Query({ seconds: text }))
    .addSuccess(profile)
    .addError(refusals("Forbidden", "Conflict"))

export const diagnostics = HttpApiGroup.make("diagnostics")
  .annotate(OpenApi.Description, "The metrics and the health of the deployment, for its operators.")
  .add(
    HttpApiEndpoint.get("getMetrics", "/api/v2/debug/metrics")
      .annotateContext(
        operation("Get metrics", "Returns the metrics of the answering process and of the deployment, in the text format of Prometheus.")
      )
      .addSuccess(HttpApiSchema.Text({ contentType }))
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getHealth", "/api/v2/debug/health")
      .annotateContext(
        operation(
          "Get the health report",
          "Returns what the answering process finds out about the deployment. A report is kept for some minutes; `force=true` asks for a new one. `format` is `json` or `text`."
        )
      )
      .setUrlParams(Query({ force: text, format: text }))
      .addSuccess(HealthReport)
      .addError(refusals("Forbidden", "Invalid", "UpstreamUnavailable"))
      .annotate(AlsoAnswers, { "200": { "text/plain": { schema: { type: "string" } } } })
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getHealthSettings", "/api/v2/debug/health/settings")
      .annotateContext(operation("Get the health settings", "Returns the checks whose findings operators have dismissed."))
      .addSuccess(HealthSettings)
      .addError(refusals("Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.put("updateHealthSettings", "/api/v2/debug/health/settings")
      .annotateContext(
        operation("Change the health settings", "Replaces the dismissed checks. Answers 204 if they are those that are stored.")
      )
      .setPayload(Body({ dismissed_healthchecks: list(HealthSection, 100) }))
      .addSuccess(HealthSettings)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("echoWebSocket", "/api/v2/debug/ws")
      .annotateContext(
        operation(
          "Test a WebSocket",
          "Upgrades to a WebSocket that returns every message, with which the health report tests the way to it."
        )
      )
      .addSuccess(HttpApiSchema.Empty(101))
      .addError(refusals("Forbidden", "UpgradeRequired"))
      .annotate(Streaming, true)
  )
  .add(
    HttpApiEndpoint.get("getProcessVariables", "/api/v2/debug/expvar")
      .annotateContext(operation("Get process variables", "Returns the memory and the times of the answering process."))
      .addSuccess(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("listProfiles", "/api/v2/debug/pprof")
      .annotateContext(operation("List profiles", "Shows a page that links to the profiles of the answering process."))
      .addSuccess(HttpApiSchema.Text({ contentType: "text/html" }))
      .addSuccess(HttpApiSchema.Empty(307))
      .addError(refusals("Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getCommandLine", "/api/v2/debug/pprof/cmdline")
      .annotateContext(
        operation("Get the command line", "Returns the name of the program. Its arguments are left out, because they may be secret.")
      )
      .addSuccess(HttpApiSchema.Text())
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getSymbols", "/api/v2/debug/pprof/symbol")
      .annotateContext(operation("Get symbols", "Says that no symbols can be asked for: the profiles hold the names of functions."))
      .addSuccess(HttpApiSchema.Text())
      .addError(refusals("Forbidden"))
  )
  .add(
    aProfile(
      "takeCpuProfile",
      "/api/v2/debug/pprof/profile",
      "Profile the processor",
      "Profiles the answering process for `seconds`, 30 unless given and at most 60, in the format of pprof."
    )
  )
  .add(
    aProfile(
      "takeHeapProfile",
      "/api/v2/debug/pprof/heap",
      "Profile the memory",
      "Returns which calls of the next `seconds`, 5 unless given and at most 60, allocate memory that stays, in the format of pprof."
    )
  )
  .add(
    HttpApiEndpoint.post("collectProfiles", "/api/v2/debug/profile")
      .annotateContext(
        operation(
          "Collect profiles",
          "Takes several profiles at once, and returns them in a tar archive. `duration` is 30 s unless given and at most a minute, `profiles` a list of `cpu` and `heap`."
        )
      )
      .setUrlParams(Query({ duration: text, profiles: text }))
      .addSuccess(profile)
      .addError(refusals("Forbidden", "Conflict"))
  )
  .middlewareEndpoints(Authenticated)
