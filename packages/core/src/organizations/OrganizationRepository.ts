import { Context, type Effect, type Option } from "effect"
import type { AccessPredicate } from "../access/decisions/AccessPredicate.js"
import type { Duplicate } from "../platform/Errors.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { Organization, OrganizationId } from "./Organization.js"

export class OrganizationRepository extends Context.Tag("@atelier/core/OrganizationRepository")<
  OrganizationRepository,
  {
    /** Deleted ones are found too. */
    readonly byId: (id: OrganizationId) => Effect.Effect<Option.Option<Organization>>
    /** By name without regard to case, among those not deleted. */
    readonly byName: (name: string) => Effect.Effect<Option.Option<Organization>>
    readonly default: Effect.Effect<Option.Option<Organization>>
    /** Those not deleted that the predicate admits, by name. */
    readonly list: (readable: AccessPredicate) => Effect.Effect<ReadonlyArray<Organization>>
    /** Of those, the ones that a user is a member of. */
    readonly ofMember: (userId: Uuid, readable: AccessPredicate) => Effect.Effect<ReadonlyArray<Organization>>
    /** Stores a new organization together with its Everyone group, whose id is the organization's. */
    readonly insert: (organization: Organization) => Effect.Effect<void, Duplicate>
    /** Makes a user a member with explicit roles; nothing happens to an existing membership. */
    readonly addMember: (member: {
      readonly organization_id: OrganizationId
      readonly user_id: Uuid
      readonly roles: ReadonlyArray<string>
      readonly created_at: string
    }) => Effect.Effect<void>
  }
>() {}
