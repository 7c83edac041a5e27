import { OrganizationRepository, type ShareMode } from "@atelier/core/organizations"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../test/http/audit.js"
import { anOrganization } from "../../../../test/records/builders.js"
import { describeServerOnEach, describeInterface, type Person, type TestServer, unlicensed } from "../../../../test/http/server.js"
import { storedTemplate, storedWorkspace } from "../../../../test/records/workspaces.js"

const entitlements = { has: (feature: string) => feature === "template_rbac" }

const Refused = Schema.Struct({ validations: Schema.Array(Schema.Struct({ field: Schema.String })) })
const Shared = Schema.Struct({
  users: Schema.Array(Schema.Struct({ id: Uuid.Uuid, role: Schema.String })),
  group: Schema.Array(
    Schema.Struct({ id: Uuid.Uuid, role: Schema.String, total_member_count: Schema.Number, members: Schema.Array(Schema.Any) })
  )
})

type Method = Parameters<TestServer["call"]>[0]

const call = (server: TestServer, method: Method, path: string, { token }: Pick<Person, "token">, body?: object) =>
  server.call(method, path, { token, ...(body === undefined ? {} : { body }) })

type Answered = Awaited<ReturnType<typeof call>>

const refusal = ({ as, status }: Answered) => [status, ...as(Refused).validations.map(({ field }) => field)]

const rolesOf = (answer: Answered) => {
  const { group, users } = answer.as(Shared)
  return { users: users.map(({ id, role }) => [id, role]), groups: group.map(({ id, role }) => [id, role]) }
}

const defaultOrganization = (server: TestServer) =>
  server.run(Effect.flatten(Effect.flatMap(OrganizationRepository, (organizations) => organizations.default)))

const anOrganizationOf = (server: TestServer, people: ReadonlyArray<Person>, mode: ShareMode = "everyone") =>
  server.run(
    Effect.gen(function* () {
      const organizations = yield* OrganizationRepository
      const organization = yield* anOrganization({ shareable_workspace_owners: mode })
      yield* organizations.insert(organization)
      for (const { user } of people) {
        yield* organizations.addMember({ organization_id: organization.id, user_id: user.id, roles: [], created_at: yield* Timestamp.now })
      }
      return organization
    })
  )

const aTemplate = (server: TestServer, organization_id: Uuid.Uuid, fields: object = {}) =>
  server.run(storedTemplate({ organization_id, created_by: server.owner().user.id, ...fields }))

const aWorkspaceOf = async (server: TestServer, { user }: Person, organizationId?: Uuid.Uuid) => {
  const template = await aTemplate(server, organizationId ?? (await defaultOrganization(server)).id)
  return (await server.run(storedWorkspace(template, user.id))).workspace
}

const aGroupOf = async (server: TestServer, people: ReadonlyArray<Person>, name: string, display_name = "") => {
  const Made = Schema.Struct({ id: Uuid.Uuid })
  const body = { name, display_name }
  const { id } = (await call(server, "POST", "/organizations/default/groups", server.owner(), body)).as(Made)
  await call(server, "PATCH", `/groups/${id}`, server.owner(), { add_users: people.map(({ user }) => user.id) })
  return id
}

describeInterface(
  "sharing a template without a license",
  (server) => {
    it("is refused without a license, before authentication", async () => {
      const path = `/templates/${Uuid.nil}/acl`
      const answers = await Promise.all([
        server().call("GET", path),
        server().call("PATCH", path, { body: {} }),
        server().call("GET", `${path}/available`),
        call(server(), "GET", path, server().owner())
      ])
      expect(answers.map(({ status }) => status)).toStrictEqual([403, 403, 403, 403])
    })
  },
  unlicensed
)

describeServerOnEach(
  "sharing a template",
  (server, once) => {
    once("gives and removes roles of users and groups", async () => {
      const { id: organization } = await defaultOrganization(server())
      const [one, two, gone] = await Promise.all([server().aMember(), server().aMember(), server().aMember()])
      const { id } = await aTemplate(server(), organization)
      const group = await aGroupOf(server(), [one, two], `t${id.slice(-6)}`)
      const path = `/templates/${id}/acl`
      const owner = server().owner()
      const given = await call(server(), "PATCH", path, owner, {
        user_perms: { [one.user.id]: "use", [gone.user.id]: "use" },
        group_perms: { [group]: "admin" }
      })
      expect([given.status, given.body]).toStrictEqual([200, { message: expect.any(String) }])
      await call(server(), "PUT", `/users/${gone.user.id}/status/suspend`, owner)
      const shown = await call(server(), "GET", path, owner)
      expect(rolesOf(shown)).toStrictEqual({
        users: [[one.user.id, "use"]],
        groups: expect.arrayContaining([
          [organization, "use"],
          [group, "admin"]
        ])
      })
      expect(shown.as(Shared).group.find((each) => each.id === group)).toMatchObject({ total_member_count: 2, members: [{}, {}] })
      expect(shown.body).toMatchObject({
        users: [{ username: one.user.username, roles: [], has_ai_seat: false, organization_ids: [organization] }]
      })

      const taken = { user_perms: { [one.user.id]: "", [Uuid.nil]: "" }, group_perms: { [organization]: "" } }
      expect((await call(server(), "PATCH", path, owner, taken)).status).toBe(200)
      expect(rolesOf(await call(server(), "GET", path, owner))).toStrictEqual({ users: [], groups: [[group, "admin"]] })
      const [first] = await server().run(auditEntries({ resource_id: id, resource_type: "template" }))
      expect(first).toMatchObject({ action: "write", diff: { user_acl: { old: "map[]" }, group_acl: {} } })
    })

    once("is changed and shared with the role admin, but not with the role use", async () => {
      const { id: organization } = await defaultOrganization(server())
      const [user, admin, nobody] = await Promise.all([server().aMember(), server().aMember(), server().aMember()])
      const { id } = await aTemplate(server(), organization, { group_acl: {} })
      const path = `/templates/${id}/acl`
      const owner = server().owner()
      await call(server(), "PATCH", path, owner, { user_perms: { [user.user.id]: "use", [admin.user.id]: "admin" } })
      const statuses = async (person: Person) => {
        const answers = [
          await call(server(), "PATCH", `/templates/${id}`, person, { description: "changed" }),
          await call(server(), "GET", path, person),
          await call(server(), "PATCH", path, person, { user_perms: { [nobody.user.id]: "" } }),
          await call(server(), "GET", `${path}/available`, person)
        ]
        return answers.map(({ status }) => status)
      }
      expect(await statuses(user)).toStrictEqual([403, 403, 403, 404])
      expect(await statuses(nobody)).toStrictEqual([404, 404, 404, 404])
      expect(await statuses(admin)).toStrictEqual([200, 200, 200, 200])
      const make = async (person: Person) => {
        const body = { template_id: id, name: `w${crypto.randomUUID().slice(0, 8)}` }
        return (await call(server(), "POST", "/users/me/workspaces", person, body)).status
      }
      expect([await make(user), await make(nobody)]).toStrictEqual([201, 400])
    })

    once("is refused with each fault, and then changes nothing", async () => {
      const { id: organization } = await defaultOrganization(server())
      const one = await server().aMember()
      const deleted = await server().aMember()
      await call(server(), "DELETE", `/users/${deleted.user.id}`, server().owner())
      const { id } = await aTemplate(server(), organization)
      const patch = (body: object) => call(server(), "PATCH", `/templates/${id}/acl`, server().owner(), body)
      expect(refusal(await patch({ user_perms: { [one.user.id]: "owner" } }))).toStrictEqual([400, "user_perms"])
      const faults = await patch({
        user_perms: { [one.user.id]: "use", x: "use", [Uuid.nil]: "use", [deleted.user.id]: "admin" },
        group_perms: { [one.user.id]: "use", y: "none" }
      })
      expect(refusal(faults)).toStrictEqual([400, "user_perms", "user_perms", "user_perms", "group_perms", "group_perms", "group_perms"])
      expect(rolesOf(await call(server(), "GET", `/templates/${id}/acl`, server().owner()))).toStrictEqual({
        users: [],
        groups: [[organization, "use"]]
      })
      expect((await call(server(), "PATCH", `/templates/${Uuid.nil}/acl`, server().owner(), {})).status).toBe(404)
    })

    once("answers alike for a group of another organization and an unknown one", async () => {
      const owner = server().owner()
      const [admin, foreign] = [await server().aMember({}, ["organization-template-admin"]), await server().aMember()]
      const { id: elsewhere } = await anOrganizationOf(server(), [foreign])
      const { id: organization } = await defaultOrganization(server())
      const { id } = await aTemplate(server(), organization)
      const patch = (person: Pick<Person, "token">, group: string) =>
        call(server(), "PATCH", `/templates/${id}/acl`, person, { group_perms: { [group]: "use" } })
      const [hidden, absent] = [await patch(admin, elsewhere), await patch(admin, Uuid.nil)]
      expect(refusal(hidden)).toStrictEqual([400, "group_perms"])
      expect(hidden.text.replaceAll(elsewhere, Uuid.nil)).toBe(absent.text)
      expect((await patch(admin, organization)).status).toBe(200)
      // Who may read it may name it
      expect((await patch(owner, elsewhere)).status).toBe(200)
    })

    once("offers users of the whole deployment and groups of the organization that a search finds", async () => {
      const { id: organization } = await defaultOrganization(server())
      const word = `find${Math.random().toString(36).slice(2, 8)}`
      const one = await server().aMember({ username: `${word}-user` })
      await server().aMember({ username: `other-${word}`, status: "suspended" })
      const group = await aGroupOf(server(), [one], `${word}-group`)
      await aGroupOf(server(), [], `g${word.slice(4)}`, `The ${word}`)
      const { id } = await aTemplate(server(), organization)
      const Available = Schema.Tuple(
        Schema.Struct({
          users: Schema.Array(Schema.Struct({ username: Schema.String })),
          groups: Schema.Array(
            Schema.Struct({ id: Uuid.Uuid, members: Schema.Array(Schema.Any), total_member_count: Schema.Number, name: Schema.String })
          )
        })
      )
      const find = async (q: string) =>
        (await call(server(), "GET", `/templates/${id}/acl/available?${q}`, server().owner())).as(Available)[0]
      const found = await find(`q=${word}`)
      expect(found.users.map(({ username }) => username)).toStrictEqual([`${word}-user`, `other-${word}`])
      expect(found.groups.map(({ name }) => name)).toStrictEqual([`${word}-group`, `g${word.slice(4)}`])
      expect(found.groups[0]).toMatchObject({ id: group, members: [], total_member_count: 1 })
      const limited = await find(`q=${word}+status:active&limit=1`)
      expect([limited.users.length, limited.groups.length]).toStrictEqual([1, 1])
      expect(refusal(await call(server(), "GET", `/templates/${id}/acl/available?q=shoe:9`, server().owner()))).toStrictEqual([400, "shoe"])
    })

    it("keeps both of two changes at once", async () => {
      const { id: organization } = await defaultOrganization(server())
      const people = await Promise.all(Array.from({ length: 4 }, () => server().aMember()))
      const { id } = await aTemplate(server(), organization)
      await Promise.all(
        people.map(({ user }) => call(server(), "PATCH", `/templates/${id}/acl`, server().owner(), { user_perms: { [user.id]: "use" } }))
      )
      expect((await call(server(), "GET", `/templates/${id}/acl`, server().owner())).as(Shared).users).toHaveLength(4)
    })
  },
  { entitlements }
)

describeInterface(
  "whom a template can be shared with, for clients of the reference",
  (server) => {
    it("is one object", async () => {
      const { id } = await aTemplate(server(), (await defaultOrganization(server())).id)
      const { body } = await call(server(), "GET", `/templates/${id}/acl/available`, server().owner())
      expect(body).toMatchObject({ users: [{ username: "owner" }], groups: [{ name: "Everyone", members: [], total_member_count: 1 }] })
    })
  },
  { entitlements, compatibility: "coder" }
)

describeServerOnEach(
  "sharing a workspace",
  (server, once) => {
    const acl = (method: Method, { id }: { readonly id: string }, person: Person, body?: object) =>
      call(server(), method, `/workspaces/${id}/acl`, person, body)

    once("gives users and groups a role, and is over when it is cleared", async () => {
      const [one, two] = await Promise.all([server().aMember(), server().aMember()])
      const workspace = await aWorkspaceOf(server(), one)
      const group = await aGroupOf(server(), [two], `w${workspace.id.slice(-6)}`)
      expect((await acl("GET", workspace, two)).status).toBe(404)
      const given = await acl("PATCH", workspace, one, { user_roles: { [two.user.id]: "use" }, group_roles: { [group]: "admin" } })
      expect([given.status, given.text]).toStrictEqual([204, ""])
      const shown = await acl("GET", workspace, two)
      expect(shown.body).toMatchObject({
        users: [{ id: two.user.id, username: two.user.username, role: "use" }],
        group: [{ id: group, role: "admin", members: [], total_member_count: 1 }]
      })
      const [shownUser] = shown.as(Schema.Struct({ users: Schema.Array(Schema.Object) })).users
      expect(Object.keys(shownUser ?? {}).toSorted()).toStrictEqual(["id", "role", "username"])
      expect((await call(server(), "GET", `/workspaces/${workspace.id}`, two)).body).toMatchObject({ shared_with: [{}, {}] })
      const entries = await server().run(auditEntries({ resource_id: workspace.id }))
      expect(entries).toMatchObject([
        { action: "write", status_code: 204, diff: { user_acl: { old: {}, new: { [two.user.id]: expect.any(Array) } }, group_acl: {} } }
      ])
      expect((await acl("DELETE", workspace, one)).status).toBe(204)
      expect((await acl("GET", workspace, one)).body).toStrictEqual({ users: [], group: [] })
      expect((await acl("GET", workspace, two)).status).toBe(404)
    })

    once("is with a thousand users and a thousand groups at most", async () => {
      const [one, two] = await Promise.all([server().aMember(), server().aMember()])
      const workspace = await aWorkspaceOf(server(), one)
      const template = await aTemplate(server(), workspace.organization_id)
      const ids = Array.from({ length: 1000 }, () => crypto.randomUUID())
      const many = JSON.stringify(Object.fromEntries(ids.map((id) => [id, ["read"]])))
      await server().run(
        Effect.gen(function* () {
          const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
          yield* sql`UPDATE workspaces SET user_acl = ${many} WHERE id = ${workspace.id}`
          yield* sql`UPDATE templates SET user_acl = ${many}, group_acl = ${many} WHERE id = ${template.id}`
        })
      )
      const group = await aGroupOf(server(), [two], `m${workspace.id.slice(-6)}`)
      const share = (body: object) => acl("PATCH", workspace, one, body)
      const sharedTemplate = (body: object) => call(server(), "PATCH", `/templates/${template.id}/acl`, server().owner(), body)
      const [first = ""] = ids
      expect(refusal(await share({ user_roles: { [two.user.id]: "use" } }))).toStrictEqual([400, "user_roles"])
      expect((await share({ user_roles: { [first]: "" }, group_roles: { [group]: "use" } })).status).toBe(204)
      expect((await share({ user_roles: { [two.user.id]: "use" } })).status).toBe(204)
      expect(refusal(await sharedTemplate({ user_perms: { [two.user.id]: "use" } }))).toStrictEqual([400, "user_perms"])
      expect(refusal(await sharedTemplate({ group_perms: { [group]: "use" } }))).toStrictEqual([400, "group_perms"])
      expect((await sharedTemplate({ group_perms: { [first]: "", [group]: "use" } })).status).toBe(200)
    })

    once("takes the right to share it, which the role use does not include", async () => {
      const [one, user, admin] = await Promise.all([server().aMember(), server().aMember(), server().aMember()])
      const workspace = await aWorkspaceOf(server(), one)
      await acl("PATCH", workspace, one, { user_roles: { [user.user.id]: "use", [admin.user.id]: "admin" } })
      expect((await acl("PATCH", workspace, user, { user_roles: {} })).status).toBe(403)
      expect((await acl("DELETE", workspace, user)).status).toBe(403)
      expect((await acl("PATCH", workspace, admin, { user_roles: { [user.user.id]: "" } })).status).toBe(204)
      expect((await acl("PATCH", workspace, user, { user_roles: {} })).status).toBe(404)
      expect((await acl("GET", { id: Uuid.nil }, one)).status).toBe(404)
    })

    once("refuses changes of the actor's own role, unless it may share all workspaces", async () => {
      const one = await server().aMember()
      const admin = await server().aMember({}, ["organization-admin"])
      const workspace = await aWorkspaceOf(server(), one)
      expect(refusal(await acl("PATCH", workspace, one, { user_roles: { [one.user.id.toUpperCase()]: "use" } }))).toStrictEqual([
        400,
        "user_roles"
      ])
      expect((await acl("PATCH", workspace, admin, { user_roles: { [admin.user.id]: "use" } })).status).toBe(204)
    })

    once("is refused with each fault", async () => {
      const one = await server().aMember()
      const workspace = await aWorkspaceOf(server(), one)
      const faults = await acl("PATCH", workspace, one, {
        user_roles: { [Uuid.nil]: "use", x: "admin" },
        group_roles: { [server().owner().user.id]: "use", [workspace.organization_id]: "owner" }
      })
      expect(refusal(faults)).toStrictEqual([400, "user_roles", "user_roles", "group_roles", "group_roles"])
      expect((await acl("PATCH", workspace, one, { user_roles: { [Uuid.nil]: "" } })).status).toBe(204)
    })

    once("is refused while the organization shares nothing, but can be read", async () => {
      const one = await server().aMember()
      const { id } = await anOrganizationOf(server(), [one], "none")
      const workspace = await aWorkspaceOf(server(), one, id)
      for (const person of [one, server().owner()]) {
        expect((await acl("PATCH", workspace, person, { user_roles: {} })).status).toBe(403)
        expect((await acl("DELETE", workspace, person)).status).toBe(403)
        expect((await acl("GET", workspace, person)).status).toBe(200)
      }
    })

    it("leaves nothing shared where an organization ends it at the same time", async () => {
      const people = await Promise.all([server().aMember(), server().aMember()])
      const [one, two] = people
      const { id } = await anOrganizationOf(server(), people)
      const workspaces = await Promise.all(Array.from({ length: 5 }, () => aWorkspaceOf(server(), one, id)))
      const end = server().run(
        Effect.gen(function* () {
          const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
          yield* sql.withTransaction(
            Effect.zipRight(
              sql`UPDATE organizations SET shareable_workspace_owners = 'none' WHERE id = ${id}`,
              sql`UPDATE workspaces SET user_acl = '{}', group_acl = '{}' WHERE organization_id = ${id} AND is_shared = TRUE`
            )
          )
        })
      )
      const answers = await Promise.all(
        workspaces.map((workspace) => acl("PATCH", workspace, one, { user_roles: { [two.user.id]: "use" } }))
      )
      await end
      for (const { status } of answers) expect([204, 403]).toContain(status)
      for (const workspace of workspaces) {
        expect((await acl("GET", workspace, server().owner())).body).toStrictEqual({ users: [], group: [] })
      }
    })
  },
  { entitlements }
)

describeInterface(
  "sharing workspaces where the deployment does not",
  (server) => {
    it("is refused, and stored shares grant nothing", async () => {
      const [one, two] = await Promise.all([server().aMember(), server().aMember()])
      const template = await aTemplate(server(), (await defaultOrganization(server())).id)
      const user_acl = { [two.user.id]: ["read", "ssh", "application_connect", "start", "stop"] }
      const { workspace } = await server().run(storedWorkspace(template, one.user.id, { workspace: { user_acl } }))
      const path = `/workspaces/${workspace.id}/acl`
      expect((await call(server(), "GET", `/workspaces/${workspace.id}`, two)).status).toBe(404)
      expect((await call(server(), "PATCH", path, one, { user_roles: { [two.user.id]: "" } })).status).toBe(403)
      expect((await call(server(), "GET", path, one)).status).toBe(200)
    })
  },
  { entitlements, options: { disableWorkspaceSharing: true } }
)
