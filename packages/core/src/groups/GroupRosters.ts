import { Chunk, Effect, Stream } from "effect"
import * as Access from "../access/Access.js"
import type { AccessPredicate } from "../access/decisions/AccessPredicate.js"
import type { User } from "../identity/users/User.js"
import type { GroupWithNames, GroupWithRoster } from "./Group.js"
import type { GroupMemberRepository } from "./GroupMemberRepository.js"

/** Members that are read with one statement, of several groups that have no more together. */
const maximumTogether = 250

/** Groups, in their order, whose members can be read together; one with more is by itself. */
const batches = (groups: ReadonlyArray<GroupWithNames>): ReadonlyArray<ReadonlyArray<GroupWithNames>> => {
  const result: Array<Array<GroupWithNames>> = []
  let room = 0
  for (const group of groups) {
    const size = Math.max(1, group.total_member_count)
    const last = result.at(-1)
    if (last === undefined || size > room) {
      result.push([group])
      room = maximumTogether - size
    } else {
      last.push(group)
      room -= size
    }
  }
  return result
}

interface Needs {
  readonly memberships: GroupMemberRepository["Type"]
}

/** Groups with their members, with few statements for any number of groups. */
export const groupRosters = ({ memberships }: Needs) => {
  /** Groups with few members, with one statement. */
  const together = (groups: ReadonlyArray<GroupWithNames>, readable: AccessPredicate) => {
    const rosters = Effect.map(
      memberships.rosters(
        groups.map(({ id }) => id),
        readable
      ),
      (entries) => {
        const members = new Map<string, Array<User>>(groups.map(({ id }) => [id, []]))
        for (const { group_id, ...user } of entries) members.get(group_id)?.push(user)
        return groups.map((group): GroupWithRoster => ({ ...group, members: members.get(group.id) ?? [] }))
      }
    )
    return Stream.rechunk(Stream.fromIterableEffect(rosters), maximumTogether)
  }

  /** A group with any number of members. */
  const inParts = (group: GroupWithNames, readable: AccessPredicate) =>
    memberships.roster(group, readable).pipe(
      Stream.mapChunks((members) => Chunk.of<GroupWithRoster>({ ...group, members: Chunk.toReadonlyArray(members) })),
      // Also where the actor sees none of them
      (parts) => Stream.concat(Stream.succeed<GroupWithRoster>({ ...group, members: [] }), parts)
    )

  /** One statement's worth of members is held at a time. */
  const withMembers = (groups: ReadonlyArray<GroupWithNames>, readable: AccessPredicate): Stream.Stream<GroupWithRoster> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const parted = batches(groups)
        if (parted.length === 0) return Stream.empty
        const ids = groups.map(({ id }) => id)
        // Many groups with few visible members are read with one statement
        const areFew = parted.length > 1 && (yield* memberships.rosterLength(ids, readable, maximumTogether + 1)) <= maximumTogether
        return Stream.flatMap(Stream.fromIterable(areFew ? [groups] : parted), (batch) => {
          const [first, ...others] = batch
          return first !== undefined && others.length === 0 ? inParts(first, readable) : together(batch, readable)
        })
      })
    )

  const withRoster = (group: GroupWithNames) =>
    Effect.map(Access.predicate("read", "group_member"), (readable) => withMembers([group], readable))

  return { withMembers, withRoster }
}
