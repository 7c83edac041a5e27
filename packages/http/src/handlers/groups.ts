import { GroupChanges, Groups, type GroupWithRoster } from "@atelier/core/groups"
import type { User } from "@atelier/core/identity"
import { Effect, Layer } from "effect"
import { Contract } from "../contract/Contract.js"
import type { Group, ReducedUser } from "../contract/groups.js"
import * as Handlers from "./Handlers.js"
import { userView } from "./users.js"

/** A user as members of groups are shown; the writer leaves out what the schema does not name. */
export const reducedUserView = (user: User): ReducedUser => userView({ ...user, organization_ids: [] })

/** A group as its readers see it. */
export const groupView = (group: GroupWithRoster): Group => ({ ...group, members: group.members.map(reducedUserView) })

const membersView = ({ count, users }: { readonly count: number; readonly users: ReadonlyArray<User> }) => ({
  count,
  users: users.map(reducedUserView)
})

const ofDeployment = Handlers.group(Contract, "groups", (handlers) =>
  Effect.gen(function* () {
    const groups = yield* Groups
    const changes = yield* GroupChanges
    return handlers
      .handle("listGroups", ({ urlParams }) => Effect.map(groups.list(urlParams), (found) => found.map(groupView)))
      .handle("getGroup", ({ path, urlParams }) =>
        Effect.map(groups.get(path.group, { excludeMembers: urlParams.exclude_members }), groupView)
      )
      .handle("listGroupMembers", ({ path, urlParams: { q, ...page } }) => Effect.map(groups.members(path.group, q, page), membersView))
      .handle("updateGroup", ({ path, payload }) => Effect.map(changes.update(path.group, payload), groupView))
      .handle("deleteGroup", ({ path }) => Effect.map(changes.delete(path.group), groupView))
  })
)

const ofOrganization = Handlers.group(Contract, "organizationGroups", (handlers) =>
  Effect.gen(function* () {
    const groups = yield* Groups
    const changes = yield* GroupChanges
    return handlers
      .handle("listOrganizationGroups", ({ path }) =>
        Effect.map(groups.listInOrganization(path.organization), (found) => found.map(groupView))
      )
      .handle("listGroupsInPages", ({ path, urlParams: { q, ...page } }) => groups.page(path.organization, q, page))
      .handle("createGroup", ({ path, payload }) => Effect.map(changes.create(path.organization, payload), groupView))
      .handle("getGroupByName", ({ path, urlParams }) =>
        Effect.map(groups.getByName(path.organization, path.groupName, { excludeMembers: urlParams.exclude_members }), groupView)
      )
      .handle("listGroupMembersByName", ({ path, urlParams: { q, ...page } }) =>
        Effect.map(groups.membersByName(path.organization, path.groupName, q, page), membersView)
      )
  })
)

export const groups = Layer.mergeAll(ofDeployment, ofOrganization)
