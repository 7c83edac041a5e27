import { Insights } from "@atelier/core/insights"
import { Effect } from "effect"
import { Contract } from "../contract/Contract.js"
import { OffsetQuery } from "../contract/insights.js"
import { queryReader } from "../server/decode.js"
import * as Handlers from "./Handlers.js"

export const insights = Handlers.group(Contract, "insights", (handlers) =>
  Effect.gen(function* () {
    const insights = yield* Insights
    const readOffset = queryReader(OffsetQuery.ast, [])
    return handlers
      .handle("getTemplateInsights", ({ urlParams }) => insights.templates({ ...urlParams, interval: urlParams.interval }))
      .handle("getUserActivity", ({ urlParams }) => insights.userActivity(urlParams))
      .handle("getUserLatency", ({ urlParams }) => insights.userLatency(urlParams))
      .handle("getDaus", ({ urlParams }) =>
        insights.daus(
          Effect.suspend(() =>
            // The reader's type does not say what it reads
            Effect.map(readOffset(urlParams.tz_offset === undefined ? {} : { tz_offset: urlParams.tz_offset }), (read) => {
              const { tz_offset } = read as typeof OffsetQuery.Type
              return tz_offset
            })
          )
        )
      )
      .handle("getTemplateDaus", ({ path, urlParams }) => insights.templateDaus(path.template, urlParams.tz_offset))
      .handle("getUserStatusCounts", ({ urlParams }) => insights.userStatusCounts(urlParams))
      .handle("getDeploymentStats", () => insights.deploymentStats())
  })
)
