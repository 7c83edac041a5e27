import { SqlClient } from "@effect/sql"
import { AccessPredicate, prebuildsUserId } from "@atelier/core/access"
import { UserDeletionRepository, UserRepository } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { WorkspaceRepository } from "@atelier/core/workspaces"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { aUser } from "../../../../../test/records/builders.js"
import { describeServerOnEach, ownerPassword, type Person } from "../../../../../test/http/server.js"
import { planOf, statementsOf } from "../../../../../test/store/statements.js"
import { storedTemplate, storedWorkspace } from "../../../../../test/records/workspaces.js"

const Usernames = Schema.Struct({ users: Schema.Array(Schema.Struct({ username: Schema.String })) })

describeServerOnEach("deleting a user", (server, once) => {
  const remove = (user: string, { token }: Person = server().owner()) => server().call("DELETE", `/users/${user}`, { token })

  const sqlClient = Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))

  /** A workspace of a user, of a template that the first user made. */
  const aWorkspaceOf = (ownerId: Uuid.Uuid, deleted = false) =>
    Effect.gen(function* () {
      const organization = yield* Effect.flatten(Effect.flatMap(OrganizationRepository, (organizations) => organizations.default))
      const template = yield* storedTemplate({ organization_id: organization.id, created_by: server().owner().user.id })
      return (yield* storedWorkspace(template, ownerId, { workspace: { deleted } })).workspace
    })

  once("ends its sessions, removes its data and frees its names", async () => {
    const names = { username: "leaving", email: "leaving@example.com" }
    const { token, user } = await server().aMember(names)
    const secret = { name: "pass", value: "hidden", env_name: "PASS" }
    expect((await server().call("POST", "/users/me/secrets", { token, body: secret })).status).toBe(201)
    expect((await server().call("PUT", "/users/me/gitsshkey", { token })).status).toBe(200)
    await server().run(
      Effect.gen(function* () {
        const sql = yield* sqlClient
        const organization = yield* Effect.flatten(Effect.flatMap(OrganizationRepository, (organizations) => organizations.default))
        yield* sql`INSERT INTO group_members ${sql.insert({ group_id: organization.id, user_id: user.id })}`
        yield* aWorkspaceOf(user.id, true)
      })
    )

    const answer = await remove("Leaving")
    expect([answer.status, answer.text]).toStrictEqual([200, ""])
    expect((await server().call("GET", "/users/me", { token })).status).toBe(401)
    const left = await server().run(
      Effect.gen(function* () {
        const sql = yield* sqlClient
        const tables = ["api_keys", "git_ssh_keys", "user_secrets", "group_members", "organization_members", "user_deleted"]
        return yield* Effect.forEach(tables, (table) =>
          Effect.map(sql`SELECT user_id FROM ${sql(table)} WHERE user_id = ${user.id}`, ({ length }) => length)
        )
      })
    )
    expect(left).toStrictEqual([0, 0, 0, 0, 0, 1])

    const { token: owner } = server().owner()
    expect((await server().call("GET", "/users/leaving", { token: owner })).status).toBe(404)
    expect((await server().call("GET", `/users/${user.id}`, { token: owner })).body).toMatchObject({ id: user.id, organization_ids: [] })
    const listed = (await server().call("GET", "/users", { token: owner })).as(Usernames).users.map(({ username }) => username)
    expect(listed).not.toContain("leaving")
    expect((await remove(user.id)).status).toBe(404)
    expect((await remove("leaving")).status).toBe(404)
    const body = { ...names, password: ownerPassword, organization_ids: [Uuid.nil] }
    expect((await server().call("POST", "/users", { token: owner, body })).status).toBe(201)
  })

  once("is audited with the deleted user, and when refused", async () => {
    const { user } = await server().aMember({ username: "audited" })
    const auditor = await server().aMember({ rbac_roles: ["auditor"] })
    expect((await remove(user.id, auditor)).status).toBe(403)
    expect((await remove(user.id)).status).toBe(200)
    const entries = await server().run(auditEntries({ resource_id: user.id, resource_type: "user" }))
    expect(entries).toMatchObject([
      { action: "delete", status_code: 403, user_id: auditor.user.id, diff: {} },
      {
        action: "delete",
        status_code: 200,
        resource_target: "audited",
        user_id: server().owner().user.id,
        diff: { deleted: { old: false, new: true, secret: false } }
      }
    ])
  })

  once("is for those who manage users, and not for oneself", async () => {
    const member = await server().aMember()
    const other = await server().aMember()
    const admin = await server().aMember({ rbac_roles: ["user-admin"] })
    const unknown = await remove("0d4e1d3c-0000-7000-8000-000000000001", member)
    const hidden = await remove(other.user.id, member)
    expect([hidden.status, hidden.text]).toStrictEqual([404, unknown.text])
    expect((await remove("me", member)).status).toBe(403)
    expect((await remove("me")).status).toBe(409)
    expect((await remove(admin.user.username, admin)).status).toBe(403)
    expect((await remove(other.user.id, await server().aMember({ rbac_roles: ["template-admin"] }))).status).toBe(403)
    expect((await remove(other.user.id, admin)).status).toBe(200)
    // Only the actor itself is protected: another owner always remains
    const second = await server().aMember({ rbac_roles: ["owner"] })
    expect((await remove(second.user.id, admin)).status).toBe(200)
    expect((await server().call("DELETE", `/users/${member.user.id}`)).status).toBe(401)
  })

  once("is refused for the service's own users", async () => {
    expect((await remove(prebuildsUserId)).status).toBe(403)
  })

  once("is refused while the user has workspaces, even invisible ones", async () => {
    const { user } = await server().aMember()
    const admin = await server().aMember({ rbac_roles: ["user-admin"] })
    const workspace = await server().run(aWorkspaceOf(user.id))
    expect((await remove(user.id, admin)).status).toBe(417)
    expect((await remove(user.id)).status).toBe(417)
    // Without the right to delete users, the answer must not tell which of them have workspaces
    const auditor = await server().aMember({ rbac_roles: ["auditor"] })
    expect((await remove(user.id, auditor)).status).toBe(403)
    expect((await remove(user.id, await server().aMember())).status).toBe(404)
    expect((await server().call("GET", `/users/${user.id}`, { token: admin.token })).body).toMatchObject({
      organization_ids: [workspace.organization_id]
    })
    await server().run(
      Effect.gen(function* () {
        yield* (yield* WorkspaceRepository).markDeleted(workspace.id, yield* Timestamp.now)
      })
    )
    expect((await remove(user.id, admin)).status).toBe(200)
    // A workspace whose creation had begun is not created
    const isStored = await server().run(
      Effect.flatMap(WorkspaceRepository, ({ insert }) => insert({ ...workspace, id: Uuid.Uuid.make(prebuildsUserId), name: "late" }))
    )
    expect(isStored).toBe(false)
  })

  it("and creating a workspace for it do not both succeed", async () => {
    const { user } = await server().aMember()
    const workspace = await server().run(
      Effect.flatMap(aUser(), (someone) =>
        Effect.zipRight(
          Effect.flatMap(UserRepository, ({ insert }) => insert(someone, null)),
          aWorkspaceOf(someone.id)
        )
      )
    )
    const creation = server().run(
      Effect.flatMap(WorkspaceRepository, ({ insert }) => insert({ ...workspace, id: user.id, owner_id: user.id }))
    )
    const [{ status }, isStored] = await Promise.all([remove(user.id), creation])
    expect([200, 417]).toContain(status)
    expect(isStored).toBe(status === 417)
  })

  it("succeeds for one of the callers that race", async () => {
    const { user } = await server().aMember()
    const answers = await Promise.all(Array.from({ length: 4 }, () => remove(user.id)))
    expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([200, 404, 404, 404])
    const deletions = await server().run(
      Effect.flatMap(sqlClient, (sql) => sql`SELECT user_id FROM user_deleted WHERE user_id = ${user.id}`)
    )
    expect(deletions).toHaveLength(1)
  })

  it("leaves one of two owners who delete or demote each other concurrently", async () => {
    const { token } = server().owner()
    for (const second of ["delete", "demote"]) {
      const [ada, grace] = await Promise.all([server().aMember({ rbac_roles: ["owner"] }), server().aMember({ rbac_roles: ["owner"] })])
      const answers = await Promise.all([
        remove(grace.user.id, ada),
        second === "delete"
          ? remove(ada.user.id, grace)
          : server().call("PUT", `/users/${ada.user.id}/roles`, { token: grace.token, body: { roles: [] } })
      ])
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      const { users } = (await server().call("GET", "/users?q=role:owner", { token })).as(Usernames)
      const left = users.filter(({ username }) => [ada, grace].some(({ user }) => user.username === username))
      expect(left).toHaveLength(1)
    }
  })

  it("reads no whole table, and neither do the organizations of a user", async () => {
    const { user } = await server().aMember()
    const plans = await server().run(
      Effect.gen(function* () {
        const deletions = yield* UserDeletionRepository
        const { statements } = yield* statementsOf(
          Effect.all([
            deletions.ownsWorkspace(user.id),
            Effect.flatMap(OrganizationRepository, ({ ofMember }) => ofMember(user.id, AccessPredicate.True())),
            Effect.flatMap(Timestamp.now, (now) => deletions.delete(user.id, now))
          ])
        )
        return yield* Effect.provideService(Effect.forEach(statements, planOf), SqlClient.SqlClient, yield* sqlClient)
      })
    )
    expect(plans.length).toBeGreaterThan(8)
    expect(plans.filter((plan) => /^SCAN \w+$|Seq Scan/m.test(plan))).toStrictEqual([])
  })
})
