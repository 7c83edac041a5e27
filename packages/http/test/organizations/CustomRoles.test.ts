import {
  allScope,
  buildSubject,
  organizationRoles,
  permits,
  resourceActions,
  resourceTypes,
  unrestrictedAllowList
} from "@atelier/core/access"
import { CustomRoleRepository, RightsRepository } from "@atelier/core/organizations"
import { Ids, Timestamp, transaction, type Uuid } from "@atelier/core/platform"
import { Effect, Option, Schema } from "effect"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../test/http/audit.js"
import { describeServerOnEach, describeInterface, type Person, type TestServer, unlicensed } from "../../../../test/http/server.js"
import { aMemberOf, anOrganization, fieldsOf, licensed } from "./calls.js"

const Listed = Schema.Array(Schema.Struct({ name: Schema.String, built_in: Schema.Boolean, assignable: Schema.Boolean }))

const permission = (text: string, negate = false) => {
  const [resource_type = "", action = ""] = text.split(":")
  return { resource_type, action, negate }
}

/** The body of a role that allows these, as `type:action`. */
const role = (name: string, ...permissions: ReadonlyArray<string>) => ({
  name,
  display_name: "",
  organization_permissions: permissions.map((text) => permission(text))
})

const roles = (
  server: TestServer,
  method: "GET" | "POST" | "PUT" | "DELETE",
  organization: string,
  { token }: Pick<Person, "token"> = server.owner(),
  body?: object | string
) =>
  typeof body === "string"
    ? server.call(method, `/organizations/${organization}/members/roles/${body}`, { token })
    : server.call(method, `/organizations/${organization}/members/roles`, { token, ...(body === undefined ? {} : { body }) })

const give = (server: TestServer, organization: string, { user }: Person, names: ReadonlyArray<string>, { token } = server.owner()) =>
  server.call("PUT", `/organizations/${organization}/members/${user.id}/roles`, { token, body: { roles: names } })

const may = async (server: TestServer, { token }: Person, organization_id: string, text: string) => {
  const { action, resource_type } = permission(text)
  const answer = await server.call("POST", "/authcheck", {
    token,
    body: { checks: { it: { action, object: { resource_type, organization_id } } } }
  })
  return answer.as(Schema.Struct({ it: Schema.Boolean })).it
}

describeServerOnEach(
  "roles that an organization makes for itself",
  (server, once) => {
    once("apply to their holders in their current form", async () => {
      const { id } = await anOrganization(server())
      const [admin, editor] = await Promise.all([aMemberOf(server(), id, ["organization-admin"]), aMemberOf(server(), id)])
      const body = { ...role("Template-Editor", "template:update", "template:read", "template:read"), display_name: "Edits templates" }
      const made = await roles(server(), "POST", id, admin, body)
      expect([made.status, made.body]).toStrictEqual([
        200,
        {
          name: "template-editor",
          display_name: "Edits templates",
          organization_id: id,
          site_permissions: [],
          user_permissions: [],
          organization_permissions: ["read", "update"].map((action) => ({ negate: false, resource_type: "template", action })),
          organization_member_permissions: []
        }
      ])
      const given = await give(server(), id, editor, ["template-editor", "organization-auditor"], admin)
      expect([given.status, given.body]).toMatchObject([
        200,
        { roles: [{ name: "template-editor", display_name: "Edits templates", organization_id: id }, { name: "organization-auditor" }] }
      ])
      expect(await may(server(), editor, id, "template:update")).toBe(true)

      const replaced = await roles(server(), "PUT", id, admin, { name: "TEMPLATE-EDITOR", organization_permissions: null })
      expect([replaced.status, replaced.body]).toMatchObject([
        200,
        { name: "template-editor", display_name: "", organization_permissions: [] }
      ])
      expect(await may(server(), editor, id, "template:update")).toBe(false)
      await roles(server(), "PUT", id, admin, role("template-editor", "template:update"))
      expect(await may(server(), editor, id, "template:update")).toBe(true)

      expect((await roles(server(), "DELETE", id, admin, "Template-Editor")).status).toBe(204)
      expect(await may(server(), editor, id, "template:update")).toBe(false)
      expect((await server().call("GET", `/organizations/${id}/members/${editor.user.id}`, admin)).body).toMatchObject({
        roles: [{ name: "organization-auditor" }]
      })
      expect((await roles(server(), "DELETE", id, admin, "template-editor")).status).toBe(404)

      const entries = await server().run(auditEntries({ user_id: admin.user.id, resource_type: "custom_role" }))
      expect(entries.map(({ action, resource_target, status_code }) => [action, resource_target, status_code])).toStrictEqual([
        ["create", "template-editor", 200],
        ["write", "template-editor", 200],
        ["write", "template-editor", 200],
        ["delete", "template-editor", 204]
      ])
      expect(entries[1]).toMatchObject({
        organization_id: id,
        diff: { display_name: { old: "Edits templates", new: "" }, org_permissions: { new: [] } }
      })
    })

    once("are known in their organization alone", async () => {
      const [here, there] = [await anOrganization(server()), await anOrganization(server())]
      await roles(server(), "POST", here.id, undefined, role("local", "template:create"))
      const person = await aMemberOf(server(), there.id)
      expect(fieldsOf(await give(server(), there.id, person, ["local"]))).toStrictEqual([400, "roles"])
      expect((await roles(server(), "POST", there.id, undefined, role("LOCAL", "group:create"))).status).toBe(200)
      await give(server(), there.id, person, ["local"])
      expect([
        await may(server(), person, there.id, "group:create"),
        await may(server(), person, there.id, "template:create")
      ]).toStrictEqual([true, false])
      expect((await roles(server(), "DELETE", here.id, undefined, "local")).status).toBe(204)
      expect(await may(server(), person, there.id, "group:create")).toBe(true)
    })

    once.each([
      ["a name that is none", role("no way"), ["name"]],
      ["no name", role(""), ["name"]],
      ["a reserved name", role("New"), ["name"]],
      ["the name of a built-in role", role("organization-admin"), ["name"]],
      ["the name of a role of the deployment", role("Owner"), ["name"]],
      ["the name of a role that members have", role("organization-member"), ["name"]],
      ["a display name that is too long", { ...role("fine"), display_name: "x".repeat(65) }, ["display_name"]],
      ["permissions of the deployment", { name: "fine", site_permissions: [permission("template:read")] }, ["site_permissions"]],
      ["permissions on one's own", { name: "fine", user_permissions: [permission("template:read")] }, ["user_permissions"]],
      [
        "permissions of members",
        { name: "fine", organization_member_permissions: [permission("template:read")] },
        ["organization_member_permissions"]
      ],
      ["a deny", { name: "fine", organization_permissions: [permission("template:read", true)] }, ["organization_permissions"]],
      ["every action", role("fine", "template:*"), ["organization_permissions"]],
      ["every type", role("fine", "*:read"), ["organization_permissions"]],
      ["a type that there is not", role("fine", "teapot:read"), ["organization_permissions"]],
      ["an action that the type has not", role("fine", "template:ssh"), ["organization_permissions"]],
      ["more permissions than there are", role("fine", ...Array<string>(1001).fill("template:read")), ["organization_permissions"]],
      ["more than the maker may", role("fine", "template:read", "workspace:ssh"), ["organization_permissions"]]
    ])("are refused with %s", async (_, body, fields) => {
      const { id } = await anOrganization(server())
      const admin = await aMemberOf(server(), id, ["organization-admin"])
      expect(fieldsOf(await roles(server(), "POST", id, admin, body))).toStrictEqual([400, ...fields])
      expect((await roles(server(), "GET", id)).as(Listed)).toHaveLength(organizationRoles.length)
    })

    it("have a name that no other has in any case, also of callers that race", async () => {
      const { id } = await anOrganization(server())
      const answers = await Promise.all(["twin", "TWIN", "Twin"].map((name) => roles(server(), "POST", id, undefined, role(name))))
      expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([200, 409, 409])
    })

    once("keep every rule when they are replaced", async () => {
      const { id } = await anOrganization(server())
      const admin = await aMemberOf(server(), id, ["organization-admin"])
      await roles(server(), "POST", id, undefined, role("mixed", "workspace:ssh"))
      const replace = (body: object) => roles(server(), "PUT", id, admin, body)
      for (const unknown of ["teapot:read", "template:ssh"]) {
        expect(fieldsOf(await replace(role("mixed", unknown, "template:read")))).toStrictEqual([400, "organization_permissions"])
      }
      expect((await replace(role("mixed", "template:read"))).body).toMatchObject({
        organization_permissions: [{ resource_type: "template", action: "read" }]
      })
      expect(fieldsOf(await replace(role("mixed", "workspace:ssh")))).toStrictEqual([400, "organization_permissions"])
      expect(fieldsOf(await replace(role("mixed", "template:*")))).toStrictEqual([400, "organization_permissions"])
      expect((await replace(role("nosuchrole"))).status).toBe(404)
      for (const name of ["organization-member", "organization-admin"]) {
        expect(fieldsOf(await roles(server(), "PUT", id, undefined, role(name)))).toStrictEqual([400, "name"])
      }
    })

    once("cannot be created, changed or deleted without the right", async () => {
      const { id } = await anOrganization(server())
      await roles(server(), "POST", id, undefined, role("kept", "template:read"))
      const [plain, userAdmin, outsider] = await Promise.all([
        aMemberOf(server(), id),
        aMemberOf(server(), id, ["organization-user-admin"]),
        server().aMember({}, ["organization-admin"])
      ])
      const statuses = async (person: Person) => [
        (await roles(server(), "POST", id, person, role("other"))).status,
        (await roles(server(), "PUT", id, person, role("kept"))).status,
        (await roles(server(), "DELETE", id, person, "kept")).status
      ]
      expect(await statuses(plain)).toStrictEqual([404, 404, 403])
      expect(await statuses(userAdmin)).toStrictEqual([404, 404, 403])
      expect(await statuses(outsider)).toStrictEqual([404, 404, 404])
      const entries = await server().run(auditEntries({ user_id: plain.user.id, resource_type: "custom_role" }))
      expect(entries.map(({ action, resource_target, status_code }) => [action, resource_target, status_code])).toStrictEqual([
        ["write", "kept", 404],
        ["delete", "kept", 403]
      ])
      const remove = async (name: string) => (await roles(server(), "DELETE", id, undefined, name)).status
      expect([await remove("organization-admin"), await remove("owner"), await remove("not%20a%20name")]).toStrictEqual([400, 400, 400])
      expect([await remove("organization-member"), await remove("nosuchrole")]).toStrictEqual([404, 404])
    })

    once("are listed behind the built-in ones, with whether the caller may give them", async () => {
      const { id } = await anOrganization(server())
      await roles(server(), "POST", id, undefined, role("vault", "workspace:ssh"))
      await roles(server(), "POST", id, undefined, role("library", "template:read"))
      const [plain, admin, outsider] = await Promise.all([
        aMemberOf(server(), id),
        aMemberOf(server(), id, ["organization-admin"]),
        server().aMember()
      ])
      const listed = async (person: Person) => (await roles(server(), "GET", id, person)).as(Listed)
      const builtIn = organizationRoles.map(({ name }) => name)
      expect((await listed(plain)).map(({ name }) => name)).toStrictEqual([...builtIn, "library", "vault"])
      expect((await listed(plain)).filter(({ assignable }) => assignable)).toStrictEqual([])
      expect((await listed(admin)).filter(({ assignable }) => !assignable).map(({ name }) => name)).toStrictEqual(["vault"])
      expect((await listed(server().owner())).every(({ assignable }) => assignable)).toBe(true)
      expect((await listed(plain)).filter(({ built_in }) => !built_in)).toHaveLength(2)
      expect((await roles(server(), "GET", id, outsider)).status).toBe(404)
    })

    once("are given only by those who hold what they allow", async () => {
      const { id } = await anOrganization(server())
      await roles(server(), "POST", id, undefined, role("vault", "workspace:ssh"))
      const [admin, friend] = await Promise.all([aMemberOf(server(), id, ["organization-admin"]), aMemberOf(server(), id)])
      expect(fieldsOf(await give(server(), id, friend, ["vault"], admin))).toStrictEqual([400, "roles"])
      expect((await give(server(), id, friend, ["vault"])).status).toBe(200)
      expect((await give(server(), id, friend, ["vault", "agents-access"], admin)).status).toBe(200)
      expect((await give(server(), id, friend, [], admin)).status).toBe(200)
    })

    it("are not held by any member after concurrent deletion and assignment", async () => {
      const { id } = await anOrganization(server())
      const people = await Promise.all([aMemberOf(server(), id), aMemberOf(server(), id), aMemberOf(server(), id)])
      await roles(server(), "POST", id, undefined, role("brief", "template:read"))
      const [first, ...others] = people.map((person) => give(server(), id, person, ["brief", "organization-auditor"]))
      const deleted = roles(server(), "DELETE", id, undefined, "brief")
      const given = await Promise.all([first, ...others])
      expect((await deleted).status).toBe(204)
      expect(given.filter((answer) => answer !== undefined && answer.status !== 200 && answer.status !== 400)).toStrictEqual([])
      const listed = await server().call("GET", `/organizations/${id}/paginated-members`, { token: server().owner().token })
      expect(listed.text).not.toContain("brief")
      // One of the same name is another role
      await roles(server(), "POST", id, undefined, role("brief", "template:delete"))
      expect(await Promise.all(people.map((person) => may(server(), person, id, "template:delete")))).toStrictEqual([false, false, false])
    })

    it("are bounded in number, also for callers that race", async () => {
      const { id } = await anOrganization(server())
      await server().run(
        Effect.gen(function* () {
          const { insert } = yield* CustomRoleRepository
          const ids = yield* Ids
          const now = yield* Timestamp.now
          const stored = { organization_id: id, display_name: "", permissions: {}, created_at: now, updated_at: now }
          yield* transaction(
            Effect.forEach(Array.from({ length: 99 }), (_, index) =>
              Effect.flatMap(ids.next, (roleId) => insert({ ...stored, id: roleId, name: `stored-${index}` }))
            )
          )
        })
      )
      const answers = await Promise.all(["last", "beyond"].map((name) => roles(server(), "POST", id, undefined, role(name))))
      expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([200, 409])
      expect((await roles(server(), "PUT", id, undefined, role("stored-0", "template:read"))).status).toBe(200)
      expect((await roles(server(), "DELETE", id, undefined, "stored-1")).status).toBe(204)
      expect((await roles(server(), "POST", id, undefined, role("again"))).status).toBe(200)
    })

    it("are judged by their author's rights at the time of storing", async () => {
      const { id } = await anOrganization(server())
      const admin = await aMemberOf(server(), id, ["organization-admin"])
      const [, made] = await Promise.all([give(server(), id, admin, []), roles(server(), "POST", id, admin, role("late", "group:create"))])
      expect([200, 404]).toContain(made.status)
      expect((await roles(server(), "POST", id, admin, role("later"))).status).toBe(404)
    })
  },
  licensed
)

/** Names and permissions that a sequence of calls is made of. */
const roleName = fc.constantFrom("vault", "maker", "one", "two")
const anyRole = fc.oneof(roleName, fc.constantFrom(...organizationRoles.map(({ name }) => name).filter((name) => !name.endsWith("-ban"))))
const somePermissions = fc.uniqueArray(
  fc.constantFrom(
    "workspace:ssh",
    "workspace:update",
    "template:update",
    "group:create",
    "organization:update",
    "organization_member:create",
    "idpsync_settings:update",
    "assign_org_role:assign",
    "assign_org_role:unassign",
    "assign_org_role:create",
    "user_secret:read",
    "audit_log:read"
  ),
  { maxLength: 3 }
)
const who = fc.nat({ max: 2 })

const call = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("give" as const), who, whom: who, roles: fc.uniqueArray(anyRole, { maxLength: 3 }) })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("make" as const), who, name: roleName, permissions: somePermissions }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("replace" as const), who, name: roleName, permissions: somePermissions }) },
  fc.record({ do: fc.constant("delete" as const), who, name: roleName }),
  fc.record({ do: fc.constant("leave" as const), who, whom: who }),
  fc.record({ do: fc.constant("join" as const), who, whom: who }),
  fc.record({ do: fc.constant("default" as const), who, roles: fc.uniqueArray(anyRole, { maxLength: 2 }) })
)
type Call = typeof call extends fc.Arbitrary<infer A> ? A : never

/** A user's stored permissions in the whole organization and on its own objects there. */
const reachOf = (server: TestServer, organization: Uuid.Uuid, { user }: Person) =>
  server.run(
    Effect.gen(function* () {
      const { lock } = yield* RightsRepository
      const stored = yield* transaction(lock(user.id))
      if (Option.isNone(stored)) return []
      const subject = buildSubject({ ...stored.value, scopes: [allScope], allowList: unrestrictedAllowList })
      return resourceTypes.flatMap((type) =>
        resourceActions[type].flatMap((action) => [
          ...(permits(subject, action, { type, org: organization }) ? [`${type}:${action}`] : []),
          ...(permits(subject, action, { type, org: organization, owner: user.id }) ? [`own ${type}:${action}`] : [])
        ])
      )
    })
  )

describeInterface(
  "whatever members of an organization do together",
  (server) => {
    it.each([
      ["an administrator", ["organization-admin"]],
      ["one who manages users", ["organization-user-admin"]],
      ["one who makes roles", ["maker"]]
    ])("they never come to more than they had: with %s among them", async (_, strongest) => {
      await fc.assert(
        fc.asyncProperty(fc.array(call, { minLength: 4, maxLength: 14 }), async (calls) => {
          const { id } = await anOrganization(server())
          await roles(server(), "POST", id, undefined, role("vault", "workspace:ssh", "workspace:application_connect"))
          const made = role("maker", "assign_org_role:create", "assign_org_role:update", "template:update", "template:read")
          await roles(server(), "POST", id, undefined, made)
          // Together, these members start with the most rights that members can have without a role being given
          const people = await Promise.all([
            aMemberOf(server(), id, strongest),
            aMemberOf(server(), id, ["agents-access"]),
            aMemberOf(server(), id)
          ])
          const reach = async () => new Set((await Promise.all(people.map((person) => reachOf(server(), id, person)))).flat())
          const initial = await reach()
          const person = (index: number): Person => people[index] ?? server().owner()
          const perform = (one: Call) => {
            const { token } = person(one.who)
            const path = `/organizations/${id}`
            switch (one.do) {
              case "give":
                return give(server(), id, person(one.whom), one.roles, person(one.who))
              case "make":
                return roles(server(), "POST", id, { token }, role(one.name, ...one.permissions))
              case "replace":
                return roles(server(), "PUT", id, { token }, role(one.name, ...one.permissions))
              case "delete":
                return roles(server(), "DELETE", id, { token }, one.name)
              case "leave":
                return server().call("DELETE", `${path}/members/${person(one.whom).user.id}`, { token })
              case "join":
                return server().call("POST", `${path}/members/${person(one.whom).user.id}`, { token })
              case "default":
                return server().call("PATCH", path, { token, body: { default_org_member_roles: one.roles } })
            }
          }
          for (const one of calls) {
            const { status } = await perform(one)
            expect(status).toBeLessThan(500)
            expect(Array.from(await reach()).filter((each) => !initial.has(each))).toStrictEqual([])
          }
        }),
        { numRuns: 6 }
      )
    })
  },
  licensed
)

describeInterface(
  "custom roles without a license",
  (server) => {
    it("cannot be created, changed or deleted, but read", async () => {
      const { token } = server().owner()
      for (const [method, path] of [
        ["POST", "/organizations/default/members/roles"],
        ["PUT", "/organizations/nowhere/members/roles"],
        ["DELETE", "/organizations/default/members/roles/any"]
      ] as const) {
        expect((await server().call(method, path, { body: {} })).status).toBe(401)
        const answer = await server().call(method, path, { token, body: "{" })
        expect([answer.status, answer.text]).toStrictEqual([403, expect.stringContaining("custom_roles")])
      }
      expect((await roles(server(), "GET", "default")).as(Listed)).toHaveLength(organizationRoles.length)
    })
  },
  unlicensed
)
