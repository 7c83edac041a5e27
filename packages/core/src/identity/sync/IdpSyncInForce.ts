import { Context, Effect, Schema } from "effect"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import type { Organization } from "../../organizations/Organization.js"
import { nil, type Uuid } from "../../platform/texts/Uuid.js"
import { GroupSyncSettings, type Mapping, OrganizationSyncSettings, RoleSyncSettings } from "./IdpSync.js"
import { type IdpSyncKind, IdpSyncRepository } from "./IdpSyncRepository.js"
import { service } from "../../platform/wiring/Standing.js"

/** The scope of settings; the nil UUID, not the default organization's, stands for the deployment. */
export type IdpSyncScope = Pick<Organization, "id" | "is_default">

export const deploymentScope: IdpSyncScope = { id: nil, is_default: false }

/** One kind of settings: how they are read, and their default. */
export interface IdpSyncDefinition<A extends { readonly mapping: Mapping }> {
  readonly kind: IdpSyncKind
  readonly read: (stored: unknown) => A
  readonly initial: (scope: IdpSyncScope) => A
}

const noGroups: GroupSyncSettings = {
  field: "",
  mapping: {},
  regex_filter: null,
  auto_create_missing_groups: false,
  legacy_group_name_mapping: {}
}

/** The option's default. It filters nothing, so there is no filter. */
const everyGroup = ".*"

/** The definition of each kind of synchronization. */
export interface IdpSyncDefinitions {
  readonly organization: IdpSyncDefinition<OrganizationSyncSettings>
  readonly group: IdpSyncDefinition<GroupSyncSettings>
  readonly role: IdpSyncDefinition<RoleSyncSettings>
}

/** The methods of {@link IdpSyncInForce}. */
export interface IdpSyncInForceService {
  /** Whether the deployment is licensed to follow settings of a kind. */
  readonly isLicensed: (kind: IdpSyncKind) => boolean

  /** Whether settings of a kind are followed: they name a claim, and the deployment is licensed. */
  readonly isOn: (kind: IdpSyncKind, input: { readonly field: string }) => boolean

  /** Whether the roles of the deployment follow from claims. */
  readonly siteRolesFollow: () => boolean

  readonly definitions: IdpSyncDefinitions

  /** The settings of one scope. */
  readonly settingsOf: <A extends { readonly mapping: Mapping }>(definition: IdpSyncDefinition<A>, scope: IdpSyncScope) => Effect.Effect<A>

  /** Which organizations users are members of. */
  readonly organizations: Effect.Effect<OrganizationSyncSettings>

  /** Which groups of these organizations their members are in, by organization; one statement. */
  readonly groups: (scopes: ReadonlyArray<IdpSyncScope>) => Effect.Effect<ReadonlyMap<Uuid, GroupSyncSettings>>

  /** Which roles members have in these organizations, by organization; one statement. */
  readonly roles: (scopes: ReadonlyArray<IdpSyncScope>) => Effect.Effect<ReadonlyMap<Uuid, RoleSyncSettings>>
}

const make = Effect.gen(function* () {
  const repository = yield* IdpSyncRepository
  const options = yield* DeploymentOptions
  const licensed = yield* Entitlements

  const organization: IdpSyncDefinition<OrganizationSyncSettings> = {
    kind: "organization",
    read: Schema.decodeUnknownSync(OrganizationSyncSettings),
    initial: () => ({
      field: options.oidcOrganizationField,
      mapping: options.oidcOrganizationMapping,
      organization_assign_default: options.oidcOrganizationAssignDefault
    })
  }

  const group: IdpSyncDefinition<GroupSyncSettings> = {
    kind: "group",
    read: Schema.decodeUnknownSync(GroupSyncSettings),
    initial: ({ is_default }) =>
      is_default
        ? {
            ...noGroups,
            field: options.oidcGroupField,
            regex_filter: options.oidcGroupRegexFilter === everyGroup ? null : options.oidcGroupRegexFilter,
            auto_create_missing_groups: options.oidcGroupAutoCreate,
            legacy_group_name_mapping: options.oidcGroupMapping
          }
        : noGroups
  }

  const role: IdpSyncDefinition<RoleSyncSettings> = {
    kind: "role",
    read: Schema.decodeUnknownSync(RoleSyncSettings),
    initial: () => ({ field: "", mapping: {} })
  }

  const inForce = <A extends { readonly mapping: Mapping }>(
    { initial, kind, read }: IdpSyncDefinition<A>,
    scopes: ReadonlyArray<IdpSyncScope>
  ): Effect.Effect<ReadonlyMap<Uuid, A>> =>
    Effect.map(
      repository.find(
        kind,
        scopes.map(({ id }) => id)
      ),
      (found) => {
        const written = new Map(found.map(({ organization_id, settings }) => [organization_id, read(settings)]))
        return new Map(scopes.map((scope) => [scope.id, written.get(scope.id) ?? initial(scope)]))
      }
    )

  const settingsOf = <A extends { readonly mapping: Mapping }>(definition: IdpSyncDefinition<A>, scope: IdpSyncScope): Effect.Effect<A> =>
    Effect.map(inForce(definition, [scope]), (found) => found.get(scope.id) ?? definition.initial(scope))

  /** The feature that each kind belongs to. authorization.md §11.3. */
  const features = { organization: "multiple_organizations", group: "template_rbac", role: "user_role_management" } as const

  return {
    isLicensed: (kind: IdpSyncKind): boolean => licensed.has(features[kind]),
    isOn: (kind: IdpSyncKind, { field }: { readonly field: string }): boolean => field !== "" && licensed.has(features[kind]),
    siteRolesFollow: (): boolean => options.oidcUserRoleField !== "" && licensed.has("user_role_management"),
    definitions: { organization, group, role },
    settingsOf,
    organizations: settingsOf(organization, deploymentScope),
    groups: (scopes: ReadonlyArray<IdpSyncScope>) => inForce(group, scopes),
    roles: (scopes: ReadonlyArray<IdpSyncScope>) => inForce(role, scopes)
  }
})

/** The settings that logins apply: the stored ones, or else the deployment's. Callers check the permission to see them. */
export class IdpSyncInForce extends Context.Tag("@atelier/core/IdpSyncInForce")<IdpSyncInForce, IdpSyncInForceService>() {
  static readonly layer = service(IdpSyncInForce, make)
}
