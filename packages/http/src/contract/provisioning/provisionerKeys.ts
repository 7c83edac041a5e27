/** Keys with which daemons on other machines connect. templates-and-provisioning.md §7.2. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { DaemonStatus, ProvisionerTags } from "@atelier/core/provisioning"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, firstText, listOf, listRefusedAs, map, Path, Query, required } from "../../wire/input.js"
import { operation, Streaming, TrailingSlash } from "../annotations.js"
import { Authenticated, OptionallyAuthenticated } from "../authentication.js"
import { ProvisionerDaemon } from "./provisioning.js"

const ProvisionerKey = Schema.Struct({
  id: Uuid.Uuid,
  created_at: Timestamp.Timestamp,
  /** The organization's id. */
  organization: Uuid.Uuid,
  name: Schema.String,
  tags: ProvisionerTags
}).annotations({ identifier: "ProvisionerKey" })

/** A daemon of the list of keys, where neither its status nor the name of its key is told. */
const KeyDaemon = Schema.Struct({
  ...ProvisionerDaemon.fields,
  key_name: Schema.NullOr(Schema.String),
  status: Schema.NullOr(DaemonStatus)
}).annotations({ identifier: "ProvisionerKeyDaemon" })

const KeyDaemons = Schema.Struct({ key: ProvisionerKey, daemons: Schema.Array(KeyDaemon) }).annotations({
  identifier: "ProvisionerKeyDaemons"
})

const inOrganization = Path({ organization: Schema.String })

export const provisionerKeys = HttpApiGroup.make("provisionerKeys")
  .annotate(OpenApi.Description, "Keys of provisioner daemons.")
  .add(
    HttpApiEndpoint.post("createProvisionerKey", "/api/v2/organizations/:organization/provisionerkeys")
      .annotateContext(
        operation("Create a provisioner key", "Creates a key with which daemons on other machines connect, and returns it once.")
      )
      .setPath(inOrganization)
      .setPayload(Body({ name: required(Schema.String), tags: map(Schema.String) }))
      .addSuccess(Schema.Struct({ key: Schema.String }).annotations({ identifier: "CreateProvisionerKeyResponse" }), { status: 201 })
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listProvisionerKeys", "/api/v2/organizations/:organization/provisionerkeys")
      .annotateContext(operation("List provisioner keys", "Returns the keys of an organization's daemons, by creation, without secrets."))
      .setPath(inOrganization)
      .addSuccess(Schema.Array(ProvisionerKey))
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listProvisionerKeyDaemons", "/api/v2/organizations/:organization/provisionerkeys/daemons")
      .annotateContext(
        operation("List the daemons of each key", "Returns all keys, built-in ones too, each with its daemons of the last three minutes.")
      )
      .setPath(inOrganization)
      .addSuccess(Schema.Array(KeyDaemons))
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.del("deleteProvisionerKey", "/api/v2/organizations/:organization/provisionerkeys/:provisionerkey")
      .annotateContext(operation("Delete a provisioner key", "Deletes a key and disconnects its daemons."))
      .setPath(Path({ organization: Schema.String, provisionerkey: Schema.String }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .middlewareEndpoints(Authenticated)
  .add(
    HttpApiEndpoint.get("getProvisionerKey", "/api/v2/provisionerkeys/:provisionerkey")
      .annotateContext(
        operation("Get the calling provisioner key", "Returns the key that the request's header holds, whatever the path names.")
      )
      .setPath(Path({ provisionerkey: Schema.String }))
      .addSuccess(ProvisionerKey)
      .addError(refusals("NotFound", "Forbidden", "Unauthenticated"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("serveProvisionerDaemon", "/api/v2/organizations/:organization/provisionerdaemons/serve")
      .annotateContext(
        operation("Connect a provisioner daemon", "Upgrades to the WebSocket over which a daemon takes jobs and reports on them.")
      )
      .setPath(inOrganization)
      .setUrlParams(
        Query({
          provisioner: listOf(Schema.String),
          tag: listRefusedAs("tags"),
          name: firstText,
          version: firstText,
          repeatable: listOf(Schema.String),
          /** The names of the daemon's engines. It gets no job whose template another engine of the server builds. */
          engine: listOf(Schema.String)
        })
      )
      .addSuccess(HttpApiSchema.Empty(101))
      .addError(refusals("NotFound", "Forbidden", "Unauthenticated", "UpgradeRequired"))
      .middleware(OptionallyAuthenticated)
      .annotate(Streaming, true)
  )
