import { Context, type Effect, type Option } from "effect"
import type { CustomRole } from "../access/roles/CustomRole.js"
import type { Duplicate } from "../platform/Errors.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { OrganizationId } from "./Organization.js"

/** Roles that organizations made for themselves. */
export class CustomRoleRepository extends Context.Tag("@atelier/core/CustomRoleRepository")<
  CustomRoleRepository,
  {
    /** By name. */
    readonly ofOrganization: (id: OrganizationId) => Effect.Effect<ReadonlyArray<CustomRole>>
    /** Those of the organization with these names. */
    readonly named: (id: OrganizationId, names: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<CustomRole>>
    readonly byName: (id: OrganizationId, name: string) => Effect.Effect<Option.Option<CustomRole>>
    /** How many the organization has. */
    readonly count: (id: OrganizationId) => Effect.Effect<number>
    /** Fails with the index `custom_roles_organization_id_name`. */
    readonly insert: (role: CustomRole) => Effect.Effect<void, Duplicate>
    /** Replaces what a role is called and allows. */
    readonly update: (role: Pick<CustomRole, "id" | "display_name" | "permissions" | "updated_at">) => Effect.Effect<void>
    readonly delete: (id: Uuid) => Effect.Effect<void>
  }
>() {}
