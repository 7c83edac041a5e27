import { Context, type Effect, type Option } from "effect"
import type { AccessPredicate } from "../access/decisions/AccessPredicate.js"
import type { Duplicate } from "../platform/Errors.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { PortShareLevel, Template, TemplateId, TemplateWithNames } from "./Template.js"

/** The filter of a list of templates. Absent fields do not restrict it. Texts compare without regard to case. */
export interface TemplateFilter {
  readonly organization_id?: Uuid | undefined
  readonly ids?: ReadonlyArray<TemplateId> | undefined
  readonly exact_name?: string | undefined
  readonly exact_display_name?: string | undefined
  /** A part of the name. */
  readonly name?: string | undefined
  /** A part of the display name, or of the name if there is no display name. */
  readonly display_name?: string | undefined
  readonly deleted: boolean
  readonly deprecated?: boolean | undefined
  /** Flags of the active version. */
  readonly has_ai_task?: boolean | undefined
  readonly has_external_agent?: boolean | undefined
  readonly author_id?: Uuid | undefined
  readonly author_username?: string | undefined
}

/** The effect of a changed schedule on the template's workspaces; absent parts stay. */
export interface WorkspaceReschedule {
  /** Milliseconds that each workspace runs; null has no end. */
  readonly ttl_ms?: number | null | undefined
  readonly last_used_at?: Timestamp | undefined
  /** Of dormant workspaces. */
  readonly dormant_at?: Timestamp | undefined
  /** Milliseconds from dormancy to deletion; null is never. */
  readonly time_til_deletion_ms?: number | null | undefined
}

export class TemplateRepository extends Context.Tag("@atelier/core/TemplateRepository")<
  TemplateRepository,
  {
    /** Deleted ones are found too. */
    readonly byId: (id: TemplateId) => Effect.Effect<Option.Option<TemplateWithNames>>
    readonly byIds: (ids: ReadonlyArray<TemplateId>) => Effect.Effect<ReadonlyArray<TemplateWithNames>>
    /** By name without regard to case, among those not deleted. */
    readonly byName: (organizationId: Uuid, name: string) => Effect.Effect<Option.Option<TemplateWithNames>>
    /** Those the predicate admits: most active users first, then by name and id. */
    readonly list: (filter: TemplateFilter, readable: AccessPredicate) => Effect.Effect<ReadonlyArray<TemplateWithNames>>
    /** Fails with the index `templates_organization_id_name`. */
    readonly insert: (template: Template) => Effect.Effect<void, Duplicate>
    /** Writes every setting of a template that is not deleted; false when it is. Fails with the index `templates_organization_id_name`. */
    readonly update: (template: Template) => Effect.Effect<boolean, Duplicate>
    /**
     * Locks a template against deletion until the transaction ends; None if it is already deleted. Call it before creating anything that
     * belongs to the template.
     */
    readonly lockShared: (id: TemplateId) => Effect.Effect<Option.Option<TemplateWithNames>>
    /** Like `lockShared`, but exclusive. */
    readonly lock: (id: TemplateId) => Effect.Effect<Option.Option<TemplateWithNames>>
    /** Lowers the shares of ports of its workspaces that are above a level to that level, or removes them where that is the owner's. */
    readonly limitPortShares: (id: TemplateId, maximum: PortShareLevel) => Effect.Effect<void>
    /** Whether a workspace of it is left that is not deleted and not merely prepared. */
    readonly hasWorkspaces: (id: TemplateId) => Effect.Effect<boolean>
    /** Marks it deleted; false when it was. */
    readonly markDeleted: (id: TemplateId, at: Timestamp) => Effect.Effect<boolean>
    /** Brings the template's workspaces in line with its changed schedule. templates-and-provisioning.md §2.3. */
    readonly reschedule: (id: TemplateId, change: WorkspaceReschedule) => Effect.Effect<void>
    /** Recounts the active users and build times of all templates. */
    readonly refreshStatistics: Effect.Effect<void>
  }
>() {}
