import { Deployment, DeploymentOptions, Replicas } from "@atelier/core/deployment"
import { Effect } from "effect"
import { Contract } from "../contract/Contract.js"
import * as Handlers from "./Handlers.js"

export const regions = Handlers.group(Contract, "regions", (handlers) =>
  Effect.gen(function* () {
    const replicas = yield* Replicas
    const { id } = yield* Deployment
    const { accessUrl, wildcardAccessUrl } = yield* DeploymentOptions
    const primary = {
      id,
      name: "primary",
      display_name: "Default",
      icon_url: "/emojis/1f3e1.png",
      healthy: true,
      path_app_url: accessUrl,
      wildcard_hostname: wildcardAccessUrl
    }
    return handlers.handle("listReplicas", () => replicas.list).handle("listRegions", () => Effect.succeed({ regions: [primary] }))
  })
)
