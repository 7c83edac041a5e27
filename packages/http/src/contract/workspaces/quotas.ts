/** Limits on users' spend on workspaces. authorization.md §10. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Numbers } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Path } from "../../wire/input.js"
import { operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

const WorkspaceQuota = Schema.Struct({
  budget: Numbers.described(Numbers.Integer, "Credits a day; -1 without a license for quotas."),
  credits_consumed: Numbers.described(Numbers.Integer, "Credits a day.")
}).annotations({ identifier: "WorkspaceQuota" })

const user = { user: Schema.String }

export const quotas = HttpApiGroup.make("quotas")
  .annotate(OpenApi.Description, "Limits on the cost of workspaces.")
  .add(
    HttpApiEndpoint.get("getMemberQuota", "/api/v2/organizations/:organization/members/:user/workspace-quota")
      .annotateContext(
        operation("Get a member's quota", "Returns the daily cost of a user's workspaces in an organization, and its limit.")
      )
      .setPath(Path({ organization: Schema.String, ...user }))
      .addSuccess(WorkspaceQuota)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getQuota", "/api/v2/workspace-quota/:user")
      .annotateContext(
        operation("Get a user's quota", "Returns the daily cost of a user's workspaces in the default organization, and its limit.")
      )
      .setPath(Path(user))
      .addSuccess(WorkspaceQuota)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .middlewareEndpoints(Authenticated)
