/** What a form of a template version's parameters exchanges with the service. templates-and-provisioning.md §4.6. */
import { Uuid } from "@atelier/core/platform"
import { Diagnostic, FormOption, FormParameter, FormStyling, FormValidation } from "@atelier/core/provisioning"
import { Schema } from "effect"
import { Body, integer, map } from "../../wire/input.js"

/** What a user has filled in so far. Also each message of a client on the form's WebSocket. */
export const DynamicParametersRequest = Body({ id: integer, inputs: map(Schema.String), owner_id: Schema.optional(Uuid.Uuid) }).annotations(
  {
    identifier: "DynamicParametersRequest"
  }
)

const FriendlyDiagnostic = Diagnostic.annotations({ identifier: "FriendlyDiagnostic" })

const PreviewParameter = Schema.Struct({
  ...FormParameter.fields,
  styling: FormStyling.annotations({ identifier: "PreviewParameterStyling" }),
  options: Schema.Array(FormOption.annotations({ identifier: "PreviewParameterOption" })),
  validations: Schema.Array(FormValidation.annotations({ identifier: "PreviewParameterValidation" })),
  diagnostics: Schema.Array(FriendlyDiagnostic)
}).annotations({ identifier: "PreviewParameter" })

export const DynamicParametersResponse = Schema.Struct({
  id: Schema.Int,
  diagnostics: Schema.Array(FriendlyDiagnostic),
  parameters: Schema.Array(PreviewParameter)
}).annotations({ identifier: "DynamicParametersResponse" })
