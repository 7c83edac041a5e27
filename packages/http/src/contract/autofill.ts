/** What forms for new workspaces are filled in with. identity.md §8.7. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import { Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../errors.js"
import { Path, StrictQuery } from "../input.js"
import { Authenticated } from "./authentication.js"

const UserParameter = Schema.Struct({ name: Schema.String, value: Schema.String }).annotations({ identifier: "UserParameter" })

export const autofill = HttpApiGroup.make("autofill")
  .add(
    HttpApiEndpoint.get("listAutofillParameters", "/api/v2/users/:user/autofill-parameters")
      .setPath(Path({ user: Schema.String }))
      .setUrlParams(StrictQuery({ template_id: Uuid.Uuid }))
      .addSuccess(Schema.Array(UserParameter))
      .addError(refusals("NotFound"))
  )
  .middlewareEndpoints(Authenticated)
