import { SqlClient } from "@effect/sql"
import { AccessPredicate } from "@atelier/core/access"
import { GroupRepository } from "@atelier/core/groups"
import { OrganizationChangeRepository, OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp, transaction, Uuid } from "@atelier/core/platform"
import { Deferred, Effect, Fiber, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../test/http/audit.js"
import {
  describeInterface,
  describeServer,
  describeServerOnEach,
  type Person,
  type TestServer,
  unlicensed
} from "../../../../test/http/server.js"
import { storedTemplate, storedWorkspace } from "../../../../test/records/workspaces.js"
import { aName, anOrganization, fieldsOf, join, licensed, Organization } from "./calls.js"

const Message = Schema.Struct({ message: Schema.String })

const create = (server: TestServer, body: object, { token }: Person = server.owner()) =>
  server.call("POST", "/organizations", { token, body })

const patch = (server: TestServer, organization: string, body: object, { token }: Person = server.owner()) =>
  server.call("PATCH", `/organizations/${organization}`, { token, body })

const remove = (server: TestServer, organization: string, { token }: Person = server.owner()) =>
  server.call("DELETE", `/organizations/${organization}`, { token })

const leave = (server: TestServer, organization_id: Uuid.Uuid, { user }: Person) =>
  server.run(
    Effect.gen(function* () {
      const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
      yield* sql`DELETE FROM organization_members WHERE organization_id = ${organization_id} AND user_id = ${user.id}`
    })
  )

describeServerOnEach(
  "organizations that are created",
  (server, once) => {
    once("have a group Everyone and their creator as the only member, without a role", async () => {
      const { token, user } = server().owner()
      const name = aName()
      const answer = await create(server(), { name, description: "Makes things", icon: "/emojis/1f6e0.png" })
      expect([answer.status, answer.body]).toMatchObject([
        201,
        {
          name,
          display_name: name,
          description: "Makes things",
          icon: "/emojis/1f6e0.png",
          is_default: false,
          default_org_member_roles: ["organization-workspace-access"]
        }
      ])
      expect(answer.body).not.toHaveProperty("shareable_workspace_owners")
      const { id } = answer.as(Organization)
      expect((await server().call("GET", `/users/me/roles`, { token })).body).toMatchObject({ organization_roles: { [id]: [] } })
      expect((await server().call("GET", `/organizations/${name.toUpperCase()}`, { token })).body).toMatchObject({ id })
      const groups = Effect.flatMap(GroupRepository, ({ list }) =>
        list({ organization_id: id, has_member: user.id }, AccessPredicate.True())
      )
      expect(await server().run(groups)).toMatchObject([{ id, name: "Everyone" }])
      expect(await server().run(auditEntries({ resource_id: id }))).toMatchObject([
        {
          action: "create",
          resource_type: "organization",
          resource_target: name,
          organization_id: id,
          user_id: user.id,
          status_code: 201,
          diff: { name: { old: "", new: name }, default_org_member_roles: { new: ["organization-workspace-access"] } }
        }
      ])
    })

    once.each([
      [{}, ["name"]],
      [{ name: "Bad Name" }, ["name"]],
      [{ name: "a".repeat(33) }, ["name"]],
      [{ name: "new" }, ["name"]],
      [{ name: "default" }, ["name"]],
      [{ name: "Default" }, ["name"]],
      [{ name: "-", display_name: " x" }, ["name", "display_name"]],
      [{ name: "fine", display_name: "x".repeat(65) }, ["display_name"]],
      [{ name: "fine", description: "x".repeat(8193), icon: "x".repeat(2049) }, ["description", "icon"]]
    ])("need fields that keep the rules: %j", async (body, fields) => {
      expect(fieldsOf(await create(server(), body))).toStrictEqual([400, ...fields])
    })

    it("have a name that no other has in any case, also of callers that race", async () => {
      const { name } = await anOrganization(server())
      expect(fieldsOf(await create(server(), { name: name.toUpperCase() }))).toStrictEqual([409, "name"])
      const wanted = aName()
      const answers = await Promise.all(["", "", "", ""].map(() => create(server(), { name: wanted })))
      expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([201, 409, 409, 409])
    })

    once("are created by owners only, and a refusal leaves no entry", async () => {
      const admin = await server().aMember({ rbac_roles: ["user-admin", "template-admin"] }, ["organization-admin"])
      const name = aName()
      expect((await create(server(), { name }, admin)).status).toBe(403)
      expect(await server().run(auditEntries({ user_id: admin.user.id, resource_type: "organization" }))).toStrictEqual([])
      expect((await create(server(), { name }, { ...admin, token: "none" })).status).toBe(401)
    })

    it("are created with the rights at the time of the write", async () => {
      const owner = await server().aMember({ rbac_roles: ["owner"] })
      const [, created] = await Promise.all([
        server().call("PUT", `/users/${owner.user.id}/roles`, { token: server().owner().token, body: { roles: [] } }),
        create(server(), { name: aName() }, owner)
      ])
      expect([201, 403]).toContain(created.status)
      expect((await create(server(), { name: aName() }, owner)).status).toBe(403)
    })
  },
  licensed
)

describeServer(
  "organizations that are changed",
  (server) => {
    it("keep fields that are absent and names that are empty", async () => {
      const { id, name } = await anOrganization(server(), { display_name: "Before", description: "old", icon: "/old.png" })
      const renamed = aName()
      const answer = await patch(server(), name, { name: renamed, display_name: "", description: "", default_org_member_roles: null })
      expect([answer.status, answer.body]).toMatchObject([
        200,
        {
          id,
          name: renamed,
          display_name: "Before",
          description: "",
          icon: "/old.png",
          default_org_member_roles: ["organization-workspace-access"]
        }
      ])
      const [, written] = await server().run(auditEntries({ resource_id: id }))
      expect(written).toMatchObject({
        action: "write",
        status_code: 200,
        resource_target: renamed,
        diff: { name: { old: name, new: renamed }, description: { old: "old", new: "" } }
      })
      expect(written?.diff).not.toHaveProperty("icon")
    })

    it("need fields that keep the rules, and a name that is free", async () => {
      const { id, name } = await anOrganization(server())
      const other = await anOrganization(server())
      expect(fieldsOf(await patch(server(), id, { name: "default" }))).toStrictEqual([400, "name"])
      expect(fieldsOf(await patch(server(), id, { name: "no way" }))).toStrictEqual([400, "name"])
      expect(fieldsOf(await patch(server(), id, { display_name: "x " }))).toStrictEqual([400, "display_name"])
      expect(fieldsOf(await patch(server(), id, { name: other.name.toUpperCase() }))).toStrictEqual([409, "name"])
      expect((await patch(server(), id, { name: name.toUpperCase() })).body).toMatchObject({ name: name.toUpperCase() })
      expect((await patch(server(), "default", { description: "the first" })).body).toMatchObject({ is_default: true })
    })

    it("take only built-in roles for all their members", async () => {
      const { id } = await anOrganization(server())
      for (const role of ["not-a-role", "owner", "organization-member", "organization-service-account"]) {
        const answer = await patch(server(), id, { default_org_member_roles: ["organization-auditor", role] })
        expect(fieldsOf(answer)).toStrictEqual([400, "default_org_member_roles"])
      }
      const twice = await patch(server(), id, { default_org_member_roles: ["organization-auditor", "organization-auditor"] })
      expect(twice.body).toMatchObject({ default_org_member_roles: ["organization-auditor"] })
    })

    it("change what their members may do from the next request on", async () => {
      const { id } = await anOrganization(server())
      const member = await server().aMember()
      await join(server(), id, member)
      const mayCreate = async () =>
        (
          await server().call("POST", "/authcheck", {
            token: member.token,
            body: { checks: { a: { action: "create", object: { resource_type: "workspace", owner_id: "me", organization_id: id } } } }
          })
        ).body
      expect(await mayCreate()).toStrictEqual({ a: true })
      await patch(server(), id, { default_org_member_roles: [] })
      expect(await mayCreate()).toStrictEqual({ a: false })
      await patch(server(), id, { default_org_member_roles: ["organization-workspace-access"] })
      expect(await mayCreate()).toStrictEqual({ a: true })
    })

    it("are hidden from users who are not members", async () => {
      const { id } = await anOrganization(server())
      const [member, admin, userAdmin, outsider] = await Promise.all([
        server().aMember(),
        server().aMember(),
        server().aMember(),
        server().aMember({}, ["organization-admin"])
      ])
      await join(server(), id, member)
      await join(server(), id, admin, ["organization-admin"])
      await join(server(), id, userAdmin, ["organization-user-admin"])
      const status = async (person: Person, body: object = { icon: "/x.png" }) => (await patch(server(), id, body, person)).status
      expect([await status(member), await status(userAdmin), await status(outsider)]).toStrictEqual([404, 404, 404])
      expect([await status(admin), await status(admin, { default_org_member_roles: ["organization-admin"] })]).toStrictEqual([200, 200])
      const hidden = await patch(server(), id, { icon: "/x.png" }, outsider)
      expect(hidden.text).toBe((await patch(server(), Uuid.Uuid.make("018f0000-0000-7000-8000-000000000009"), {}, outsider)).text)
      const entries = await server().run(auditEntries({ user_id: member.user.id, resource_id: id }))
      expect(entries.map(({ status_code }) => status_code)).toStrictEqual([404])
    })
  },
  licensed
)

describeServerOnEach(
  "organizations that are deleted",
  (server, once) => {
    once("are no longer found by name or id, and free their name", async () => {
      const { token, user } = server().owner()
      const { id, name } = await anOrganization(server())
      const answer = await remove(server(), name)
      expect([answer.status, answer.as(Message).message]).toStrictEqual([200, "Organization has been deleted."])
      for (const reference of [id, name]) {
        expect((await server().call("GET", `/organizations/${reference}`, { token })).status).toBe(404)
        expect((await patch(server(), reference, { icon: "/x.png" })).status).toBe(404)
        expect((await remove(server(), reference)).status).toBe(404)
      }
      expect((await server().call("GET", "/users/me", { token })).text).not.toContain(id)
      const again = await create(server(), { name })
      expect([again.status, again.as(Organization).id === id]).toStrictEqual([201, false])
      expect((await server().run(auditEntries({ resource_id: id }))).at(-1)).toMatchObject({
        action: "delete",
        user_id: user.id,
        status_code: 200,
        diff: { name: { old: name, new: "" } }
      })
    })

    once("are not the default one", async () => {
      expect((await remove(server(), "default")).status).toBe(400)
    })

    once("need to have at most one member, and only the group Everyone", async () => {
      const { id } = await anOrganization(server())
      const member = await server().aMember()
      await join(server(), id, member)
      await server().run(
        Effect.gen(function* () {
          const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
          yield* sql`INSERT INTO groups ${sql.insert({ id: member.user.id, organization_id: id, name: "crew", display_name: "", avatar_url: "", quota_allowance: 0, source: "user" })}`
        })
      )
      const refused = await remove(server(), id)
      expect([refused.status, refused.text]).toStrictEqual([
        409,
        expect.stringContaining("0 workspaces, 0 templates, 1 other members and 1 groups")
      ])
      await leave(server(), id, member)
      expect((await remove(server(), id)).text).toContain("0 other members and 1 groups")
      await server().run(
        Effect.flatMap(Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)), (sql) => sql`DELETE FROM groups WHERE name = 'crew'`)
      )
      expect((await remove(server(), id)).status).toBe(200)
    })

    once("are deleted by owners and by their own administrators", async () => {
      const { id } = await anOrganization(server())
      const [member, admin] = await Promise.all([server().aMember(), server().aMember()])
      await join(server(), id, member)
      expect((await remove(server(), id, admin)).status).toBe(404)
      expect((await remove(server(), id, member)).status).toBe(403)
      await leave(server(), id, member)
      await join(server(), id, admin, ["organization-admin"])
      await leave(server(), id, server().owner())
      expect((await remove(server(), id, admin)).status).toBe(200)
      expect((await server().call("GET", "/users/me", { token: admin.token })).text).not.toContain(id)
    })

    it("wait for concurrent additions, and refuse later ones", async () => {
      const { id } = await anOrganization(server())
      const member = await server().aMember()
      const { answer, held } = await server().run(
        Effect.gen(function* () {
          const { lockShared } = yield* OrganizationChangeRepository
          const { addMember } = yield* OrganizationRepository
          const isHeld = yield* Deferred.make<boolean>()
          const goOn = yield* Deferred.make<void>()
          const joining = yield* Effect.fork(
            transaction(
              Effect.gen(function* () {
                yield* Deferred.succeed(isHeld, yield* lockShared(id))
                yield* Deferred.await(goOn)
                yield* addMember({ organization_id: id, user_id: member.user.id, roles: [], created_at: yield* Timestamp.now })
              })
            )
          )
          const held = yield* Deferred.await(isHeld)
          const deleting = yield* Effect.fork(Effect.promise(() => remove(server(), id)))
          yield* Deferred.succeed(goOn, undefined)
          yield* Fiber.join(joining)
          return { held, answer: yield* Fiber.join(deleting) }
        })
      )
      expect([held, answer.status]).toStrictEqual([true, 409])
      await leave(server(), id, member)
      expect((await remove(server(), id)).status).toBe(200)
      const hold = Effect.flatMap(OrganizationChangeRepository, (changes) => transaction(changes.lockShared(id)))
      expect(await server().run(hold)).toBe(false)
    })

    it("and new accounts at once leave no member behind", async () => {
      const organizations = await Promise.all(Array.from({ length: 4 }, () => anOrganization(server())))
      await Promise.all(
        organizations.map(async ({ id }, index) => {
          const body = {
            username: `late-${id.slice(-8)}`,
            email: `${id}@example.com`,
            password: "SomeSecurePassword!",
            organization_ids: [id]
          }
          const [deleted, created] = await Promise.all([
            remove(server(), id),
            server().call("POST", "/users", { token: server().owner().token, body: { ...body, username: `${body.username}-${index}` } })
          ])
          expect([
            [200, 404],
            [409, 201]
          ]).toContainEqual([deleted.status, created.status])
        })
      )
    })

    once("have neither templates nor workspaces", async () => {
      const { user } = server().owner()
      const { id } = await anOrganization(server())
      const template = await server().run(storedTemplate({ organization_id: id, created_by: user.id }))
      await server().run(storedWorkspace(template, user.id))
      expect((await remove(server(), id)).text).toContain("1 workspaces, 1 templates, 0 other members and 0 groups")
      const change = (sql: SqlClient.SqlClient, table: string) =>
        sql`UPDATE ${sql(table)} SET deleted = (1 = 1) WHERE organization_id = ${id}`
      const mark = (table: string) =>
        server().run(Effect.flatMap(Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)), (sql) => change(sql, table)))
      await mark("workspaces")
      expect((await remove(server(), id)).text).toContain("0 workspaces, 1 templates")
      await mark("templates")
      expect((await remove(server(), id)).status).toBe(200)
    })
  },
  licensed
)

describeInterface(
  "organizations without a license for several",
  (server) => {
    it("cannot be created, changed or deleted, which only authenticated callers learn", async () => {
      const { token } = server().owner()
      for (const [method, path] of [
        ["POST", "/organizations"],
        ["PATCH", "/organizations/default"],
        ["PATCH", "/organizations/nowhere"],
        ["DELETE", "/organizations/default"]
      ] as const) {
        expect((await server().call(method, path, { body: {} })).status).toBe(401)
        const answer = await server().call(method, path, { token, body: "{" })
        expect([answer.status, answer.text]).toStrictEqual([403, expect.stringContaining("multiple_organizations")])
      }
      expect((await server().call("GET", "/organizations", {})).status).toBe(401)
    })
  },
  unlicensed
)
