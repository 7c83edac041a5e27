import { QuietHours } from "@atelier/core/identity"
import { Effect } from "effect"
import * as contract from "../../contract/identity/quietHours.js"
import * as Handlers from "../Handlers.js"

export const quietHours = Handlers.group(contract.quietHours, (handlers) =>
  Effect.map(QuietHours, (hours) =>
    handlers
      .handle("getQuietHours", ({ path }) => hours.get(path.user))
      .handle("updateQuietHours", ({ path, payload }) => hours.change(path.user, payload.schedule))
  )
)
