import { type Group, GroupMemberRepository, GroupRepository } from "@atelier/core/groups"
import { LoginSyncRepository, UserDeletionRepository, UserRepository } from "@atelier/core/identity"
import { MemberRepository, OrganizationChangeRepository, OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { aUser, anOrganization } from "../../../../test/records/builders.js"
import { postgres } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"
import { Statements } from "../../src/platform/Statements.js"

/** Until so many transactions wait for another, or the fiber has ended. */
const untilWaiting = (count: number, fiber: Fiber.RuntimeFiber<unknown, unknown>) =>
  Effect.gen(function* () {
    const sql = yield* Statements
    yield* Effect.repeat(
      sql<{ readonly count: number }>`SELECT CAST(count(*) AS integer) AS count FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      { until: ([row]) => Effect.map(Fiber.poll(fiber), (exit) => exit._tag === "Some" || (row !== undefined && row.count >= count)) }
    )
  })

/** An organization with members that are in a group, in the order of their ids. */
const aCrew = (size: number) =>
  Effect.gen(function* () {
    const now = yield* Timestamp.now
    const organization = yield* anOrganization()
    yield* Effect.flatMap(OrganizationRepository, ({ insert }) => insert(organization))
    const users = yield* Effect.forEach(Array.from({ length: size }), () => aUser())
    const { insert } = yield* MemberRepository
    for (const user of users) {
      yield* Effect.flatMap(UserRepository, (repository) => repository.insert(user, null))
      yield* insert({ organization_id: organization.id, user_id: user.id, created_at: now, updated_at: now, roles: [] })
    }
    const { id } = yield* anOrganization()
    const group: Group = {
      id,
      organization_id: organization.id,
      name: "crew",
      display_name: "",
      avatar_url: "",
      quota_allowance: 0,
      source: "user"
    }
    const groups = yield* GroupRepository
    yield* groups.insert(group)
    const members = yield* GroupMemberRepository
    for (const user of users) yield* members.add(group.id, [user.id])
    return { group, now, organization, users }
  })

/** A transaction that has run a statement and stays open until it is told to end. */
const paused = <R>(statement: Effect.Effect<unknown, unknown, R>) =>
  Effect.gen(function* () {
    const sql = yield* Statements
    const begun = yield* Deferred.make<void>()
    const end = yield* Deferred.make<void>()
    const body = Effect.zipRight(statement, Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(end)))
    const fiber = yield* Effect.fork(sql.transaction(body))
    yield* Deferred.await(begun)
    return Effect.zipRight(Deferred.succeed(end, undefined), Fiber.await(fiber))
  })

// Not in transactions of the store's own, which run again after a deadlock; SQLite's run one after the other
layer(Layer.merge(postgres, runtime))("who goes from groups at the same time on PostgreSQL", (it) => {
  it.effect("is deleted while it leaves an organization", () =>
    Effect.gen(function* () {
      const sql = yield* Statements
      const { group, now, organization, users } = yield* aCrew(1)
      const id = users[0]?.id ?? group.id
      const resume = yield* paused(sql`SELECT 1 FROM group_members WHERE group_id = ${group.id} AND user_id = ${id} FOR UPDATE`)
      const deleted = yield* Effect.fork(
        sql.transaction(Effect.flatMap(UserDeletionRepository, (repository) => repository.delete(id, now)))
      )
      yield* untilWaiting(1, deleted)
      const left = yield* Effect.fork(sql.transaction(Effect.flatMap(MemberRepository, (members) => members.delete(organization.id, id))))
      yield* untilWaiting(2, left)
      yield* resume
      expect([yield* Fiber.await(deleted), yield* Fiber.await(left)]).toStrictEqual([Exit.void, Exit.succeed(false)])
    })
  )

  it.effect("does not wait for the deletion of its group", () =>
    Effect.gen(function* () {
      const sql = yield* Statements
      const groups = yield* GroupRepository
      const members = yield* GroupMemberRepository
      const { group, users } = yield* aCrew(3)
      const [first, second] = users.map(({ id }) => id)
      const exit = (id = group.id) => members.remove(group.id, [id])
      const resume = yield* paused(exit(first))
      const dropped = yield* Effect.fork(sql.transaction(Effect.zipRight(groups.lockForDeletion(group.id), groups.delete(group.id))))
      yield* untilWaiting(1, dropped)
      // The count is being changed by the first
      const exited = yield* Effect.fork(sql.transaction(exit(second)))
      yield* untilWaiting(2, exited)
      yield* resume
      expect([yield* Fiber.await(exited), yield* Fiber.await(dropped)]).toStrictEqual([Exit.void, Exit.void])
      expect(yield* sql`SELECT 1 FROM group_counts WHERE group_id = ${group.id}`).toStrictEqual([])
    })
  )

  it.effect("does not wait for the deletion of its organization, which leaves no count", () =>
    Effect.gen(function* () {
      const sql = yield* Statements
      const { group, now, organization, users } = yield* aCrew(2)
      yield* Effect.flatMap(GroupRepository, (groups) => groups.delete(group.id))
      const changes = yield* OrganizationChangeRepository
      const members = yield* MemberRepository
      const id = users[1]?.id ?? organization.id
      // What is deleted of the organization up to its members
      const held = sql`SELECT 1 FROM organization_members WHERE organization_id = ${organization.id} AND user_id = ${users[0]?.id ?? id} FOR UPDATE`
      const resume = yield* paused(held)
      const dropped = yield* Effect.fork(
        sql.transaction(Effect.zipRight(changes.lockForDeletion(organization.id), changes.delete(organization.id, now)))
      )
      yield* untilWaiting(1, dropped)
      const left = yield* Effect.fork(sql.transaction(members.delete(organization.id, id)))
      yield* untilWaiting(2, left)
      yield* resume
      expect([yield* Fiber.await(left), yield* Fiber.await(dropped)]).toStrictEqual([Exit.succeed(true), Exit.void])
      expect(yield* sql`SELECT 1 FROM group_counts WHERE group_id = ${organization.id}`).toStrictEqual([])
    })
  )

  it.effect("is not put into a group by a login that saw it as a member", () =>
    Effect.gen(function* () {
      const { group, organization, users } = yield* aCrew(1)
      const id = users[0]?.id ?? group.id
      const groupMembers = yield* GroupMemberRepository
      yield* groupMembers.remove(group.id, [id])
      const resume = yield* paused(Effect.flatMap(MemberRepository, (members) => members.delete(organization.id, id)))
      const entered = yield* Effect.fork(Effect.flatMap(LoginSyncRepository, ({ enter }) => enter(id, [group.id])))
      yield* untilWaiting(1, entered)
      yield* resume
      yield* Fiber.join(entered)
      expect(yield* groupMembers.ids(group.id, undefined)).toStrictEqual([])
    })
  )
})
