/** Users as identity providers manage them: SCIM 2.0 (RFC 7643, RFC 7644), at the root and not below the API. authorization.md §13. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { CurrentActor } from "@atelier/core/access"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { Body, IntegerFromText, list, needed, Path, Query, text } from "../../wire/input.js"
import { scimContentType, scimRefusals } from "../../wire/scim.js"
import { BodyLimit, operation } from "../annotations.js"

/** Lets identity providers in that have the deployment's key; handlers act as the one that provisions users. */
export class ScimAuthorized extends HttpApiMiddleware.Tag<ScimAuthorized>()("@atelier/http/ScimAuthorized", {
  provides: CurrentActor,
  failure: scimRefusals("NotFound", "Forbidden", "Unauthenticated")
}) {}

const scim = <A, I, R>(schema: Schema.Schema<A, I, R>) =>
  schema.pipe(HttpApiSchema.withEncoding({ kind: "Json", contentType: scimContentType }))

const meta = { resourceType: Schema.String, location: Schema.String }

/** A user (RFC 7643 §4.1). */
export const ScimUser = Schema.Struct({
  schemas: Schema.Array(Schema.String),
  id: Uuid.Uuid,
  userName: Schema.String,
  name: Schema.Struct({ formatted: Schema.String }),
  displayName: Schema.String,
  emails: Schema.Array(Schema.Struct({ value: Schema.String, type: Schema.String, primary: Schema.Boolean })),
  active: Schema.Boolean,
  meta: Schema.Struct({ ...meta, created: Timestamp.Timestamp, lastModified: Timestamp.Timestamp })
}).annotations({ identifier: "SCIMUser" })
export interface ScimUser extends Schema.Schema.Type<typeof ScimUser> {}

const listOfResources = <A, I>(resource: Schema.Schema<A, I>, identifier: string) =>
  Schema.Struct({
    schemas: Schema.Array(Schema.String),
    totalResults: Schema.Int,
    startIndex: Schema.Int,
    itemsPerPage: Schema.Int,
    Resources: Schema.Array(resource)
  }).annotations({ identifier })

const Supported = Schema.Struct({ supported: Schema.Boolean })

/** The capabilities of the service (RFC 7643 §5). */
export const ScimServiceProviderConfig = Schema.Struct({
  schemas: Schema.Array(Schema.String),
  patch: Supported,
  bulk: Schema.Struct({ supported: Schema.Boolean, maxOperations: Schema.Int, maxPayloadSize: Schema.Int }),
  filter: Schema.Struct({ supported: Schema.Boolean, maxResults: Schema.Int }),
  changePassword: Supported,
  sort: Supported,
  etag: Supported,
  authenticationSchemes: Schema.Array(
    Schema.Struct({ type: Schema.String, name: Schema.String, description: Schema.String, specUri: Schema.String, primary: Schema.Boolean })
  ),
  meta: Schema.Struct(meta)
}).annotations({ identifier: "SCIMServiceProviderConfig" })

/** A kind of resources (RFC 7643 §6). */
export const ScimResourceType = Schema.Struct({
  schemas: Schema.Array(Schema.String),
  id: Schema.String,
  name: Schema.String,
  description: Schema.String,
  endpoint: Schema.String,
  schema: Schema.String,
  meta: Schema.Struct(meta)
}).annotations({ identifier: "SCIMResourceType" })

const characteristics = {
  name: Schema.String,
  type: Schema.String,
  multiValued: Schema.Boolean,
  description: Schema.String,
  required: Schema.Boolean,
  mutability: Schema.String,
  returned: Schema.String,
  caseExact: Schema.optional(Schema.Boolean),
  uniqueness: Schema.optional(Schema.String)
}

/** The attributes of a kind of resources (RFC 7643 §7). */
export const ScimSchema = Schema.Struct({
  schemas: Schema.Array(Schema.String),
  id: Schema.String,
  name: Schema.String,
  description: Schema.String,
  attributes: Schema.Array(
    Schema.Struct({ ...characteristics, subAttributes: Schema.optional(Schema.Array(Schema.Struct(characteristics))) })
  ),
  meta: Schema.Struct(meta)
}).annotations({ identifier: "SCIMSchema" })

/** Some providers write switches as texts. */
const Switch = Schema.Union(Schema.Boolean, Schema.String)

const optionalText = Schema.optional(Schema.String)

const writtenUser = {
  userName: text,
  name: Schema.optional(Body({ formatted: optionalText, givenName: optionalText, familyName: optionalText })),
  displayName: optionalText,
  emails: list(Body({ value: optionalText, primary: Schema.optional(Switch), type: optionalText, display: optionalText })),
  active: Schema.optional(Switch),
  schemas: list(Schema.String),
  // Attributes that the service alone writes: a provider's are ignored (RFC 7644 §3.3, §3.5.1)
  id: Schema.optional(Schema.Unknown),
  groups: Schema.optional(Schema.Unknown),
  meta: Schema.optional(Schema.Unknown)
}

const CreatedUser = Body({ ...writtenUser, userName: needed(text) }).annotations({ identifier: "SCIMCreatedUser" })

const ReplacedUser = Body({ ...writtenUser, active: needed(Schema.optional(Switch)) }).annotations({ identifier: "SCIMReplacedUser" })

const Patch = Body({
  schemas: list(Schema.String),
  Operations: list(Body({ op: text, path: optionalText, value: Schema.optional(Schema.Unknown) }))
}).annotations({ identifier: "SCIMPatch" })

/** Bytes of what a provider writes of one user. */
const maximumBody = 256 * 1024

const user = { id: Schema.String }

export const scimUsers = HttpApiGroup.make("scim")
  .annotate(OpenApi.Description, "Users as identity providers manage them (SCIM 2.0).")
  .add(
    HttpApiEndpoint.get("getScimServiceProviderConfig", "/scim/v2/ServiceProviderConfig")
      .annotateContext(operation("Get SCIM capabilities", "Returns which optional parts of SCIM 2.0 the service supports (RFC 7643 §5)."))
      .addSuccess(scim(ScimServiceProviderConfig))
  )
  .add(
    HttpApiEndpoint.get("listScimResourceTypes", "/scim/v2/ResourceTypes")
      .annotateContext(operation("List SCIM resource types", "Returns the kinds of resources that can be provisioned (RFC 7643 §6)."))
      .addSuccess(scim(listOfResources(ScimResourceType, "SCIMResourceTypes")))
  )
  .add(
    HttpApiEndpoint.get("getScimResourceType", "/scim/v2/ResourceTypes/:name")
      .annotateContext(operation("Get a SCIM resource type", "Returns a kind of resources by its name."))
      .setPath(Path({ name: Schema.String }))
      .addSuccess(scim(ScimResourceType))
  )
  .add(
    HttpApiEndpoint.get("listScimSchemas", "/scim/v2/Schemas")
      .annotateContext(operation("List SCIM schemas", "Returns the attributes of each kind of resources (RFC 7643 §7)."))
      .addSuccess(scim(listOfResources(ScimSchema, "SCIMSchemas")))
  )
  .add(
    HttpApiEndpoint.get("getScimSchema", "/scim/v2/Schemas/:name")
      .annotateContext(operation("Get a SCIM schema", "Returns the attributes of a kind of resources by its URN."))
      .setPath(Path({ name: Schema.String }))
      .addSuccess(scim(ScimSchema))
  )
  .add(
    HttpApiEndpoint.get("listScimUsers", "/scim/v2/Users")
      .annotateContext(operation("List users by SCIM", "Returns users in pages, filtered by name (RFC 7644 §3.4.2)."))
      .setUrlParams(
        Query({
          startIndex: Schema.optionalWith(IntegerFromText, { default: () => 1 }),
          count: Schema.optionalWith(IntegerFromText, { default: () => 100 }),
          filter: text
        })
      )
      .addSuccess(scim(listOfResources(ScimUser, "SCIMUsers")))
  )
  .add(
    HttpApiEndpoint.post("createScimUser", "/scim/v2/Users")
      .annotateContext(
        operation(
          "Create a user by SCIM",
          "Creates a user who logs in through the identity provider, or activates the suspended user with this email address."
        )
      )
      .setPayload(CreatedUser)
      .addSuccess(scim(ScimUser), { status: 201 })
      .addError(scimRefusals("Conflict"))
      .annotate(BodyLimit, maximumBody)
  )
  .add(
    HttpApiEndpoint.get("getScimUser", "/scim/v2/Users/:id")
      .annotateContext(operation("Get a user by SCIM", "Returns a user by its id."))
      .setPath(Path(user))
      .addSuccess(scim(ScimUser))
  )
  .add(
    HttpApiEndpoint.put("replaceScimUser", "/scim/v2/Users/:id")
      .annotateContext(
        operation("Replace a user by SCIM", "Sets whether a user is active. The service keeps the other attributes as they are.")
      )
      .setPath(Path(user))
      .setPayload(ReplacedUser)
      .addSuccess(scim(ScimUser))
      .annotate(BodyLimit, maximumBody)
  )
  .add(
    HttpApiEndpoint.patch("updateScimUser", "/scim/v2/Users/:id")
      .annotateContext(operation("Update a user by SCIM", "Applies a list of operations to a user (RFC 7644 §3.5.2)."))
      .setPath(Path(user))
      .setPayload(Patch)
      .addSuccess(scim(ScimUser))
      .annotate(BodyLimit, maximumBody)
  )
  .add(
    HttpApiEndpoint.del("suspendScimUser", "/scim/v2/Users/:id")
      .annotateContext(operation("Suspend a user by SCIM", "Suspends a user whom the identity provider has removed."))
      .setPath(Path(user))
      .addSuccess(HttpApiSchema.NoContent)
  )
  .addError(scimRefusals("Invalid", "NotFound", "Forbidden", "Unauthenticated", "TooLarge", "RequestTimeout", "InternalError"))
  .middlewareEndpoints(ScimAuthorized)
