import { WorkspaceForms } from "@atelier/core/workspaces"
import { Effect } from "effect"
import * as contract from "../../contract/workspaces/autofill.js"
import * as Handlers from "../Handlers.js"

export const autofill = Handlers.group(contract.autofill, (handlers) =>
  Effect.map(WorkspaceForms, (forms) =>
    handlers.handle("listAutofillParameters", ({ path, urlParams }) => forms.lastParameterValues(path.user, urlParams.template_id))
  )
)
