import { Context, Effect } from "effect"
import * as Access from "../../access/Access.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import { CustomRoleRepository } from "../../organizations/CustomRoleRepository.js"
import { OrganizationChangeRepository } from "../../organizations/OrganizationChangeRepository.js"
import { OrganizationRepository } from "../../organizations/OrganizationRepository.js"
import { Organizations } from "../../organizations/Organizations.js"
import { RightsRepository } from "../../organizations/RightsRepository.js"
import { type Forbidden, Invalid, type NotFound } from "../../platform/Errors.js"
import { nil, type Uuid } from "../../platform/texts/Uuid.js"
import { ClaimRepository } from "./ClaimRepository.js"
import {
  changedMapping,
  type GroupSyncSettings,
  type MappingChange,
  type OrganizationSyncSettings,
  type RoleSyncSettings
} from "./IdpSync.js"
import { deploymentScope, type IdpSyncDefinition, IdpSyncInForce, type IdpSyncScope } from "./IdpSyncInForce.js"
import { IdpSyncRepository } from "./IdpSyncRepository.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Auditing } from "../../audit/Audit.js"
import { type Settings, objectOf, syncSettingsChanges } from "./SyncSettingsChanges.js"

/** Names or values of claims in one answer. */
const maximumClaims = 1000

/** The methods of {@link IdpSyncSettings}. */
export interface IdpSyncSettingsService {
  /** The claims there are: as they were at the last login of each user, at most 1,000, by name. */
  readonly availableFields: () => Effect.Effect<ReadonlyArray<string>, Forbidden, CurrentActor>

  /** The texts that one of those claims is or lists, at most 1,000. */
  readonly fieldValues: (claim: string) => Effect.Effect<ReadonlyArray<string>, Forbidden, CurrentActor>

  /** As `availableFields`, of the members of an organization. Fails with `NotFound` for one that the actor may not read. */
  readonly availableFieldsIn: (reference: string) => Effect.Effect<ReadonlyArray<string>, Forbidden | NotFound, CurrentActor>

  /** As `fieldValues`, of the members of an organization. Fails with `NotFound` for one that the actor may not read. */
  readonly fieldValuesIn: (reference: string, claim: string) => Effect.Effect<ReadonlyArray<string>, Forbidden | NotFound, CurrentActor>

  /**
   * How memberships follow from claims. Every use case fails with `Forbidden` if the actor may not access the settings. Those that change
   * memberships or roles also fail so if the actor may not give the newly mapped ones by hand.
   */
  readonly organization: () => Effect.Effect<OrganizationSyncSettings, Forbidden, CurrentActor>

  readonly replaceOrganization: (
    settings: OrganizationSyncSettings
  ) => Effect.Effect<OrganizationSyncSettings, Invalid | Forbidden, CurrentActor | Auditing>

  /** Replaces everything but the mapping. */
  readonly configureOrganization: (
    settings: Omit<OrganizationSyncSettings, "mapping">
  ) => Effect.Effect<OrganizationSyncSettings, Invalid | Forbidden, CurrentActor | Auditing>

  readonly mapOrganization: (
    change: MappingChange<Uuid>
  ) => Effect.Effect<OrganizationSyncSettings, Invalid | Forbidden, CurrentActor | Auditing>

  /** How groups of an organization follow from claims. Fails with `NotFound` for an organization that the actor may not read. */
  readonly groups: (reference: string) => Effect.Effect<GroupSyncSettings, Forbidden | NotFound, CurrentActor>

  /** Fails with `Invalid` for names that stand for values of the claim: mappings replace them. */
  readonly replaceGroups: (
    reference: string,
    settings: GroupSyncSettings
  ) => Effect.Effect<GroupSyncSettings, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  /** Replaces everything but the mappings. */
  readonly configureGroups: (
    reference: string,
    settings: Omit<GroupSyncSettings, "mapping" | "legacy_group_name_mapping">
  ) => Effect.Effect<GroupSyncSettings, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  readonly mapGroups: (
    reference: string,
    change: MappingChange<Uuid>
  ) => Effect.Effect<GroupSyncSettings, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  /** How roles in an organization follow from claims. Fails with `NotFound` for an organization that the actor may not read. */
  readonly roles: (reference: string) => Effect.Effect<RoleSyncSettings, Forbidden | NotFound, CurrentActor>

  readonly replaceRoles: (
    reference: string,
    settings: RoleSyncSettings
  ) => Effect.Effect<RoleSyncSettings, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  /** Replaces everything but the mapping. */
  readonly configureRoles: (
    reference: string,
    settings: Omit<RoleSyncSettings, "mapping">
  ) => Effect.Effect<RoleSyncSettings, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  readonly mapRoles: (
    reference: string,
    change: MappingChange
  ) => Effect.Effect<RoleSyncSettings, Invalid | Forbidden | NotFound, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const organizations = yield* Organizations
  const directory = yield* OrganizationRepository
  const changes = yield* OrganizationChangeRepository
  const customRoles = yield* CustomRoleRepository
  const rights = yield* RightsRepository
  const repository = yield* IdpSyncRepository
  const claims = yield* ClaimRepository
  const inForce = yield* IdpSyncInForce
  const { group, organization, role } = inForce.definitions

  const read = <A extends Settings>(definition: IdpSyncDefinition<A>, scope: IdpSyncScope) =>
    Effect.zipRight(Access.authorize("read", objectOf(scope)), inForce.settingsOf(definition, scope))

  /** The scope of claims to read: all users, or the members of an organization. */
  const claimsIn = (scope: IdpSyncScope) =>
    Effect.as(Access.authorize("read", objectOf(scope)), {
      organization_id: scope.id === nil ? undefined : scope.id,
      limit: maximumClaims
    })

  const { writeOrganization, writeGroups, writeRoles } = syncSettingsChanges({
    changes,
    rights,
    repository,
    directory,
    customRoles,
    organization,
    organizations,
    group,
    role
  })

  return {
    availableFields: Traced.fn("IdpSyncSettings.availableFields")(() =>
      Effect.flatMap(claimsIn(deploymentScope), (query) => claims.names(query))
    ),

    fieldValues: Traced.fn("IdpSyncSettings.fieldValues")((claim: string) =>
      Effect.flatMap(claimsIn(deploymentScope), (query) => claims.values(claim, query))
    ),

    availableFieldsIn: Traced.fn("IdpSyncSettings.availableFieldsIn")(function* (reference: string) {
      return yield* claims.names(yield* claimsIn(yield* organizations.get(reference)))
    }),

    fieldValuesIn: Traced.fn("IdpSyncSettings.fieldValuesIn")(function* (reference: string, claim: string) {
      return yield* claims.values(claim, yield* claimsIn(yield* organizations.get(reference)))
    }),

    organization: Traced.fn("IdpSyncSettings.organization")(() => read(organization, deploymentScope)),

    replaceOrganization: Traced.fn("IdpSyncSettings.replaceOrganization")((settings: OrganizationSyncSettings) =>
      writeOrganization(() => settings)
    ),

    configureOrganization: Traced.fn("IdpSyncSettings.configureOrganization")((settings: Omit<OrganizationSyncSettings, "mapping">) =>
      writeOrganization((before) => ({ ...before, ...settings }))
    ),

    mapOrganization: Traced.fn("IdpSyncSettings.mapOrganization")((change: MappingChange<Uuid>) =>
      writeOrganization((before) => ({ ...before, mapping: changedMapping(before.mapping, change) }))
    ),

    groups: Traced.fn("IdpSyncSettings.groups")((reference: string) =>
      Effect.flatMap(organizations.get(reference), (scope) => read(group, scope))
    ),

    replaceGroups: Traced.fn("IdpSyncSettings.replaceGroups")(function* (reference: string, settings: GroupSyncSettings) {
      if (Object.keys(settings.legacy_group_name_mapping).length > 0) {
        return yield* Invalid.field("legacy_group_name_mapping", "cannot be written: use mapping")
      }
      return yield* writeGroups(reference, () => settings)
    }),

    configureGroups: Traced.fn("IdpSyncSettings.configureGroups")(
      (reference: string, settings: Omit<GroupSyncSettings, "mapping" | "legacy_group_name_mapping">) =>
        writeGroups(reference, (before) => ({ ...before, ...settings }))
    ),

    mapGroups: Traced.fn("IdpSyncSettings.mapGroups")((reference: string, change: MappingChange<Uuid>) =>
      writeGroups(reference, (before) => ({ ...before, mapping: changedMapping(before.mapping, change) }))
    ),

    roles: Traced.fn("IdpSyncSettings.roles")((reference: string) =>
      Effect.flatMap(organizations.get(reference), (scope) => read(role, scope))
    ),

    replaceRoles: Traced.fn("IdpSyncSettings.replaceRoles")((reference: string, settings: RoleSyncSettings) =>
      writeRoles(reference, () => settings)
    ),

    configureRoles: Traced.fn("IdpSyncSettings.configureRoles")((reference: string, settings: Omit<RoleSyncSettings, "mapping">) =>
      writeRoles(reference, (before) => ({ ...before, ...settings }))
    ),

    mapRoles: Traced.fn("IdpSyncSettings.mapRoles")((reference: string, change: MappingChange) =>
      writeRoles(reference, (before) => ({ ...before, mapping: changedMapping(before.mapping, change) }))
    )
  }
})

/** Management of the settings for claims of an OpenID Connect provider. authorization.md §11.1. */
export class IdpSyncSettings extends Context.Tag("@atelier/core/IdpSyncSettings")<IdpSyncSettings, IdpSyncSettingsService>() {
  static readonly layer = standingOn(service(IdpSyncSettings, make), Organizations.layer, IdpSyncInForce.layer)
}
