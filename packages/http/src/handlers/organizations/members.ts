import { permissionsOf, type Role as StoredRole, siteRole } from "@atelier/core/access"
import { CustomRoles, type Member, Members, type WithRoleNames } from "@atelier/core/organizations"
import { Effect, Stream } from "effect"
import * as contract from "../../contract/organizations/members.js"
import { MemberWithUserData, type Role } from "../../contract/organizations/members.js"
import { jsonArray } from "../../server/codec/streams.js"
import * as Handlers from "../Handlers.js"

const memberView = ({ avatar_url, is_service_account, name, rbac_roles, ...member }: WithRoleNames<Member>): MemberWithUserData => ({
  ...member,
  ...(avatar_url === "" ? {} : { avatar_url }),
  ...(name === "" ? {} : { name }),
  global_roles: rbac_roles.map((role) => ({ name: role, display_name: siteRole(role)?.display_name ?? "" })),
  has_ai_seat: false,
  ...(is_service_account ? { is_service_account } : {})
})

const roleView = (role: StoredRole): Role => ({
  name: role.name,
  display_name: role.display_name,
  ...(role.organization_id === undefined ? {} : { organization_id: role.organization_id }),
  ...permissionsOf(role)
})

export const members = Handlers.group(contract.members, (handlers) =>
  Effect.gen(function* () {
    const members = yield* Members
    const roles = yield* CustomRoles
    return handlers
      .handle("listMembers", ({ path, urlParams }) =>
        Effect.flatMap(members.list(path.organization, urlParams.q), (found) =>
          jsonArray(MemberWithUserData, Stream.map(found, memberView))
        )
      )
      .handle("pageMembers", ({ path, urlParams: { q, ...page } }) =>
        Effect.map(members.page(path.organization, q, page), ({ count, members }) => ({ count, members: members.map(memberView) }))
      )
      .handle("listOrganizationRoles", ({ path }) =>
        Effect.map(roles.list(path.organization), (offered) =>
          offered.map(({ assignable, built_in, role }) => ({ ...roleView(role), assignable, built_in }))
        )
      )
      .handle("createCustomRole", ({ path, payload }) => Effect.map(roles.create(path.organization, payload), roleView))
      .handle("updateCustomRole", ({ path, payload }) => Effect.map(roles.update(path.organization, payload), roleView))
      .handle("deleteCustomRole", ({ path }) => roles.delete(path.organization, path.roleName))
      .handle("getMember", ({ path }) => Effect.map(members.get(path.organization, path.user), memberView))
      .handle("addMember", ({ path }) => members.add(path.organization, path.user))
      .handle("removeMember", ({ path }) => members.remove(path.organization, path.user))
      .handle("updateMemberRoles", ({ path, payload }) => members.replaceRoles(path.organization, path.user, payload.roles))
  })
)
