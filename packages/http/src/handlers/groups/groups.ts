import { GroupChanges, Groups, type GroupWithRoster } from "@atelier/core/groups"
import type { User } from "@atelier/core/identity"
import { Effect, Stream } from "effect"
import * as contract from "../../contract/groups/groups.js"
import { Group, type ReducedUser } from "../../contract/groups/groups.js"
import { jsonObject, jsonObjects } from "../../server/codec/streams.js"
import * as Handlers from "../Handlers.js"
import { userView } from "../identity/users.js"

/** A user as members of groups are shown; the writer leaves out what the schema does not name. */
export const reducedUserView = (user: User): ReducedUser => userView({ ...user, organization_ids: [] })

/** A group as its readers see it. */
export const groupView = (group: GroupWithRoster): Group => ({ ...group, members: group.members.map(reducedUserView) })

/** Groups as they are written, in the parts that they come in. */
const partsOf = (groups: Stream.Stream<GroupWithRoster>) =>
  ({ schema: Group, list: "members", parts: Stream.map(groups, groupView) }) as const

const membersView = ({ count, users }: { readonly count: number; readonly users: ReadonlyArray<User> }) => ({
  count,
  users: users.map(reducedUserView)
})

export const groups = Handlers.group(contract.groups, (handlers) =>
  Effect.gen(function* () {
    const groups = yield* Groups
    const changes = yield* GroupChanges
    return handlers
      .handle("listGroups", ({ urlParams }) => Effect.flatMap(groups.list(urlParams), (found) => jsonObjects(partsOf(found))))
      .handle("getGroup", ({ path, urlParams }) =>
        Effect.flatMap(groups.get(path.group, { excludeMembers: urlParams.exclude_members }), (found) => jsonObject(partsOf(found)))
      )
      .handle("listGroupMembers", ({ path, urlParams: { q, ...page } }) => Effect.map(groups.members(path.group, q, page), membersView))
      .handle("updateGroup", ({ path, payload }) =>
        Effect.flatMap(changes.update(path.group, payload), (group) => jsonObject(partsOf(group)))
      )
      .handle("deleteGroup", ({ path }) => Effect.flatMap(changes.delete(path.group), (group) => jsonObject(partsOf(group))))
  })
)

export const organizationGroups = Handlers.group(contract.organizationGroups, (handlers) =>
  Effect.gen(function* () {
    const groups = yield* Groups
    const changes = yield* GroupChanges
    return handlers
      .handle("listOrganizationGroups", ({ path, urlParams }) =>
        Effect.flatMap(groups.listInOrganization(path.organization, urlParams), (found) => jsonObjects(partsOf(found)))
      )
      .handle("listGroupsInPages", ({ path, urlParams: { q, ...page } }) => groups.page(path.organization, q, page))
      .handle("createGroup", ({ path, payload }) => Effect.map(changes.create(path.organization, payload), groupView))
      .handle("getGroupByName", ({ path, urlParams }) =>
        Effect.flatMap(groups.getByName(path.organization, path.groupName, { excludeMembers: urlParams.exclude_members }), (found) =>
          jsonObject(partsOf(found))
        )
      )
      .handle("listGroupMembersByName", ({ path, urlParams: { q, ...page } }) =>
        Effect.map(groups.membersByName(path.organization, path.groupName, q, page), membersView)
      )
  })
)
