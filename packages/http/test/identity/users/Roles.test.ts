import { CurrentActor } from "@atelier/core/access"
import { Sessions, UserCreation, UserRoles } from "@atelier/core/identity"
import { Uuid } from "@atelier/core/platform"
import { Effect, Redacted, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { describeInterface, describeServerOnEach, type TestServer } from "../../../../../test/http/server.js"

const put = (server: TestServer, token: string, user: string, roles: ReadonlyArray<string>) =>
  server.call("PUT", `/users/${user}/roles`, { token, body: { roles } })

const rolesOf = (server: TestServer, token: string, user: string) => server.call("GET", `/users/${user}/roles`, { token })

describeServerOnEach("the roles of a user", (server, once) => {
  once("are replaced as a whole and count from the next request", async () => {
    const { token, user } = await server().aMember({ rbac_roles: ["template-admin"] })
    const owner = server().owner()
    expect((await rolesOf(server(), token, owner.user.id)).status).toBe(404)
    const answer = await put(server(), owner.token, user.username, ["user-admin", "auditor", "user-admin"])
    expect([answer.status, answer.body]).toMatchObject([
      200,
      {
        id: user.id,
        roles: [
          { name: "user-admin", display_name: "User Admin" },
          { name: "auditor", display_name: "Auditor" }
        ]
      }
    ])
    expect((await rolesOf(server(), token, owner.user.id)).body).toMatchObject({ roles: ["owner"] })
    expect((await put(server(), owner.token, user.id, [])).body).toMatchObject({ roles: [] })
    expect((await rolesOf(server(), token, owner.user.id)).status).toBe(404)
    expect(await server().run(auditEntries({ resource_id: user.id, resource_type: "user" }))).toMatchObject([
      {
        action: "write",
        user_id: owner.user.id,
        status_code: 200,
        diff: { rbac_roles: { old: ["template-admin"], new: ["user-admin", "auditor"], secret: false } }
      },
      { diff: { rbac_roles: { old: ["user-admin", "auditor"], new: [] } } }
    ])
  })

  once("are shown with roles in organizations, with the right to read personal data", async () => {
    const member = await server().aMember({ rbac_roles: ["member"] }, ["organization-auditor"])
    const auditor = await server().aMember({ rbac_roles: ["auditor"] })
    const organization = await server().call("GET", "/organizations/default", { token: member.token })
    const { id } = organization.as(Schema.Struct({ id: Schema.String }))
    const expected = { roles: ["member"], organization_roles: { [id]: ["organization-auditor"] } }
    expect((await rolesOf(server(), member.token, "me")).body).toStrictEqual(expected)
    expect((await rolesOf(server(), server().owner().token, member.user.id)).body).toStrictEqual(expected)
    expect((await rolesOf(server(), auditor.token, member.user.id)).status).toBe(404)
  })

  once("cannot be given or taken beyond the actor's own rights", async () => {
    const [member, target, auditor, admin, owner] = await Promise.all([
      server().aMember(),
      server().aMember({ rbac_roles: ["template-admin"] }),
      server().aMember({ rbac_roles: ["auditor"] }),
      server().aMember({ rbac_roles: ["user-admin"] }),
      server().aMember({ rbac_roles: ["owner"] })
    ])
    const status = async (token: string, user: string, roles: ReadonlyArray<string>) => (await put(server(), token, user, roles)).status
    expect(await status(member.token, target.user.id, [])).toBe(404)
    expect(await status(auditor.token, target.user.id, ["template-admin"])).toBe(403)
    expect(await status(admin.token, target.user.id, ["template-admin", "auditor"])).toBe(400)
    expect(await status(admin.token, target.user.id, [])).toBe(400)
    expect(await status(admin.token, owner.user.id, [])).toBe(400)
    expect(await status(admin.token, member.user.id, ["owner"])).toBe(400)
    expect(await status(admin.token, target.user.id, ["template-admin", "member"])).toBe(200)
    for (const person of [member, admin, server().owner()]) expect(await status(person.token, "me", ["owner", "auditor"])).toBe(400)

    const made = await server().call("POST", "/users/me/keys/tokens", { token: owner.token, body: { scopes: ["user:read"] } })
    const { key } = made.as(Schema.Struct({ key: Schema.String }))
    expect(await status(key, target.user.id, ["owner"])).toBe(403)
    expect((await rolesOf(server(), owner.token, target.user.id)).body).toMatchObject({ roles: ["template-admin", "member"] })
    const entries = await server().run(auditEntries({ resource_id: target.user.id, resource_type: "user" }))
    expect(entries.map(({ diff, status_code }) => [status_code, Object.keys(diff)])).toStrictEqual([
      [403, []],
      [400, []],
      [400, []],
      [200, ["rbac_roles"]],
      [403, []]
    ])
  })

  once("are roles of the deployment", async () => {
    const { user } = await server().aMember()
    for (const role of ["nosuchrole", "organization-admin", ""]) {
      const answer = await put(server(), server().owner().token, user.id, ["auditor", role])
      expect([answer.status, answer.body]).toMatchObject([400, { validations: [{ field: "roles" }] }])
    }
    expect((await put(server(), server().owner().token, "nobody", ["auditor"])).status).toBe(404)
  })

  it("stay with one of two owners who take the role from each other concurrently", async () => {
    const [ada, grace] = await Promise.all([server().aMember({ rbac_roles: ["owner"] }), server().aMember({ rbac_roles: ["owner"] })])
    const answers = await Promise.all([put(server(), ada.token, grace.user.id, []), put(server(), grace.token, ada.user.id, [])])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const left = await Promise.all([ada, grace].map(async ({ user }) => (await rolesOf(server(), server().owner().token, user.id)).body))
    expect(left.filter((roles) => JSON.stringify(roles).includes("owner"))).toHaveLength(1)
  })

  it("are not given after the actor lost the right in between", async () => {
    const [former, friend] = await Promise.all([server().aMember({ rbac_roles: ["owner", "user-admin"] }), server().aMember()])
    const actor = await server().run(Effect.flatMap(Sessions, ({ authenticate }) => authenticate(Redacted.make(former.token), {})))
    await put(server(), server().owner().token, former.user.id, ["user-admin"])
    const request = {
      email: "heir@example.com",
      username: "heir",
      name: "",
      password: Redacted.make("SomeSecurePassword!"),
      service_account: false,
      organization_ids: [Uuid.nil],
      roles: ["owner"]
    }
    const made = await server().run(
      Effect.gen(function* () {
        const roles = yield* UserRoles
        const creation = yield* UserCreation
        return [yield* Effect.either(roles.replace(friend.user.id, ["owner"])), yield* Effect.either(creation.create(request))]
      }).pipe(Effect.provideService(CurrentActor, actor))
    )
    expect(made).toMatchObject([{ left: { _tag: "Invalid" } }, { left: { _tag: "Forbidden" } }])
    expect((await rolesOf(server(), server().owner().token, friend.user.id)).body).toMatchObject({ roles: [] })
  })
})

describeInterface("the roles of the deployment", (server) => {
  it("are listed with their permissions and whether the caller may give them", async () => {
    const Listed = Schema.Array(Schema.Struct({ name: Schema.String, assignable: Schema.Boolean }))
    const [member, admin] = await Promise.all([server().aMember(), server().aMember({ rbac_roles: ["user-admin"] })])
    const names = async (token: string) => (await server().call("GET", "/users/roles", { token })).as(Listed)
    const all = ["owner", "auditor", "template-admin", "user-admin"]
    expect(await names(server().owner().token)).toStrictEqual(all.map((name) => ({ name, assignable: true })))
    expect(await names(member.token)).toStrictEqual(all.map((name) => ({ name, assignable: false })))
    expect(await names(admin.token)).toStrictEqual(all.map((name) => ({ name, assignable: false })))
    const { body } = await server().call("GET", "/users/roles", { token: member.token })
    expect(body).toContainEqual(
      expect.objectContaining({
        name: "auditor",
        display_name: "Auditor",
        built_in: true,
        site_permissions: expect.arrayContaining([{ negate: false, resource_type: "audit_log", action: "read" }]),
        user_permissions: [],
        organization_permissions: [],
        organization_member_permissions: []
      })
    )
  })
})
