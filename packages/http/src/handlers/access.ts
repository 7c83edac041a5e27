import { AccessChecks } from "@atelier/core/access"
import { Effect } from "effect"
import { Contract } from "../contract/Contract.js"
import * as Handlers from "./Handlers.js"

export const access = Handlers.group(Contract, "access", (handlers) =>
  Effect.map(AccessChecks, (checks) => handlers.handle("checkAuthorization", ({ payload }) => checks.answer(payload.checks)))
)
