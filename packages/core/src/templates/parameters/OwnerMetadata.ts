import { Context, Effect, Option } from "effect"
import { AccessPredicate } from "../../access/decisions/AccessPredicate.js"
import { organizationMember } from "../../access/roles/OrganizationSystemRoles.js"
import { GroupRepository } from "../../groups/GroupRepository.js"
import { GitSshKeyRepository } from "../../identity/secrets/GitSshKey.js"
import { AccountRepository } from "../../identity/users/AccountRepository.js"
import type { User } from "../../identity/users/User.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { OrganizationRepository } from "../../organizations/OrganizationRepository.js"
import { nil, type Uuid } from "../../platform/texts/Uuid.js"
import type { BuildMetadata } from "../../provisioning/engines/ProvisionerEngine.js"
import { TemplateRepository } from "../TemplateRepository.js"
import type { TemplateVersion } from "../versions/TemplateVersion.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"

/** The metadata of a build that describe the workspace's owner. */
export type OwnerFields = Pick<
  BuildMetadata,
  | "owner_id"
  | "owner_username"
  | "owner_name"
  | "owner_email"
  | "owner_login_type"
  | "owner_groups"
  | "owner_rbac_roles"
  | "owner_ssh_public_key"
>

/** The methods of {@link OwnerMetadata}. */
export interface OwnerMetadataService {
  /** The owner of a workspace in an organization. Four statements. */
  readonly of: (owner: User, organizationId: Uuid) => Effect.Effect<OwnerFields>

  /** The start of a workspace of a version that is planned but not made, as forms and dry runs need it. */
  readonly ofPlannedStart: (version: TemplateVersion, owner: User, workspace_name: string) => Effect.Effect<BuildMetadata>
}

const make = Effect.gen(function* () {
  const groups = yield* GroupRepository
  const sshKeys = yield* GitSshKeyRepository
  const accounts = yield* AccountRepository
  const organizations = yield* OrganizationRepository
  const templates = yield* TemplateRepository

  /** Roles of the deployment first; those that follow from the membership stand before those that were given. */
  const rolesOf = (owner: User, organizationId: Uuid) =>
    Effect.gen(function* () {
      const given = (yield* accounts.organizationRoles(owner.id)).find(({ organization_id }) => organization_id === organizationId)
      const organization = Option.getOrUndefined(yield* organizations.byId(organizationId))
      const ofMember = given === undefined ? [] : [organizationMember, ...(organization?.default_org_member_roles ?? []), ...given.roles]
      return [
        ...[...owner.rbac_roles, "member"].map((name) => ({ name, org_id: "" })),
        ...Array.from(new Set(ofMember), (name) => ({ name, org_id: organizationId }))
      ]
    })

  const of = Traced.fn("OwnerMetadata.of")(function* (owner: User, organizationId: Uuid) {
    const key = yield* sshKeys.ofUser(owner.id)
    const ofOwner = yield* groups.list({ organization_id: organizationId, has_member: owner.id }, AccessPredicate.True())
    return {
      owner_id: owner.id,
      owner_username: owner.username,
      owner_name: owner.name,
      owner_email: owner.email,
      owner_login_type: owner.login_type,
      owner_groups: ofOwner.map(({ name }) => name),
      owner_rbac_roles: yield* rolesOf(owner, organizationId),
      owner_ssh_public_key: Option.match(key, { onNone: () => "", onSome: ({ public_key }) => public_key })
    } satisfies Partial<BuildMetadata>
  })

  return {
    of,

    ofPlannedStart: Traced.fn("OwnerMetadata.ofPlannedStart")(function* (version: TemplateVersion, owner: User, workspace_name: string) {
      const { accessUrl } = yield* DeploymentOptions
      const template = version.template_id === null ? Option.none() : yield* templates.byId(version.template_id)
      return {
        access_url: accessUrl,
        transition: "start",
        workspace_id: nil,
        workspace_name,
        workspace_build_id: nil,
        ...(yield* of(owner, version.organization_id)),
        template_id: version.template_id ?? nil,
        template_name: Option.match(template, { onNone: () => "", onSome: ({ name }) => name }),
        template_version: version.name
      } satisfies BuildMetadata
    })
  }
})

/** What engines are told of owners, and of the workspaces that are planned for them. */
export class OwnerMetadata extends Context.Tag("@atelier/core/OwnerMetadata")<OwnerMetadata, OwnerMetadataService>() {
  static readonly layer = service(OwnerMetadata, make)
}
