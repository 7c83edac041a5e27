/** What claims of an OpenID Connect provider mean here. authorization.md §11.1. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import { GroupSyncSettings as StoredGroupSync, OrganizationSyncSettings, RoleSyncSettings } from "@atelier/core/identity"
import { Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../errors.js"
import { Body, flag, list, Path, Query, text } from "../input.js"
import { Authenticated } from "./authentication.js"

const OrganizationSync = OrganizationSyncSettings.annotations({ identifier: "OrganizationSyncSettings" })
const RoleSync = RoleSyncSettings.annotations({ identifier: "RoleSyncSettings" })

/** Names that stand for values are shown where the deployment has some. */
export const GroupSync = Schema.Struct({
  ...StoredGroupSync.fields,
  legacy_group_name_mapping: Schema.optional(StoredGroupSync.fields.legacy_group_name_mapping)
}).annotations({ identifier: "GroupSyncSettings" })
export interface GroupSync extends Schema.Schema.Type<typeof GroupSync> {}

const mappingTo = <A, I>(target: Schema.Schema<A, I>) =>
  Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.Array(target) }), { default: () => ({}) })

const pattern = Schema.optionalWith(Schema.NullOr(Schema.String), { default: () => null })

const changeOf = <A, I>(target: Schema.Schema<A, I>) => {
  const pairs = list(Body({ given: text, gets: target }))
  return Body({ add: pairs, remove: pairs })
}

const groupConfiguration = { field: text, regex_filter: pattern, auto_create_missing_groups: flag }

const claim = Query({ claimField: Schema.String })
const organization = { organization: Schema.String }

const ofDeployment = "/api/v2/settings/idpsync/organization"
const groupsPath = "/api/v2/organizations/:organization/settings/idpsync/groups"
const rolesPath = "/api/v2/organizations/:organization/settings/idpsync/roles"

export const idpSync = HttpApiGroup.make("idpSync")
  .add(HttpApiEndpoint.get("getOrganizationSync", ofDeployment).addSuccess(OrganizationSync).addError(refusals("Forbidden")))
  .add(
    HttpApiEndpoint.patch("updateOrganizationSync", ofDeployment)
      .setPayload(Body({ field: text, mapping: mappingTo(Uuid.Uuid), organization_assign_default: flag }))
      .addSuccess(OrganizationSync)
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.patch("configureOrganizationSync", `${ofDeployment}/config`)
      .setPayload(Body({ field: text, assign_default: flag }))
      .addSuccess(OrganizationSync)
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.patch("mapOrganizationSync", `${ofDeployment}/mapping`)
      .setPayload(changeOf(Uuid.Uuid))
      .addSuccess(OrganizationSync)
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getGroupSync", groupsPath)
      .setPath(Path(organization))
      .addSuccess(GroupSync)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.patch("updateGroupSync", groupsPath)
      .setPath(Path(organization))
      .setPayload(
        Body({
          ...groupConfiguration,
          mapping: mappingTo(Uuid.Uuid),
          legacy_group_name_mapping: Schema.optionalWith(StoredGroupSync.fields.legacy_group_name_mapping, { default: () => ({}) })
        })
      )
      .addSuccess(GroupSync)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.patch("configureGroupSync", `${groupsPath}/config`)
      .setPath(Path(organization))
      .setPayload(Body(groupConfiguration))
      .addSuccess(GroupSync)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.patch("mapGroupSync", `${groupsPath}/mapping`)
      .setPath(Path(organization))
      .setPayload(changeOf(Uuid.Uuid))
      .addSuccess(GroupSync)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getRoleSync", rolesPath)
      .setPath(Path(organization))
      .addSuccess(RoleSync)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.patch("updateRoleSync", rolesPath)
      .setPath(Path(organization))
      .setPayload(Body({ field: text, mapping: mappingTo(Schema.String) }))
      .addSuccess(RoleSync)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.patch("configureRoleSync", `${rolesPath}/config`)
      .setPath(Path(organization))
      .setPayload(Body({ field: text }))
      .addSuccess(RoleSync)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.patch("mapRoleSync", `${rolesPath}/mapping`)
      .setPath(Path(organization))
      .setPayload(changeOf(Schema.String))
      .addSuccess(RoleSync)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("listClaims", "/api/v2/settings/idpsync/available-fields")
      .addSuccess(Schema.Array(Schema.String))
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("listClaimValues", "/api/v2/settings/idpsync/field-values")
      .setUrlParams(claim)
      .addSuccess(Schema.Array(Schema.String))
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("listOrganizationClaims", "/api/v2/organizations/:organization/settings/idpsync/available-fields")
      .setPath(Path(organization))
      .addSuccess(Schema.Array(Schema.String))
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("listOrganizationClaimValues", "/api/v2/organizations/:organization/settings/idpsync/field-values")
      .setPath(Path(organization))
      .setUrlParams(claim)
      .addSuccess(Schema.Array(Schema.String))
      .addError(refusals("NotFound", "Forbidden"))
  )
  .middlewareEndpoints(Authenticated)
