import { type GroupSyncSettings, IdpSyncSettings } from "@atelier/core/identity"
import { Effect } from "effect"
import * as contract from "../../contract/identity/idpSync.js"
import type { GroupSync } from "../../contract/identity/idpSync.js"
import * as Handlers from "../Handlers.js"

const groupView = ({ legacy_group_name_mapping, ...settings }: GroupSyncSettings): GroupSync => ({
  ...settings,
  ...(Object.keys(legacy_group_name_mapping).length === 0 ? {} : { legacy_group_name_mapping })
})

export const idpSync = Handlers.group(contract.idpSync, (handlers) =>
  Effect.map(IdpSyncSettings, (sync) =>
    handlers
      .handle("getOrganizationSync", () => sync.organization())
      .handle("updateOrganizationSync", ({ payload }) => sync.replaceOrganization(payload))
      .handle("configureOrganizationSync", ({ payload: { assign_default, field } }) =>
        sync.configureOrganization({ field, organization_assign_default: assign_default })
      )
      .handle("mapOrganizationSync", ({ payload }) => sync.mapOrganization(payload))
      .handle("getGroupSync", ({ path }) => Effect.map(sync.groups(path.organization), groupView))
      .handle("updateGroupSync", ({ path, payload }) => Effect.map(sync.replaceGroups(path.organization, payload), groupView))
      .handle("configureGroupSync", ({ path, payload }) => Effect.map(sync.configureGroups(path.organization, payload), groupView))
      .handle("mapGroupSync", ({ path, payload }) => Effect.map(sync.mapGroups(path.organization, payload), groupView))
      .handle("getRoleSync", ({ path }) => sync.roles(path.organization))
      .handle("updateRoleSync", ({ path, payload }) => sync.replaceRoles(path.organization, payload))
      .handle("configureRoleSync", ({ path, payload }) => sync.configureRoles(path.organization, payload))
      .handle("mapRoleSync", ({ path, payload }) => sync.mapRoles(path.organization, payload))
      .handle("listClaims", () => sync.availableFields())
      .handle("listClaimValues", ({ urlParams }) => sync.fieldValues(urlParams.claimField))
      .handle("listOrganizationClaims", ({ path }) => sync.availableFieldsIn(path.organization))
      .handle("listOrganizationClaimValues", ({ path, urlParams }) => sync.fieldValuesIn(path.organization, urlParams.claimField))
  )
)
