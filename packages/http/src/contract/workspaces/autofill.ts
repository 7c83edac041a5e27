/** Values that forms for new workspaces start with. identity.md §8.7. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Path, StrictQuery } from "../../wire/input.js"
import { operation } from "../annotations.js"
import { Authenticated } from "../authentication.js"

const UserParameter = Schema.Struct({ name: Schema.String, value: Schema.String }).annotations({ identifier: "UserParameter" })

export const autofill = HttpApiGroup.make("autofill")
  .annotate(OpenApi.Description, "Values that forms for new workspaces start with.")
  .add(
    HttpApiEndpoint.get("listAutofillParameters", "/api/v2/users/:user/autofill-parameters")
      .annotateContext(
        operation(
          "List autofill parameters",
          "Returns the parameter values of a user's latest workspace of a template, which a form for a new one can start with."
        )
      )
      .setPath(Path({ user: Schema.String }))
      .setUrlParams(StrictQuery({ template_id: Uuid.Uuid }))
      .addSuccess(Schema.Array(UserParameter))
      .addError(refusals("NotFound"))
  )
  .middlewareEndpoints(Authenticated)
