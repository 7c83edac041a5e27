import { QuietHours } from "@atelier/core/identity"
import { Effect, Layer } from "effect"
import { Contract } from "../contract/Contract.js"
import { QuietHoursLicensed } from "../contract/quietHours.js"
import * as Handlers from "./Handlers.js"

const licensed = Layer.effect(
  QuietHoursLicensed,
  Effect.map(QuietHours, (hours) => hours.licensed)
)

export const quietHours = Handlers.group(Contract, "quietHours", (handlers) =>
  Effect.map(QuietHours, (hours) =>
    handlers
      .handle("getQuietHours", ({ path }) => hours.get(path.user))
      .handle("updateQuietHours", ({ path, payload }) => hours.change(path.user, payload.schedule))
  )
).pipe(Layer.provide(licensed))
