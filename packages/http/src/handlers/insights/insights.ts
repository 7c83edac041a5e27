import { Insights } from "@atelier/core/insights"
import { Effect } from "effect"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as contract from "../../contract/insights/insights.js"
import { OffsetQuery } from "../../contract/insights/insights.js"
import { queryReader } from "../../server/codec/decode.js"
import { credentialQueriesOf } from "../../server/credentials/Credential.js"
import { Settings } from "../../server/request/Settings.js"
import * as Handlers from "../Handlers.js"

export const insights = Handlers.group(contract.insights, (handlers) =>
  Effect.gen(function* () {
    const insights = yield* Insights
    const readOffset = queryReader(OffsetQuery.ast, credentialQueriesOf(yield* Settings))
    return handlers
      .handle("getTemplateInsights", ({ urlParams }) => insights.templates({ ...urlParams, interval: urlParams.interval }))
      .handle("getUserActivity", ({ urlParams }) => insights.userActivity(urlParams))
      .handle("getUserLatency", ({ urlParams }) => insights.userLatency(urlParams))
      .handle("getDaus", () =>
        Effect.flatMap(HttpServerRequest.ParsedSearchParams, (query) =>
          // The reader's type does not say what it reads
          insights.daus(Effect.suspend(() => Effect.map(readOffset(query), (read) => (read as typeof OffsetQuery.Type).tz_offset)))
        )
      )
      .handle("getTemplateDaus", ({ path, urlParams }) => insights.templateDaus(path.template, urlParams.tz_offset))
      .handle("getUserStatusCounts", ({ urlParams }) => insights.userStatusCounts(urlParams))
      .handle("getDeploymentStats", () => insights.deploymentStats())
  })
)
