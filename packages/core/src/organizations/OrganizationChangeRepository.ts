import { Context, type Effect, type Option } from "effect"
import type { Duplicate } from "../platform/Errors.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { Organization, OrganizationId } from "./Organization.js"

/** How much of an organization stands against its deletion; nothing here is deleted. */
export interface OrganizationContents {
  readonly workspaces: number
  readonly templates: number
  readonly members: number
  /** Everyone left out. */
  readonly groups: number
}

/** Writes to existing organizations. */
export class OrganizationChangeRepository extends Context.Tag("@atelier/core/OrganizationChangeRepository")<
  OrganizationChangeRepository,
  {
    /**
     * An organization that is not deleted, locked until the transaction ends against changes of itself, its members and their roles.
     * Objects that only belong to it, such as templates, can still be added.
     */
    readonly lock: (id: OrganizationId) => Effect.Effect<Option.Option<Organization>>
    /** Like `lock`; in addition, objects whose creation locks the organization shared cannot be added. */
    readonly lockForDeletion: (id: OrganizationId) => Effect.Effect<Option.Option<Organization>>
    /**
     * Locks an organization against deletion until the transaction ends; false if it is already deleted. Every use case that adds an object
     * which prevents the deletion takes this lock. Any number of transactions may have it at once.
     */
    readonly lockShared: (id: OrganizationId) => Effect.Effect<boolean>
    /** Fails with the index `organizations_name`. */
    readonly update: (organization: Organization) => Effect.Effect<void, Duplicate>
    /** Takes every share of the organization's workspaces, in one statement; those of service accounts stay unless they are named too. */
    readonly endSharing: (id: OrganizationId, whose: { readonly ofServiceAccounts: boolean }) => Effect.Effect<void>
    readonly contents: (id: OrganizationId) => Effect.Effect<OrganizationContents>
    /**
     * Marks an organization as deleted; its memberships, roles, groups, settings and daemons go, and what objects of others were shared
     * with its group Everyone.
     */
    readonly delete: (id: OrganizationId, at: Timestamp) => Effect.Effect<void>
  }
>() {}
