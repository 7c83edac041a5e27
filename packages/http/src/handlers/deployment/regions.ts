import { appHostPattern, DeploymentOptions, Replicas, WorkspaceProxies } from "@atelier/core/deployment"
import { Effect } from "effect"
import * as contract from "../../contract/deployment/regions.js"
import * as Handlers from "../Handlers.js"

export const regions = Handlers.group(contract.regions, (handlers) =>
  Effect.gen(function* () {
    const replicas = yield* Replicas
    const proxies = yield* WorkspaceProxies
    const host = yield* Effect.map(DeploymentOptions, appHostPattern)
    return handlers
      .handle("listReplicas", () => replicas.list)
      .handle("listRegions", () =>
        Effect.map(proxies.regions, (all) => ({
          regions: all.map(({ display_name, icon, id, name, status, url, wildcard_hostname }) => ({
            id,
            name,
            display_name,
            icon_url: icon,
            healthy: status.status === "ok",
            path_app_url: url,
            wildcard_hostname
          }))
        }))
      )
      .handle("getAppHost", Handlers.constant({ host }))
  })
)
