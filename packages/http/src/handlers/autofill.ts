import { ParameterAutofill } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { Contract } from "../contract/Contract.js"
import * as Handlers from "./Handlers.js"

export const autofill = Handlers.group(Contract, "autofill", (handlers) =>
  Effect.map(ParameterAutofill, (autofill) =>
    handlers.handle("listAutofillParameters", ({ path, urlParams }) => autofill.list(path.user, urlParams.template_id))
  )
)
