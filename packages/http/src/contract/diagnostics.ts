/** What operators look at: metrics and health. notifications-audit-insights.md Part E. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { contentType } from "@atelier/core/insights"
import { refusals } from "../errors.js"
import { operation } from "./annotations.js"
import { Authenticated } from "./authentication.js"

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
  .middlewareEndpoints(Authenticated)
