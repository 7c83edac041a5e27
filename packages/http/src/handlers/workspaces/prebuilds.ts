import { Prebuilds } from "@atelier/core/workspaces"
import { Effect } from "effect"
import * as contract from "../../contract/workspaces/prebuilds.js"
import * as Handlers from "../Handlers.js"

export const prebuilds = Handlers.group(contract.prebuilds, (handlers) =>
  Effect.map(Prebuilds, (prebuilds) =>
    handlers
      .handle("getPrebuildsSettings", () => prebuilds.settings())
      .handle("updatePrebuildsSettings", ({ payload }) => prebuilds.changeSettings(payload.reconciliation_paused))
      .handle("invalidatePresets", ({ path }) => prebuilds.invalidate(path.template))
  )
)
