import { Context, Effect, Option } from "effect"
import { organizationMember } from "../../access/roles/OrganizationSystemRoles.js"
import type { User } from "../../identity/users/User.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { nil, type Uuid } from "../../platform/texts/Uuid.js"
import type { BuildMetadata } from "../../provisioning/engines/ProvisionerEngine.js"
import { TemplateRepository } from "../TemplateRepository.js"
import { OwnerMetadataRepository, type StoredOwner } from "./OwnerMetadataRepository.js"
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
  /** The owner of a workspace in an organization. */
  readonly of: (owner: User, organizationId: Uuid) => Effect.Effect<OwnerFields>

  /**
   * The start of a workspace of a version that is planned but not made, as forms and dry runs need it. The template's name is read unless it is
   * given.
   */
  readonly ofPlannedStart: (
    version: TemplateVersion,
    owner: User,
    workspace_name: string,
    template_name?: string
  ) => Effect.Effect<BuildMetadata>
}

const make = Effect.gen(function* () {
  const stored = yield* OwnerMetadataRepository
  const templates = yield* TemplateRepository

  /** Roles of the deployment first; those that follow from the membership stand before those that were given. */
  const rolesOf = ({ rbac_roles }: User, organizationId: Uuid, { member_roles, organization_roles }: StoredOwner) => {
    const ofMember = organization_roles === null ? [] : [organizationMember, ...member_roles, ...organization_roles]
    return [
      ...[...rbac_roles, "member"].map((name) => ({ name, org_id: "" })),
      ...Array.from(new Set(ofMember), (name) => ({ name, org_id: organizationId }))
    ]
  }

  const nameOf = ({ template_id }: TemplateVersion) =>
    template_id === null
      ? Effect.succeed("")
      : Effect.map(templates.byId(template_id), Option.match({ onNone: () => "", onSome: ({ name }) => name }))

  const of = Traced.fn("OwnerMetadata.of")(function* (owner: User, organizationId: Uuid) {
    const found = yield* stored.of(owner.id, organizationId)
    return {
      owner_id: owner.id,
      owner_username: owner.username,
      owner_name: owner.name,
      owner_email: owner.email,
      owner_login_type: owner.login_type,
      owner_groups: found.groups,
      owner_rbac_roles: rolesOf(owner, organizationId, found),
      owner_ssh_public_key: found.public_key ?? ""
    } satisfies Partial<BuildMetadata>
  })

  return {
    of,

    ofPlannedStart: Traced.fn("OwnerMetadata.ofPlannedStart")(function* (
      version: TemplateVersion,
      owner: User,
      workspace_name: string,
      template_name?: string
    ) {
      const { accessUrl } = yield* DeploymentOptions
      return {
        access_url: accessUrl,
        transition: "start",
        workspace_id: nil,
        workspace_name,
        workspace_build_id: nil,
        ...(yield* of(owner, version.organization_id)),
        template_id: version.template_id ?? nil,
        template_name: template_name ?? (yield* nameOf(version)),
        template_version: version.name
      } satisfies BuildMetadata
    })
  }
})

/** What engines are told of owners, and of the workspaces that are planned for them. */
export class OwnerMetadata extends Context.Tag("@atelier/core/OwnerMetadata")<OwnerMetadata, OwnerMetadataService>() {
  static readonly layer = service(OwnerMetadata, make)
}
