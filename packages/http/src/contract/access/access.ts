/** Checks of permissions. authorization.md §5. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Schema } from "effect"
import { Body, flag, map, text } from "../../wire/input.js"
import { operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

const AuthorizationCheck = Body({
  object: Schema.optionalWith(
    Body({ resource_type: text, owner_id: text, organization_id: text, resource_id: text, any_org: flag }).annotations({
      identifier: "AuthorizationObject"
    }),
    { default: () => ({ resource_type: "", owner_id: "", organization_id: "", resource_id: "", any_org: false }) }
  ),
  action: text
}).annotations({ identifier: "AuthorizationCheck" })

export const access = HttpApiGroup.make("access")
  .annotate(OpenApi.Description, "What callers may do.")
  .add(
    HttpApiEndpoint.post("checkAuthorization", "/api/v2/authcheck")
      .annotateContext(
        operation(
          "Check permissions",
          "Decides for each named check whether the caller may take the action on the object. The answer has one boolean under each name."
        )
      )
      .setPayload(Body({ checks: map(AuthorizationCheck) }))
      .addSuccess(Schema.Record({ key: Schema.String, value: Schema.Boolean }).annotations({ identifier: "AuthorizationResponse" }))
      .annotate(TrailingSlash, true)
  )
  .middlewareEndpoints(Authenticated)
