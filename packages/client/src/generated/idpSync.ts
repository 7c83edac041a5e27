// Generated from the contract by `npm run generate`. Changes here are lost.
/** Memberships, groups and roles that follow from claims of identity providers. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import type { GroupSyncSettings, OrganizationSyncSettings, RoleSyncSettings } from "./types.js"

/**
 * Get organization sync. Returns how claims of the identity provider make users members of organizations.
 *
 * `GET /api/v2/settings/idpsync/organization`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getOrganizationSync = (client: Client, options?: CallOptions): Promise<OrganizationSyncSettings> =>
  call(client, "GET", "/api/v2/settings/idpsync/organization", json, {}, options)

export interface UpdateOrganizationSyncInput {
  readonly body: {
    readonly field?: string | undefined
    readonly mapping?: Readonly<Record<string, ReadonlyArray<string>>> | undefined
    readonly organization_assign_default?: boolean | undefined
  }
}

/**
 * Replace organization sync. Replaces how claims of the identity provider make users members of organizations.
 *
 * `PATCH /api/v2/settings/idpsync/organization`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateOrganizationSync = (client: Client, input: UpdateOrganizationSyncInput, options?: CallOptions): Promise<OrganizationSyncSettings> =>
  call(client, "PATCH", "/api/v2/settings/idpsync/organization", json, input, options)

export interface ConfigureOrganizationSyncInput {
  readonly body: {
    readonly field?: string | undefined
    readonly assign_default?: boolean | undefined
  }
}

/**
 * Configure organization sync. Sets the claim that is read for organizations, and whether every user joins the default one.
 *
 * `PATCH /api/v2/settings/idpsync/organization/config`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const configureOrganizationSync = (client: Client, input: ConfigureOrganizationSyncInput, options?: CallOptions): Promise<OrganizationSyncSettings> =>
  call(client, "PATCH", "/api/v2/settings/idpsync/organization/config", json, input, options)

export interface MapOrganizationSyncInput {
  readonly body: {
    /** At most 1000 items. */
    readonly add?: ReadonlyArray<{
      readonly given?: string | undefined
      /** A UUID. */
      readonly gets: string
    }> | undefined
    /** At most 1000 items. */
    readonly remove?: ReadonlyArray<{
      readonly given?: string | undefined
      /** A UUID. */
      readonly gets: string
    }> | undefined
  }
}

/**
 * Map claims to organizations. Adds and removes pairs of a claim's value and an organization.
 *
 * `PATCH /api/v2/settings/idpsync/organization/mapping`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const mapOrganizationSync = (client: Client, input: MapOrganizationSyncInput, options?: CallOptions): Promise<OrganizationSyncSettings> =>
  call(client, "PATCH", "/api/v2/settings/idpsync/organization/mapping", json, input, options)

export interface GetGroupSyncInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
}

/**
 * Get group sync. Returns how claims of the identity provider make users members of an organization's groups.
 *
 * `GET /api/v2/organizations/{organization}/settings/idpsync/groups`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getGroupSync = (client: Client, input: GetGroupSyncInput, options?: CallOptions): Promise<GroupSyncSettings> =>
  call(client, "GET", "/api/v2/organizations/{organization}/settings/idpsync/groups", json, input, options)

export interface UpdateGroupSyncInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  readonly body: {
    readonly field?: string | undefined
    readonly regex_filter?: string | null | undefined
    readonly auto_create_missing_groups?: boolean | undefined
    readonly mapping?: Readonly<Record<string, ReadonlyArray<string>>> | undefined
    readonly legacy_group_name_mapping?: Readonly<Record<string, string>> | undefined
  }
}

/**
 * Replace group sync. Replaces how claims of the identity provider make users members of an organization's groups.
 *
 * `PATCH /api/v2/organizations/{organization}/settings/idpsync/groups`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateGroupSync = (client: Client, input: UpdateGroupSyncInput, options?: CallOptions): Promise<GroupSyncSettings> =>
  call(client, "PATCH", "/api/v2/organizations/{organization}/settings/idpsync/groups", json, input, options)

export interface ConfigureGroupSyncInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  readonly body: {
    readonly field?: string | undefined
    readonly regex_filter?: string | null | undefined
    readonly auto_create_missing_groups?: boolean | undefined
  }
}

/**
 * Configure group sync. Sets the claim that is read for groups, the filter of its values, and whether missing groups are created.
 *
 * `PATCH /api/v2/organizations/{organization}/settings/idpsync/groups/config`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const configureGroupSync = (client: Client, input: ConfigureGroupSyncInput, options?: CallOptions): Promise<GroupSyncSettings> =>
  call(client, "PATCH", "/api/v2/organizations/{organization}/settings/idpsync/groups/config", json, input, options)

export interface MapGroupSyncInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  readonly body: {
    /** At most 1000 items. */
    readonly add?: ReadonlyArray<{
      readonly given?: string | undefined
      /** A UUID. */
      readonly gets: string
    }> | undefined
    /** At most 1000 items. */
    readonly remove?: ReadonlyArray<{
      readonly given?: string | undefined
      /** A UUID. */
      readonly gets: string
    }> | undefined
  }
}

/**
 * Map claims to groups. Adds and removes pairs of a claim's value and a group.
 *
 * `PATCH /api/v2/organizations/{organization}/settings/idpsync/groups/mapping`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const mapGroupSync = (client: Client, input: MapGroupSyncInput, options?: CallOptions): Promise<GroupSyncSettings> =>
  call(client, "PATCH", "/api/v2/organizations/{organization}/settings/idpsync/groups/mapping", json, input, options)

export interface GetRoleSyncInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
}

/**
 * Get role sync. Returns how claims of the identity provider give roles in an organization.
 *
 * `GET /api/v2/organizations/{organization}/settings/idpsync/roles`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getRoleSync = (client: Client, input: GetRoleSyncInput, options?: CallOptions): Promise<RoleSyncSettings> =>
  call(client, "GET", "/api/v2/organizations/{organization}/settings/idpsync/roles", json, input, options)

export interface UpdateRoleSyncInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  readonly body: {
    readonly field?: string | undefined
    readonly mapping?: Readonly<Record<string, ReadonlyArray<string>>> | undefined
  }
}

/**
 * Replace role sync. Replaces how claims of the identity provider give roles in an organization.
 *
 * `PATCH /api/v2/organizations/{organization}/settings/idpsync/roles`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateRoleSync = (client: Client, input: UpdateRoleSyncInput, options?: CallOptions): Promise<RoleSyncSettings> =>
  call(client, "PATCH", "/api/v2/organizations/{organization}/settings/idpsync/roles", json, input, options)

export interface ConfigureRoleSyncInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  readonly body: {
    readonly field?: string | undefined
  }
}

/**
 * Configure role sync. Sets the claim that is read for roles of an organization.
 *
 * `PATCH /api/v2/organizations/{organization}/settings/idpsync/roles/config`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const configureRoleSync = (client: Client, input: ConfigureRoleSyncInput, options?: CallOptions): Promise<RoleSyncSettings> =>
  call(client, "PATCH", "/api/v2/organizations/{organization}/settings/idpsync/roles/config", json, input, options)

export interface MapRoleSyncInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  readonly body: {
    /** At most 1000 items. */
    readonly add?: ReadonlyArray<{
      readonly given?: string | undefined
      readonly gets: string
    }> | undefined
    /** At most 1000 items. */
    readonly remove?: ReadonlyArray<{
      readonly given?: string | undefined
      readonly gets: string
    }> | undefined
  }
}

/**
 * Map claims to roles. Adds and removes pairs of a claim's value and a role.
 *
 * `PATCH /api/v2/organizations/{organization}/settings/idpsync/roles/mapping`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const mapRoleSync = (client: Client, input: MapRoleSyncInput, options?: CallOptions): Promise<RoleSyncSettings> =>
  call(client, "PATCH", "/api/v2/organizations/{organization}/settings/idpsync/roles/mapping", json, input, options)

/**
 * List claims. Returns the names of the claims that users had at their last logins.
 *
 * `GET /api/v2/settings/idpsync/available-fields`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listClaims = (client: Client, options?: CallOptions): Promise<ReadonlyArray<string>> =>
  call(client, "GET", "/api/v2/settings/idpsync/available-fields", json, {}, options)

export interface ListClaimValuesInput {
  /** At most 4096 characters. */
  readonly claimField: string
}

/**
 * List values of a claim. Returns the values that a claim had at users' last logins.
 *
 * `GET /api/v2/settings/idpsync/field-values`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listClaimValues = (client: Client, input: ListClaimValuesInput, options?: CallOptions): Promise<ReadonlyArray<string>> =>
  call(client, "GET", "/api/v2/settings/idpsync/field-values", json, input, options)

export interface ListOrganizationClaimsInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
}

/**
 * List claims of members. Returns the names of the claims that members of an organization had at their last logins.
 *
 * `GET /api/v2/organizations/{organization}/settings/idpsync/available-fields`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listOrganizationClaims = (client: Client, input: ListOrganizationClaimsInput, options?: CallOptions): Promise<ReadonlyArray<string>> =>
  call(client, "GET", "/api/v2/organizations/{organization}/settings/idpsync/available-fields", json, input, options)

export interface ListOrganizationClaimValuesInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** At most 4096 characters. */
  readonly claimField: string
}

/**
 * List values of members' claim. Returns the values that a claim of members of an organization had at their last logins.
 *
 * `GET /api/v2/organizations/{organization}/settings/idpsync/field-values`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listOrganizationClaimValues = (client: Client, input: ListOrganizationClaimValuesInput, options?: CallOptions): Promise<ReadonlyArray<string>> =>
  call(client, "GET", "/api/v2/organizations/{organization}/settings/idpsync/field-values", json, input, options)
