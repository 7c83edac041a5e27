/** Settings for claims of an OpenID Connect provider. authorization.md §11.1. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Access, AccessObjects } from "@atelier/core/access"
import { GroupSyncSettings as StoredGroupSync, OrganizationSyncSettings, RoleSyncSettings } from "@atelier/core/identity"
import { Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, boundedList, flag, list, map, Path, Query, text } from "../../wire/input.js"
import { operation, RightFirst, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

const OrganizationSync = OrganizationSyncSettings.annotations({ identifier: "OrganizationSyncSettings" })
const RoleSync = RoleSyncSettings.annotations({ identifier: "RoleSyncSettings" })

/** Names that stand for values are shown where the deployment has some. */
export const GroupSync = Schema.Struct({
  ...StoredGroupSync.fields,
  legacy_group_name_mapping: Schema.optional(StoredGroupSync.fields.legacy_group_name_mapping)
}).annotations({ identifier: "GroupSyncSettings" })
export interface GroupSync extends Schema.Schema.Type<typeof GroupSync> {}

/** Values that a mapping may name: providers tell of thousands of groups. */
const maximumValues = 5000

const mappingTo = <A, I>(target: Schema.Schema<A, I>) => map(boundedList(target), maximumValues)

const pattern = Schema.optionalWith(Schema.NullOr(Schema.String), { default: () => null })

const changeOf = <A, I>(target: Schema.Schema<A, I>) => {
  const pairs = list(Body({ given: text, gets: target }))
  return Body({ add: pairs, remove: pairs })
}

const groupConfiguration = { field: text, regex_filter: pattern, auto_create_missing_groups: flag }

const claim = Query({ claimField: Schema.String })
const organization = { organization: Schema.String }

const mayChangeSync = Access.authorize("update", AccessObjects.bare("idpsync_settings"))

const ofDeployment = "/api/v2/settings/idpsync/organization"
const groupsPath = "/api/v2/organizations/:organization/settings/idpsync/groups"
const rolesPath = "/api/v2/organizations/:organization/settings/idpsync/roles"

export const idpSync = HttpApiGroup.make("idpSync")
  .annotate(OpenApi.Description, "Memberships, groups and roles that follow from claims of identity providers.")
  .add(
    HttpApiEndpoint.get("getOrganizationSync", ofDeployment)
      .annotateContext(
        operation("Get organization sync", "Returns how claims of the identity provider make users members of organizations.")
      )
      .addSuccess(OrganizationSync)
      .addError(refusals("Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.patch("updateOrganizationSync", ofDeployment)
      .annotateContext(
        operation("Replace organization sync", "Replaces how claims of the identity provider make users members of organizations.")
      )
      .setPayload(Body({ field: text, mapping: mappingTo(Uuid.Uuid), organization_assign_default: flag }))
      .addSuccess(OrganizationSync)
      .addError(refusals("Forbidden"))
      .annotate(RightFirst, mayChangeSync)
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.patch("configureOrganizationSync", `${ofDeployment}/config`)
      .annotateContext(
        operation(
          "Configure organization sync",
          "Sets the claim that is read for organizations, and whether every user joins the default one."
        )
      )
      .setPayload(Body({ field: text, assign_default: flag }))
      .addSuccess(OrganizationSync)
      .addError(refusals("Forbidden"))
      .annotate(RightFirst, mayChangeSync)
  )
  .add(
    HttpApiEndpoint.patch("mapOrganizationSync", `${ofDeployment}/mapping`)
      .annotateContext(operation("Map claims to organizations", "Adds and removes pairs of a claim's value and an organization."))
      .setPayload(changeOf(Uuid.Uuid))
      .addSuccess(OrganizationSync)
      .addError(refusals("Forbidden"))
      .annotate(RightFirst, mayChangeSync)
  )
  .add(
    HttpApiEndpoint.get("getGroupSync", groupsPath)
      .annotateContext(
        operation("Get group sync", "Returns how claims of the identity provider make users members of an organization's groups.")
      )
      .setPath(Path(organization))
      .addSuccess(GroupSync)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.patch("updateGroupSync", groupsPath)
      .annotateContext(
        operation("Replace group sync", "Replaces how claims of the identity provider make users members of an organization's groups.")
      )
      .setPath(Path(organization))
      .setPayload(
        Body({
          ...groupConfiguration,
          mapping: mappingTo(Uuid.Uuid),
          legacy_group_name_mapping: map(Schema.String, maximumValues)
        })
      )
      .addSuccess(GroupSync)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.patch("configureGroupSync", `${groupsPath}/config`)
      .annotateContext(
        operation(
          "Configure group sync",
          "Sets the claim that is read for groups, the filter of its values, and whether missing groups are created."
        )
      )
      .setPath(Path(organization))
      .setPayload(Body(groupConfiguration))
      .addSuccess(GroupSync)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.patch("mapGroupSync", `${groupsPath}/mapping`)
      .annotateContext(operation("Map claims to groups", "Adds and removes pairs of a claim's value and a group."))
      .setPath(Path(organization))
      .setPayload(changeOf(Uuid.Uuid))
      .addSuccess(GroupSync)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getRoleSync", rolesPath)
      .annotateContext(operation("Get role sync", "Returns how claims of the identity provider give roles in an organization."))
      .setPath(Path(organization))
      .addSuccess(RoleSync)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.patch("updateRoleSync", rolesPath)
      .annotateContext(operation("Replace role sync", "Replaces how claims of the identity provider give roles in an organization."))
      .setPath(Path(organization))
      .setPayload(Body({ field: text, mapping: mappingTo(Schema.String) }))
      .addSuccess(RoleSync)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.patch("configureRoleSync", `${rolesPath}/config`)
      .annotateContext(operation("Configure role sync", "Sets the claim that is read for roles of an organization."))
      .setPath(Path(organization))
      .setPayload(Body({ field: text }))
      .addSuccess(RoleSync)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.patch("mapRoleSync", `${rolesPath}/mapping`)
      .annotateContext(operation("Map claims to roles", "Adds and removes pairs of a claim's value and a role."))
      .setPath(Path(organization))
      .setPayload(changeOf(Schema.String))
      .addSuccess(RoleSync)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("listClaims", "/api/v2/settings/idpsync/available-fields")
      .annotateContext(operation("List claims", "Returns the names of the claims that users had at their last logins."))
      .addSuccess(Schema.Array(Schema.String))
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("listClaimValues", "/api/v2/settings/idpsync/field-values")
      .annotateContext(operation("List values of a claim", "Returns the values that a claim had at users' last logins."))
      .setUrlParams(claim)
      .addSuccess(Schema.Array(Schema.String))
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("listOrganizationClaims", "/api/v2/organizations/:organization/settings/idpsync/available-fields")
      .annotateContext(
        operation("List claims of members", "Returns the names of the claims that members of an organization had at their last logins.")
      )
      .setPath(Path(organization))
      .addSuccess(Schema.Array(Schema.String))
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("listOrganizationClaimValues", "/api/v2/organizations/:organization/settings/idpsync/field-values")
      .annotateContext(
        operation(
          "List values of members' claim",
          "Returns the values that a claim of members of an organization had at their last logins."
        )
      )
      .setPath(Path(organization))
      .setUrlParams(claim)
      .addSuccess(Schema.Array(Schema.String))
      .addError(refusals("NotFound", "Forbidden"))
  )
  .middlewareEndpoints(Authenticated)
