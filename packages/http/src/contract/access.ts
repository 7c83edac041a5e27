/** What callers may do. authorization.md §5. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import { Schema } from "effect"
import { Body, flag, text } from "../input.js"
import { Authenticated } from "./authentication.js"

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
  .add(
    HttpApiEndpoint.post("checkAuthorization", "/api/v2/authcheck")
      .setPayload(
        Body({
          checks: Schema.optionalWith(Schema.Record({ key: Schema.String, value: AuthorizationCheck }), { default: () => ({}) })
        })
      )
      .addSuccess(Schema.Record({ key: Schema.String, value: Schema.Boolean }).annotations({ identifier: "AuthorizationResponse" }))
  )
  .middlewareEndpoints(Authenticated)
