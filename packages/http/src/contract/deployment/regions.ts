/** Where the deployment is served from: its processes and its regions. deployment.md §8. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Numbers, Timestamp, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

export const Replica = Schema.Struct({
  id: Uuid.Uuid,
  hostname: Schema.String,
  created_at: Timestamp.Timestamp,
  relay_address: Schema.String,
  region_id: Numbers.Integer,
  error: Schema.String,
  database_latency: Numbers.described(Numbers.Integer, "Microseconds that a statement took.")
}).annotations({ identifier: "Replica" })

const Region = Schema.Struct({
  id: Uuid.Uuid,
  name: Schema.String,
  display_name: Schema.String,
  icon_url: Schema.String,
  healthy: Schema.Boolean,
  path_app_url: Schema.String,
  wildcard_hostname: Schema.String
}).annotations({ identifier: "Region" })

export const regions = HttpApiGroup.make("regions")
  .annotate(OpenApi.Description, "The processes that serve the deployment, and the regions that they serve from.")
  .add(
    HttpApiEndpoint.get("listReplicas", "/api/v2/replicas")
      .annotateContext(operation("List replicas", "Returns the processes of the deployment that are alive, the oldest first."))
      .addSuccess(Schema.Array(Replica))
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listRegions", "/api/v2/regions")
      .annotateContext(operation("List regions", "Returns the regions that apps are reached in. The deployment itself is the primary one."))
      .addSuccess(Schema.Struct({ regions: Schema.Array(Region) }).annotations({ identifier: "RegionsResponse" }))
  )
  .add(
    HttpApiEndpoint.get("getAppHost", "/api/v2/applications/host")
      .annotateContext(
        operation(
          "Get the host of apps",
          "Returns the pattern of host names that apps are served at. It is empty where they are served by path alone."
        )
      )
      .addSuccess(Schema.Struct({ host: Schema.String }).annotations({ identifier: "AppHostResponse" }))
      .annotate(TrailingSlash, true)
  )
  .middlewareEndpoints(Authenticated)
