import { DeploymentMetrics } from "@atelier/core/insights"
import { Effect } from "effect"
import { Contract } from "../contract/Contract.js"
import * as Handlers from "./Handlers.js"

export const diagnostics = Handlers.group(Contract, "diagnostics", (handlers) =>
  Effect.map(DeploymentMetrics, (metrics) => handlers.handle("getMetrics", () => metrics.read))
)
