import { WorkspaceForms } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { Contract } from "../contract/Contract.js"
import * as Handlers from "./Handlers.js"

export const autofill = Handlers.group(Contract, "autofill", (handlers) =>
  Effect.map(WorkspaceForms, (forms) =>
    handlers.handle("listAutofillParameters", ({ path, urlParams }) => forms.lastParameterValues(path.user, urlParams.template_id))
  )
)
