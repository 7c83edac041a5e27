import { prebuildsUserId } from "@atelier/core/access"
import { UserRepository } from "@atelier/core/identity"
import { Uuid } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../test/http/audit.js"
import { describeServer, describeServerOnEach, type Person, type TestServer } from "../../../../test/http/server.js"
import { aMemberOf, anOrganization, fieldsOf, join, licensed } from "./calls.js"

const Shown = Schema.Struct({ user_id: Uuid.Uuid, username: Schema.String, roles: Schema.Array(Schema.Struct({ name: Schema.String })) })
const Page = Schema.Struct({ count: Schema.Number, members: Schema.Array(Shown) })

const call = (
  server: TestServer,
  method: "GET" | "POST" | "PUT" | "DELETE",
  path: string,
  { token }: Pick<Person, "token"> = server.owner(),
  body?: object
) => server.call(method, `/organizations/${path}`, { token, ...(body === undefined ? {} : { body }) })

const rolesOf = async (server: TestServer, id: string, user: string) =>
  (await call(server, "GET", `${id}/members/${user}`)).as(Shown).roles.map(({ name }) => name)

const lengthOf = (body: unknown) => (Array.isArray(body) ? body.length : "none")

describeServer(
  "the members of an organization",
  (server) => {
    it("are listed by username with their users, without deleted ones and the service's own", async () => {
      const { id } = await anOrganization(server())
      await aMemberOf(server(), id, ["organization-auditor"], "Zed")
      const gone = await aMemberOf(server(), id, [], "gone")
      await server().call("DELETE", `/users/${gone.user.id}`, { token: server().owner().token })
      const own = await server().run(
        Effect.gen(function* () {
          const user = yield* Effect.flatten((yield* UserRepository).byId(Uuid.Uuid.make(prebuildsUserId)))
          return { user, token: "" }
        })
      )
      await join(server(), id, own)

      const listed = await call(server(), "GET", `${id}/members`)
      expect([listed.status, listed.body]).toMatchObject([
        200,
        [
          { username: "owner", roles: [], global_roles: [{ name: "owner", display_name: "Owner" }], has_ai_seat: false },
          {
            username: "Zed",
            organization_id: id,
            email: expect.stringContaining("@"),
            status: "active",
            login_type: "password",
            roles: [{ name: "organization-auditor", display_name: "Organization Auditor", organization_id: id }],
            global_roles: [],
            has_ai_seat: false
          }
        ]
      ])
      // Always present, also without a license
      expect((await call(server(), "GET", `${id}/members/zed`)).body).toMatchObject({ has_ai_seat: false })
      const paged = await call(server(), "GET", `${id}/paginated-members`)
      expect(paged.body).toMatchObject({ members: [{ has_ai_seat: false }, { has_ai_seat: false }] })
      const names = async (q: string) =>
        (await call(server(), "GET", `${id}/members?q=${encodeURIComponent(q)}`)).as(Schema.Array(Shown)).map(({ username }) => username)
      expect(await names("include_system:true")).toStrictEqual(["owner", "prebuilds", "Zed"])
      expect(await names(`user_id:${server().owner().user.id}`)).toStrictEqual(["owner"])
      expect(await names("github_user_id:0")).toStrictEqual(["owner", "Zed"])
      expect((await call(server(), "GET", `${id}/members/prebuilds`)).status).toBe(404)
      expect((await call(server(), "GET", `${id}/paginated-members`)).as(Page)).toMatchObject({ count: 2 })
    })

    it.each([
      ["zed", "q"],
      ["username:zed", "username"],
      ["user_id:7", "user_id"],
      ["github_user_id:x", "github_user_id"]
    ])("are not searched for %s in the unpaged list", async (q, field) => {
      expect(fieldsOf(await call(server(), "GET", `default/members?q=${encodeURIComponent(q)}`))).toStrictEqual([400, field])
    })

    it("come in pages that keep the order during renames", async () => {
      const { id } = await anOrganization(server())
      const people = new Map<string, Person>()
      for (const name of ["Bea", "abe", "cid", "dan"]) people.set(name, await aMemberOf(server(), id, [], `${name}-paged`))
      const page = async (query: string) => (await call(server(), "GET", `${id}/paginated-members${query}`)).as(Page)
      const names = async (query: string) => (await page(query)).members.map(({ username }) => username.replace("-paged", ""))
      expect(await names("")).toStrictEqual(["abe", "Bea", "cid", "dan", "owner"])
      expect(await names("?limit=2&offset=1")).toStrictEqual(["Bea", "cid"])
      const visited: Array<string> = []
      let after = ""
      for (let read = 0; read < 4; read++) {
        const { count, members } = await page(`?limit=2${after === "" ? "" : `&after_id=${after}`}`)
        // The members behind `after_id`
        expect(count).toBe([5, 3, 1, 0][read])
        visited.push(...members.map(({ username }) => username))
        after = members.at(-1)?.user_id ?? after
      }
      expect(visited).toHaveLength(5)
      const { token } = server().owner()
      await server().call("PUT", `/users/${people.get("abe")?.user.id}/profile`, { token, body: { username: "Zoe-paged", name: "" } })
      expect(await names("")).toStrictEqual(["Bea", "cid", "dan", "owner", "Zoe"])
      expect(await names("?q=status:active%20cid")).toStrictEqual(["cid"])
      expect(await names("?q=role:owner")).toStrictEqual(["owner"])
      expect((await page("?q=nobody-at-all")).count).toBe(0)
      expect((await page(`?after_id=${Uuid.nil}`)).count).toBe(5)
      expect(fieldsOf(await call(server(), "GET", `${id}/paginated-members?q=foo:bar`))).toStrictEqual([400, "foo"])
    })

    it("see each other unless sharing is off, and are hidden from others", async () => {
      const { id } = await anOrganization(server())
      const [ada, outsider, auditor] = await Promise.all([
        aMemberOf(server(), id),
        server().aMember(),
        server().aMember({ rbac_roles: ["auditor"] })
      ])
      const seen = async (person: Person) => [
        (await call(server(), "GET", `${id}/paginated-members`, person)).status,
        (await call(server(), "GET", `${id}/members/owner`, person)).status,
        (await call(server(), "GET", `${id}/members/me`, person)).status,
        lengthOf((await call(server(), "GET", `${id}/members`, person)).body)
      ]
      expect(await seen(ada)).toStrictEqual([200, 200, 200, 2])
      expect(await seen(auditor)).toStrictEqual([200, 200, 404, 2])
      expect(await seen(outsider)).toStrictEqual([404, 404, 404, "none"])
      expect((await call(server(), "GET", `${id}/members/nobody`, ada)).text).toBe(
        (await call(server(), "GET", `${id}/members/${outsider.user.id}`, ada)).text
      )
    })
  },
  licensed
)

describeServerOnEach(
  "members who come and go",
  (server, once) => {
    it("are added once by concurrent callers", async () => {
      const { id, name } = await anOrganization(server())
      const { user } = await server().aMember()
      const answers = await Promise.all([user.id, user.username, user.id].map((who) => call(server(), "POST", `${name}/members/${who}`)))
      expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([200, 400, 400])
      expect(answers.find(({ status }) => status === 200)?.body).toStrictEqual({
        organization_id: id,
        user_id: user.id,
        roles: [],
        created_at: expect.any(String),
        updated_at: expect.any(String)
      })
      const made = await server().call("POST", `/organizations/${id}/groups`, { token: server().owner().token, body: { name: "crew" } })
      const group = made.as(Schema.Struct({ id: Schema.String })).id
      const put = await server().call("PATCH", `/groups/${group}`, { token: server().owner().token, body: { add_users: [user.id] } })
      expect(put.text).toContain(user.id)

      expect((await call(server(), "DELETE", `${id}/members/${user.id}`)).status).toBe(204)
      expect((await call(server(), "DELETE", `${id}/members/${user.id}`)).status).toBe(404)
      expect((await server().call("GET", `/groups/${group}`, { token: server().owner().token })).text).not.toContain(user.id)
      expect((await call(server(), "POST", `${id}/members/${user.id}`)).status).toBe(200)

      const entries = await server().run(auditEntries({ resource_id: user.id, resource_type: "organization_member" }))
      expect(entries.map(({ action, status_code }) => [action, status_code])).toEqual(
        expect.arrayContaining([
          ["create", 200],
          ["delete", 204]
        ])
      )
      expect(entries.find(({ action }) => action === "delete")).toMatchObject({
        organization_id: id,
        resource_target: user.username,
        user_id: server().owner().user.id,
        diff: { username: { old: user.username, new: "" }, user_id: { old: user.id } }
      })
    })

    once("are not oneself, nor unknown, deleted or the service's own", async () => {
      const { id } = await anOrganization(server())
      expect((await call(server(), "DELETE", `${id}/members/me`)).status).toBe(400)
      const gone = await server().aMember()
      await server().call("DELETE", `/users/${gone.user.id}`, { token: server().owner().token })
      for (const who of ["nobody", gone.user.id, Uuid.nil]) expect((await call(server(), "POST", `${id}/members/${who}`)).status).toBe(404)
      expect((await call(server(), "POST", `nowhere/members/${gone.user.id}`)).status).toBe(404)
    })

    once("are added and removed by user administrators only", async () => {
      const { id } = await anOrganization(server())
      const [member, admin, organizationAdmin, userAdmin, outsider, newcomer] = await Promise.all([
        aMemberOf(server(), id),
        server().aMember({ rbac_roles: ["user-admin"] }),
        aMemberOf(server(), id, ["organization-admin"]),
        aMemberOf(server(), id, ["organization-user-admin"]),
        server().aMember({}, ["organization-admin"]),
        server().aMember()
      ])
      const add = async (person: Person) => (await call(server(), "POST", `${id}/members/${newcomer.user.id}`, person)).status
      const remove = async (person: Person) => (await call(server(), "DELETE", `${id}/members/${newcomer.user.id}`, person)).status
      expect([await add(member), await add(outsider), await add(newcomer)]).toStrictEqual([404, 404, 404])
      for (const person of [admin, organizationAdmin, userAdmin]) {
        expect(await add(person)).toBe(200)
        expect([await remove(member), await remove(outsider)]).toStrictEqual([404, 404])
        expect(await remove(person)).toBe(204)
      }
    })

    once("are not removed by actors who may not lift their ban", async () => {
      const { id } = await anOrganization(server())
      const ban = "organization-workspace-creation-ban"
      const [banned, auditor, admin, userAdmin, deploymentAdmin] = await Promise.all([
        aMemberOf(server(), id, ["organization-auditor", ban]),
        aMemberOf(server(), id, ["organization-auditor"]),
        aMemberOf(server(), id, ["organization-admin"]),
        aMemberOf(server(), id, ["organization-user-admin"]),
        server().aMember({ rbac_roles: ["user-admin"] })
      ])
      const remove = (who: Person, person: Person) => call(server(), "DELETE", `${id}/members/${who.user.id}`, person)
      for (const person of [userAdmin, deploymentAdmin]) {
        const refused = await remove(banned, person)
        expect([refused.status, refused.text]).toStrictEqual([403, expect.stringContaining(ban)])
      }
      expect(await rolesOf(server(), id, banned.user.id)).toStrictEqual(["organization-auditor", ban])
      expect((await remove(auditor, userAdmin)).status).toBe(204)
      expect((await remove(banned, admin)).status).toBe(204)
    })

    once("are added only by actors who may give the roles of every member", async () => {
      const { id } = await anOrganization(server())
      const userAdmin = await aMemberOf(server(), id, ["organization-user-admin"])
      const [deploymentAdmin, newcomer, target] = await Promise.all([
        server().aMember({ rbac_roles: ["user-admin"] }),
        server().aMember(),
        aMemberOf(server(), id)
      ])
      await server().call("PATCH", `/organizations/${id}`, {
        token: server().owner().token,
        body: { default_org_member_roles: ["organization-auditor"] }
      })
      expect((await call(server(), "POST", `${id}/members/${newcomer.user.id}`, userAdmin)).status).toBe(403)
      const change = await call(server(), "PUT", `${id}/members/${target.user.id}/roles`, userAdmin, { roles: [] })
      expect(fieldsOf(change)).toStrictEqual([400, "roles"])
      const body = { username: "sneaky", email: "sneaky@example.com", password: "SomeSecurePassword!", organization_ids: [id] }
      expect((await server().call("POST", "/users", { token: deploymentAdmin.token, body })).status).toBe(403)
      expect((await server().call("POST", "/users", { token: server().owner().token, body })).status).toBe(201)
    })
  },
  licensed
)

describeServerOnEach(
  "the roles of a member",
  (server, once) => {
    once("are replaced as a whole, each once, and count from the next request on", async () => {
      const { id } = await anOrganization(server())
      const member = await aMemberOf(server(), id, ["organization-auditor"])
      const roles = ["organization-template-admin", "agents-access", "agents-access"]
      const answer = await call(server(), "PUT", `${id}/members/${member.user.username}/roles`, undefined, { roles })
      expect([answer.status, answer.body]).toMatchObject([
        200,
        {
          user_id: member.user.id,
          roles: [
            { name: "organization-template-admin", display_name: "Organization Template Admin", organization_id: id },
            { name: "agents-access", display_name: "Agents User" }
          ]
        }
      ])
      expect(answer.body).not.toHaveProperty("username")
      expect((await server().call("GET", `/users/me/roles`, member)).body).toMatchObject({
        organization_roles: { [id]: ["organization-template-admin", "agents-access"] }
      })
      const entries = await server().run(auditEntries({ resource_id: member.user.id, resource_type: "organization_member" }))
      expect(entries).toMatchObject([
        {
          action: "write",
          status_code: 200,
          organization_id: id,
          resource_target: member.user.username,
          diff: { roles: { old: ["organization-auditor"], new: ["organization-template-admin", "agents-access"] } }
        }
      ])
    })

    once("are given with the right to, and never by users to themselves", async () => {
      const { id } = await anOrganization(server())
      const [plain, target, userAdmin, admin, outsider] = await Promise.all([
        aMemberOf(server(), id),
        aMemberOf(server(), id, ["organization-auditor"]),
        aMemberOf(server(), id, ["organization-user-admin"]),
        aMemberOf(server(), id, ["organization-admin"]),
        server().aMember({}, ["organization-admin"])
      ])
      const put = async (person: Person, who: string, ...roles: ReadonlyArray<string>) =>
        (await call(server(), "PUT", `${id}/members/${who}/roles`, person, { roles })).status
      expect(await put(plain, target.user.id)).toBe(403)
      expect(await put(outsider, target.user.id)).toBe(404)
      expect(await put(userAdmin, target.user.id, "organization-auditor", "organization-admin")).toBe(400)
      expect(await put(userAdmin, target.user.id)).toBe(400)
      expect(await put(userAdmin, target.user.id, "organization-auditor", "agents-access")).toBe(200)
      expect(await put(admin, target.user.id, "organization-admin")).toBe(200)
      for (const person of [plain, userAdmin, admin, server().owner()]) expect(await put(person, "me", "organization-admin")).toBe(400)
      for (const role of ["nosuchrole", "owner", "organization-member", "organization-service-account", ""]) {
        expect(await put(admin, plain.user.id, role)).toBe(400)
      }
      expect(await put(admin, plain.user.id, ...Array.from({ length: 40_000 }, (_, index) => `role-${index}`))).toBe(400)
      expect(await put(admin, outsider.user.id, "organization-auditor")).toBe(404)
      expect(await rolesOf(server(), id, target.user.id)).toStrictEqual(["organization-admin"])
      const entries = await server().run(auditEntries({ resource_id: target.user.id, resource_type: "organization_member" }))
      expect(entries.map(({ status_code }) => status_code)).toStrictEqual([403, 400, 400, 200, 200])
    })

    it("stay with one of two administrators who demote each other", async () => {
      const { id } = await anOrganization(server())
      const [ada, grace] = await Promise.all([
        aMemberOf(server(), id, ["organization-admin"]),
        aMemberOf(server(), id, ["organization-admin"])
      ])
      const take = (from: Person, { token }: Person) =>
        call(server(), "PUT", `${id}/members/${from.user.id}/roles`, { token }, { roles: [] })
      const answers = await Promise.all([take(grace, ada), take(ada, grace)])
      expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([200, 403])
      const left = await Promise.all([ada, grace].map(({ user }) => rolesOf(server(), id, user.id)))
      expect(left.flat()).toStrictEqual(["organization-admin"])
    })
  },
  licensed
)
