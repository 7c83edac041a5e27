import { Access, SystemActor } from "@atelier/core/access"
import { AccountRepository, UserRepository, UserRoles } from "@atelier/core/identity"
import { Timestamp } from "@atelier/core/platform"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { describeServerOnEach, type Person } from "../../../../../test/http/server.js"

describeServerOnEach("the last owner", (server, once) => {
  const remove = (user: string, { token }: Person) => server().call("DELETE", `/users/${user}`, { token })
  const suspend = (user: string, { token }: Person) => server().call("PUT", `/users/${user}/status/suspend`, { token })
  const demote = (user: string, { token }: Person) => server().call("PUT", `/users/${user}/roles`, { token, body: { roles: [] } })
  const owners = () => server().run(Effect.flatMap(AccountRepository, ({ lockOwners }) => lockOwners))

  once("cannot be deleted, suspended or demoted", async () => {
    const owner = server().owner()
    const admin = await server().aMember({ rbac_roles: ["user-admin"] })
    const answers = await Promise.all([
      remove(owner.user.id, admin),
      suspend(owner.user.id, admin),
      remove("me", owner),
      suspend("me", owner),
      demote("me", owner)
    ])
    expect(answers.map(({ status }) => status)).toStrictEqual(answers.map(() => 409))
    expect(new Set(answers.slice(0, 3).map(({ text }) => text)).size).toBe(2)
    expect(answers[0]?.body).toMatchObject({ message: expect.stringContaining("last owner") })
    expect(await owners()).toStrictEqual([owner.user.id])
  })

  once("is not demoted by the service itself", async () => {
    const refused = server().run(
      Effect.flatMap(UserRoles, ({ replace }) => Effect.flip(replace(server().owner().user.id, ["auditor"]))).pipe(
        Access.actingAs({ ...SystemActor.systemRestricted })
      )
    )
    expect(await refused).toMatchObject({ _tag: "Conflict" })
  })

  once("may be removed only while another active owner exists", async () => {
    const owner = server().owner()
    const other = await server().aMember({ rbac_roles: ["owner"] })
    const admin = await server().aMember({ rbac_roles: ["user-admin"] })
    expect((await suspend(owner.user.id, admin)).status).toBe(400)
    expect((await remove("me", owner)).status).toBe(403)
    expect((await demote("me", owner)).status).toBe(400)
    const setStatus = (from: "active" | "suspended", to: "active" | "suspended") =>
      server().run(
        Effect.gen(function* () {
          yield* (yield* UserRepository).updateStatus(other.user.id, from, to, yield* Timestamp.now)
        })
      )
    await setStatus("active", "suspended")
    expect((await remove(owner.user.id, admin)).status).toBe(409)
    await setStatus("suspended", "active")
    expect((await demote(other.user.id, owner)).status).toBe(200)
    expect((await remove(owner.user.id, admin)).status).toBe(409)
  })

  it("remains when all owners are deleted at once", async () => {
    const admins = await Promise.all(Array.from({ length: 3 }, () => server().aMember({ rbac_roles: ["user-admin"] })))
    const others = await Promise.all(Array.from({ length: 2 }, () => server().aMember({ rbac_roles: ["owner"] })))
    // Without the first one, which the other tests need
    await server().run(
      Effect.gen(function* () {
        const { updateRoles } = yield* AccountRepository
        yield* updateRoles({ id: server().owner().user.id, rbac_roles: [], updated_at: yield* Timestamp.now })
      })
    )
    const answers = await Promise.all(others.map(({ user }, index) => remove(user.id, admins[index] ?? server().owner())))
    expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([200, 409])
    expect(await owners()).toHaveLength(1)
    await server().run(
      Effect.gen(function* () {
        const { updateRoles } = yield* AccountRepository
        yield* updateRoles({ id: server().owner().user.id, rbac_roles: ["owner"], updated_at: yield* Timestamp.now })
      })
    )
  })

  it("remains when two transactions delete one owner and demote the other", async () => {
    const owner = server().owner()
    for (const id of await owners()) if (id !== owner.user.id) expect((await demote(id, owner)).status).toBe(200)
    const other = await server().aMember({ rbac_roles: ["owner"] })
    const admin = await server().aMember({ rbac_roles: ["user-admin"] })
    const answers = await Promise.all([demote(other.user.id, owner), remove(owner.user.id, admin)])
    const [demoted, removed] = answers.map(({ status }) => status)
    // The deleted owner is refused by whichever check comes first
    expect(demoted === 200 ? [409] : [200]).toContain(removed)
    expect(await owners()).toHaveLength(1)
  })
})
