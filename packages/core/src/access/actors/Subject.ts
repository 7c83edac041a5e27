/** The subject of an authorization decision: an identity with its roles and groups, and the limits of its credential. authorization.md §1.2. */
import { type AllowList, normalizeAllowList } from "../scopes/AllowList.js"
import { expandAppScopes } from "../scopes/AppScope.js"
import { organizationMember, organizationServiceAccount, type ShareableWorkspaceOwners } from "../roles/OrganizationSystemRoles.js"
import type { Grants } from "../decisions/Permission.js"
import type { Role, RoleName } from "../roles/Role.js"
import type { RoleOptions } from "../roles/RoleOptions.js"
import { expandRoles } from "../roles/Roles.js"
import { expandScopes } from "../scopes/Scope.js"
import { impliedSiteRole } from "../roles/SiteRoles.js"

/** A role and the organization it is held in, if any. */
export interface HeldRole {
  readonly role: Role
  readonly organizationId: string | undefined
}

export interface Subject {
  readonly kind: "user" | "agent" | "system"
  readonly id: string
  readonly roles: ReadonlyArray<HeldRole>
  /** The organizations in which at least one role is held, with these roles. */
  readonly organizations: ReadonlyMap<string, ReadonlyArray<Role>>
  /** Groups it was put into; Everyone groups follow from the organizations. */
  readonly groups: ReadonlySet<string>
  /** The scopes of the credential, united. */
  readonly scope: ReadonlyArray<Grants>
  readonly allowList: AllowList
  readonly options: RoleOptions
}

export interface Membership {
  readonly organizationId: string
  /** The roles stored with the member. */
  readonly roles: ReadonlyArray<string>
  /** The organization's `default_org_member_roles`. */
  readonly defaultMemberRoles: ReadonlyArray<string>
  /** The organization's `shareable_workspace_owners`. */
  readonly shareMode: ShareableWorkspaceOwners
  readonly isServiceAccount: boolean
}

export interface SubjectInput {
  readonly userId: string
  /** The roles stored with the user; `member` is implied. */
  readonly siteRoles: ReadonlyArray<string>
  readonly memberships: ReadonlyArray<Membership>
  readonly groupIds?: ReadonlyArray<string> | undefined
  /** At least the stored roles that the names above can mean. */
  readonly customRoles?: ReadonlyArray<Role> | undefined
  /** The credential's scopes; `["coder:all"]` for a session. None grant nothing. */
  readonly scopes: ReadonlyArray<string>
  /** The credential's allow list; `unrestrictedAllowList` for a session. An empty one lets nothing through. */
  readonly allowList: AllowList
  /** Whether the credential is a token of an OAuth2 app, whose scopes mean less. */
  readonly isApp?: boolean | undefined
  readonly options?: RoleOptions | undefined
}

/** The subject of one request of a user. Roles act as they are stored now, so a subject must not outlive its request for long. */
export const buildSubject = (input: SubjectInput, kind: Subject["kind"] = "user"): Subject => {
  const { customRoles, options = {} } = input
  const site = expandRoles([impliedSiteRole, ...input.siteRoles], { customRoles, options })
  const organization = input.memberships.flatMap(({ organizationId, roles, defaultMemberRoles, shareMode, isServiceAccount }) => {
    const implied = isServiceAccount ? organizationServiceAccount : organizationMember
    const held = expandRoles([implied, ...roles, ...defaultMemberRoles], { organizationId, shareMode, customRoles, options })
    return held.map((role) => ({ role, organizationId }))
  })
  return subjectOf({
    kind,
    id: input.userId,
    roles: [...site.map((role) => ({ role, organizationId: undefined })), ...organization],
    groups: input.groupIds ?? [],
    scope: input.isApp === true ? expandAppScopes(input.scopes) : expandScopes(input.scopes),
    allowList: normalizeAllowList(input.allowList),
    options
  })
}

/** A subject from roles at hand. */
export const subjectOf = (parts: Omit<Subject, "organizations" | "groups"> & { readonly groups: Iterable<string> }): Subject => {
  const organizations = new Map<string, Array<Role>>()
  for (const { role, organizationId } of parts.roles) {
    if (organizationId === undefined) continue
    const held = organizations.get(organizationId)
    if (held === undefined) organizations.set(organizationId, [role])
    else held.push(role)
  }
  return { ...parts, organizations, groups: new Set(parts.groups) }
}

/** The names of the roles a subject holds, where it holds them. */
export const roleNames = (subject: Subject): ReadonlyArray<RoleName> =>
  subject.roles.map(({ role, organizationId }) => ({ name: role.name, organizationId }))
