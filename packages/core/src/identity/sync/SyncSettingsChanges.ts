import { Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { AccessPredicate } from "../../access/decisions/AccessPredicate.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { AccessObject } from "../../access/Resource.js"
import * as Audit from "../../audit/Audit.js"
import { audited, type AuditedResource, auditedResource, ignored, shownAs } from "../../audit/AuditedResource.js"
import type { CustomRoleRepository } from "../../organizations/CustomRoleRepository.js"
import { missingOrganization } from "../../organizations/Organization.js"
import type { OrganizationChangeRepository } from "../../organizations/OrganizationChangeRepository.js"
import type { OrganizationRepository } from "../../organizations/OrganizationRepository.js"
import type { Organizations } from "../../organizations/Organizations.js"
import type { RightsRepository } from "../../organizations/RightsRepository.js"
import { permitted } from "../../organizations/CurrentRights.js"
import { type Forbidden, refuseViolations } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { nil, Uuid } from "../../platform/texts/Uuid.js"
import { type GroupSyncSettings, idpSyncViolations, type OrganizationSyncSettings, type RoleSyncSettings } from "./IdpSync.js"
import { deploymentScope, type IdpSyncDefinition, type IdpSyncInForce, type IdpSyncScope } from "./IdpSyncInForce.js"
import type { IdpSyncRepository } from "./IdpSyncRepository.js"
import { joinedOrganizations, requireMemberships, requireRoles } from "./IdpSyncRights.js"

/** A kind of settings in the audit log. */
interface AuditedAs<A> {
  readonly resource: AuditedResource<A>
  readonly target: string
}

const organizationAudit: AuditedAs<OrganizationSyncSettings> = {
  resource: auditedResource({
    type: "idp_sync_settings_organization",
    endsRightsOf: "none",
    fields: { field: audited, mapping: audited, organization_assign_default: shownAs("assign_default") }
  }),
  target: "Organization Sync"
}

const groupAudit: AuditedAs<GroupSyncSettings> = {
  resource: auditedResource({
    type: "idp_sync_settings_group",
    endsRightsOf: "none",
    fields: {
      field: audited,
      mapping: audited,
      regex_filter: audited,
      auto_create_missing_groups: audited,
      legacy_group_name_mapping: ignored
    }
  }),
  target: "Organization Group Sync"
}

const roleAudit: AuditedAs<RoleSyncSettings> = {
  resource: auditedResource({ type: "idp_sync_settings_role", endsRightsOf: "none", fields: { field: audited, mapping: audited } }),
  target: "Organization Role Sync"
}

/** The settings have no id of their own. notifications-audit-insights.md §B3. */
const auditedId = Uuid.make("51a51c00-0000-0000-0000-000000000000")

export type Settings = OrganizationSyncSettings | GroupSyncSettings | RoleSyncSettings

/** Fails unless the actor may give and take what follows from a change of settings. */
type Authorize<A> = (before: A, after: A) => Effect.Effect<void, Forbidden, CurrentActor>

export const objectOf = ({ id }: IdpSyncScope): AccessObject =>
  id === nil ? AccessObjects.bare("idpsync_settings") : AccessObjects.inOrganization("idpsync_settings", id)

interface Needs {
  readonly changes: OrganizationChangeRepository["Type"]
  readonly rights: RightsRepository["Type"]
  readonly repository: IdpSyncRepository["Type"]
  readonly directory: OrganizationRepository["Type"]
  readonly customRoles: CustomRoleRepository["Type"]
  readonly organization: IdpSyncInForce["Type"]["definitions"]["organization"]
  readonly organizations: Organizations["Type"]
  readonly group: IdpSyncInForce["Type"]["definitions"]["group"]
  readonly role: IdpSyncInForce["Type"]["definitions"]["role"]
}

/** How the settings of each kind are replaced, by an actor with the rights that they give. */
export const syncSettingsChanges = ({
  changes,
  rights,
  repository,
  directory,
  customRoles,
  organization,
  organizations,
  group,
  role
}: Needs) => {
  /** Locks the organization, its roles and their assignments until the transaction ends */
  const lockOrganization = ({ id }: IdpSyncScope) => Effect.mapError(Effect.flatten(changes.lock(id)), () => missingOrganization)

  /**
   * Writes the result of `edit`, applied to the current settings, so that concurrent changes do not undo each other. `lock` locks what the
   * actor's rights depend on.
   */
  const write = <A extends Settings, E>(
    definition: IdpSyncDefinition<A>,
    auditedAs: AuditedAs<A>,
    scope: IdpSyncScope,
    edit: (before: A) => A,
    { lock, authorize }: { readonly lock: Effect.Effect<unknown, E>; readonly authorize: Authorize<A> }
  ) =>
    Audit.audited(
      { ...auditedAs, action: "write", id: auditedId, organization_id: scope.id },
      permitted(rights)(Access.authorize("update", objectOf(scope)), lock, () =>
        Effect.gen(function* () {
          const now = yield* Timestamp.now
          const key = { kind: definition.kind, organization_id: scope.id }
          const before = Option.match(yield* repository.lock(key, now), {
            onNone: () => definition.initial(scope),
            onSome: definition.read
          })
          const after = edit(before)
          yield* refuseViolations(idpSyncViolations(after))
          yield* authorize(before, after)
          yield* repository.write(key, after, now)
          return { value: after, before, after }
        })
      )
    )

  const authorizeMemberships: Authorize<OrganizationSyncSettings> = (before, after) =>
    Effect.gen(function* () {
      const { id: defaultId } = yield* Effect.flatMap(directory.default, Effect.orDie)
      const joined = joinedOrganizations(before, after, defaultId)
      if (joined.size === 0) return
      const all = yield* directory.list(AccessPredicate.True())
      yield* requireMemberships(all.filter(({ id }) => joined.has(id)))
    })

  const authorizeRoles =
    ({ id }: IdpSyncScope): Authorize<RoleSyncSettings> =>
    (before, after) =>
      Effect.flatMap(customRoles.ofOrganization(id), (custom) => requireRoles(id, custom, before, after))

  const writeOrganization = (edit: (before: OrganizationSyncSettings) => OrganizationSyncSettings) =>
    write(organization, organizationAudit, deploymentScope, edit, { lock: Effect.void, authorize: authorizeMemberships })

  const writeGroups = (reference: string, edit: (before: GroupSyncSettings) => GroupSyncSettings) =>
    Effect.flatMap(organizations.get(reference), (scope) =>
      write(group, groupAudit, scope, edit, { lock: lockOrganization(scope), authorize: () => Effect.void })
    )

  const writeRoles = (reference: string, edit: (before: RoleSyncSettings) => RoleSyncSettings) =>
    Effect.flatMap(organizations.get(reference), (scope) =>
      write(role, roleAudit, scope, edit, { lock: lockOrganization(scope), authorize: authorizeRoles(scope) })
    )

  return { writeOrganization, writeGroups, writeRoles }
}
