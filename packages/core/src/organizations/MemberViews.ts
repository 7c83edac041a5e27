import { Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { CurrentActor } from "../access/actors/Actor.js"
import { isBuiltIn, organizationRole } from "../access/roles/Roles.js"
import { meAlias } from "../identity/users/User.js"
import { isName } from "../platform/texts/Name.js"
import { parse } from "../platform/texts/Uuid.js"
import type { CustomRoleRepository } from "./CustomRoleRepository.js"
import type { OrganizationMember, WithRoleNames } from "./Member.js"
import type { MemberRepository } from "./MemberRepository.js"
import { noMember } from "./MemberRoles.js"
import type { OrganizationId } from "./Organization.js"

interface Needs {
  readonly customRoles: CustomRoleRepository["Type"]
  readonly repository: MemberRepository["Type"]
}

/** How a member is found, and shown with the names of the roles. */
export const memberViews = ({ customRoles, repository }: Needs) => {
  const named = <A extends OrganizationMember>(organizationId: OrganizationId, members: ReadonlyArray<A>) =>
    Effect.gen(function* () {
      const names = new Set(members.flatMap(({ roles }) => roles).filter((name) => !isBuiltIn(name)))
      const custom = new Map((yield* customRoles.named(organizationId, Array.from(names))).map((role) => [role.name, role.display_name]))
      return members.map((member): WithRoleNames<A> => ({
        ...member,
        roles: member.roles.map((name) => ({
          name,
          display_name: organizationRole(name)?.display_name ?? custom.get(name) ?? "",
          organization_id: organizationId
        }))
      }))
    })

  const namedOne = <A extends OrganizationMember>(member: A) =>
    Effect.map(named(member.organization_id, [member]), ([only]) => only ?? { ...member, roles: [] })

  /** The member that a path names. Reading a membership does not require the right to read the user. */
  const find = (organizationId: OrganizationId, reference: string) =>
    Effect.gen(function* () {
      const id = reference === meAlias ? (yield* CurrentActor).userId : parse(reference)
      const found =
        id !== undefined
          ? yield* repository.byId(organizationId, id)
          : isName(reference)
            ? yield* repository.byUsername(organizationId, reference)
            : Option.none()
      return yield* Access.visible(Option.getOrNull(found), AccessObjects.organizationMember, noMember)
    })

  return { named, namedOne, find }
}

/** The result of {@link memberViews}. */
export type MemberViews = ReturnType<typeof memberViews>
