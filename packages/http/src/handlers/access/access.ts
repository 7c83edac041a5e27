import { AccessChecks } from "@atelier/core/access"
import { Effect } from "effect"
import * as contract from "../../contract/access/access.js"
import * as Handlers from "../Handlers.js"

export const access = Handlers.group(contract.access, (handlers) =>
  Effect.map(AccessChecks, (checks) => handlers.handle("checkAuthorization", ({ payload }) => checks.answer(payload.checks)))
)
