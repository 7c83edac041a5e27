/** The licenses of the deployment. deployment.md §6. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Numbers, Timestamp, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals, Response } from "../../wire/errors.js"
import { Body, needed, Path, required, text } from "../../wire/input.js"
import { operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

const License = Schema.Struct({
  id: Numbers.Integer,
  uuid: Uuid.Uuid,
  uploaded_at: Timestamp.Timestamp,
  claims: Schema.Record({ key: Schema.String, value: Schema.Unknown })
}).annotations({ identifier: "License" })

export const storedLicenses = HttpApiGroup.make("licenses")
  .annotate(OpenApi.Description, "The licenses of the deployment, and the features that they grant.")
  .add(
    HttpApiEndpoint.get("listLicenses", "/api/v2/licenses")
      .annotateContext(operation("List licenses", "Returns the stored licenses with their claims, the oldest first."))
      .addSuccess(Schema.Array(License))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.post("addLicense", "/api/v2/licenses")
      .annotateContext(operation("Add a license", "Verifies and stores a license. Its features are granted at once."))
      .setPayload(Body({ license: required(Schema.String) }))
      .addSuccess(License, { status: 201 })
      .addError(refusals("Forbidden", "Invalid", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.post("requestTrialLicense", "/api/v2/licenses/trial")
      .annotateContext(
        operation(
          "Ask for a trial license",
          "Stores a license that the host's issuer gives out. A deployment without an issuer answers 404."
        )
      )
      .setPayload(
        Body({
          email: needed(text),
          first_name: needed(text),
          last_name: needed(text),
          phone_number: needed(text),
          job_title: needed(text),
          company_name: needed(text),
          country: needed(text),
          developers: needed(text)
        })
      )
      .addSuccess(License, { status: 201 })
      .addError(refusals("Forbidden", "Invalid", "Conflict", "NotFound", "UpstreamFailure"))
  )
  .add(
    HttpApiEndpoint.post("refreshEntitlements", "/api/v2/licenses/refresh-entitlements")
      .annotateContext(
        operation("Compute the entitlements", "Computes anew what the licenses grant, in all replicas, at most once in a minute.")
      )
      .addSuccess(Response)
      .addError(refusals("Forbidden", "Invalid"))
  )
  .add(
    HttpApiEndpoint.del("deleteLicense", "/api/v2/licenses/:id")
      .annotateContext(operation("Delete a license", "Deletes a license. The features that only it granted end at once."))
      .setPath(Path({ id: Schema.String }))
      .addSuccess(HttpApiSchema.Empty(200))
      .addError(refusals("Forbidden", "NotFound"))
  )
  .middlewareEndpoints(Authenticated)
