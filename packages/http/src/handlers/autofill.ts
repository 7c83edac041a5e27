import { Autofill } from "@atelier/core/identity"
import { Effect } from "effect"
import { Contract } from "../contract/Contract.js"
import * as Handlers from "./Handlers.js"

export const autofill = Handlers.group(Contract, "autofill", (handlers) =>
  Effect.map(Autofill, ({ parameters }) =>
    handlers.handle("listAutofillParameters", ({ path, urlParams }) => parameters(path.user, urlParams.template_id))
  )
)
