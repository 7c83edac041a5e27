/** Organizations. authorization.md §6. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import { Organization as StoredOrganization } from "@atelier/core/organizations"
import { Schema } from "effect"
import { refusals } from "../errors.js"
import { Path } from "../input.js"
import { TrailingSlash } from "./annotations.js"
import { Authenticated } from "./authentication.js"

export const Organization = StoredOrganization.omit("deleted", "shareable_workspace_owners").annotations({ identifier: "Organization" })

export const organizations = HttpApiGroup.make("organizations")
  .add(
    HttpApiEndpoint.get("listOrganizations", "/api/v2/organizations").addSuccess(Schema.Array(Organization)).annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getOrganization", "/api/v2/organizations/:organization")
      .setPath(Path({ organization: Schema.String }))
      .addSuccess(Organization)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .middlewareEndpoints(Authenticated)
