import { AccessPredicate } from "@atelier/core/access"
import { GroupMemberRepository, GroupRepository } from "@atelier/core/groups"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../test/http/audit.js"
import { anOrganization } from "../../../../test/records/builders.js"
import { postgres } from "../../../../test/store/databases.js"
import {
  describeInterface,
  describeServer,
  describeServerOnEach,
  type Person,
  startServer,
  type TestServer,
  unlicensed
} from "../../../../test/http/server.js"

const entitlements = { has: (feature: string) => feature === "template_rbac" }

const Member = Schema.Struct({ id: Uuid.Uuid, username: Schema.String })
const Shown = Schema.Struct({
  id: Uuid.Uuid,
  name: Schema.String,
  organization_id: Uuid.Uuid,
  members: Schema.Array(Member),
  total_member_count: Schema.Number
})
const Refused = Schema.Struct({ validations: Schema.Array(Schema.Struct({ field: Schema.String })) })

type Group = typeof Shown.Type

let made = 0

/** An organization of its own, for tests that look at all of its groups. */
const store = (server: TestServer, fields: Parameters<typeof anOrganization>[0] = {}) =>
  server.run(
    Effect.gen(function* () {
      const organization = yield* anOrganization(fields)
      yield* (yield* OrganizationRepository).insert(organization)
      return organization
    })
  )

const join = (server: TestServer, organization_id: Uuid.Uuid, { user }: Person, roles: ReadonlyArray<string> = []) =>
  server.run(
    Effect.gen(function* () {
      const { addMember } = yield* OrganizationRepository
      yield* addMember({ organization_id, user_id: user.id, roles, created_at: yield* Timestamp.now })
    })
  )

const leave = (server: TestServer, organizationId: string, { user }: Person) =>
  server.run(
    Effect.gen(function* () {
      const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
      yield* sql`DELETE FROM organization_members WHERE organization_id = ${organizationId} AND user_id = ${user.id}`
    })
  )

const create = (server: TestServer, body: object = {}, organization = "default", token = server.owner().token) =>
  server.call("POST", `/organizations/${organization}/groups`, { token, body: { name: `g${made++}`, ...body } })

const aGroup = async (server: TestServer, body: object = {}, organization = "default"): Promise<Group> => {
  const answer = await create(server, body, organization)
  expect([answer.status, answer.text]).toStrictEqual([201, answer.text])
  return answer.as(Shown)
}

const patch = (server: TestServer, group: string, body: object, token = server.owner().token) =>
  server.call("PATCH", `/groups/${group}`, { token, body })

const get = (server: TestServer, path: string, token = server.owner().token) => server.call("GET", path, { token })

const put = async (server: TestServer, { id }: Pick<Group, "id">, ...people: ReadonlyArray<Person>) => {
  const answer = await patch(server, id, { add_users: people.map(({ user }) => user.id) })
  expect([answer.status, answer.text]).toStrictEqual([200, answer.text])
}

const refusal = ({ status, as }: Awaited<ReturnType<typeof get>>) => [status, ...as(Refused).validations.map(({ field }) => field)]

it("a group is not locked by callers who may not change it", async () => {
  const server = await startServer(postgres, { entitlements })
  try {
    const one = await server.aMember()
    const { id, organization_id } = await aGroup(server)
    const answer = await server.run(
      Effect.gen(function* () {
        const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
        return yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT id FROM groups WHERE id = ${id} FOR NO KEY UPDATE`
            yield* sql`SELECT id FROM organizations WHERE id = ${organization_id} FOR NO KEY UPDATE`
            return yield* Effect.timeout(
              Effect.promise(() => patch(server, id, { name: "other" }, one.token)),
              "1 minute"
            )
          })
        )
      })
    )
    expect(answer.status).toBe(400)
  } finally {
    await server.close()
  }
})

describeInterface(
  "groups without their license",
  (server) => {
    it("are refused without a license, where specified before authentication", async () => {
      const { token } = server().owner()
      const statuses = async (token?: string) =>
        Promise.all(
          ["/groups", `/groups/${Uuid.nil}`, "/organizations/default/groups", "/organizations/default/paginated-groups"].map(
            async (path) => (await server().call("GET", path, token === undefined ? {} : { token })).status
          )
        )
      expect(await statuses()).toStrictEqual([403, 403, 401, 401])
      expect(await statuses(token)).toStrictEqual([403, 403, 403, 403])
      expect((await server().call("DELETE", "/groups/nobody")).status).toBe(403)
      expect((await create(server())).body).toMatchObject({ message: expect.stringContaining("template_rbac") })
      expect((await server().call("GET", "/organizations")).status).toBe(401)
    })
  },
  unlicensed
)

describeServerOnEach(
  "a group",
  (server, once) => {
    once("is created empty by group administrators, and audited", async () => {
      const answer = await create(server(), { name: "Makers", display_name: "The makers", avatar_url: "/x.png", quota_allowance: 7 })
      const { id, organization_id } = answer.as(Shown)
      const made = {
        id,
        name: "Makers",
        display_name: "The makers",
        organization_id,
        organization_name: "default",
        organization_display_name: "Default",
        avatar_url: "/x.png",
        quota_allowance: 7,
        source: "user",
        members: [],
        total_member_count: 0
      }
      expect([answer.status, answer.body]).toStrictEqual([201, made])
      expect((await get(server(), `/groups/${id}`)).body).toStrictEqual(made)
      expect((await get(server(), "/organizations/default/groups/MAKERS/")).body).toStrictEqual(made)
      expect(await server().run(auditEntries({ resource_id: id }))).toMatchObject([
        {
          action: "create",
          resource_type: "group",
          resource_target: "Makers",
          organization_id,
          status_code: 201,
          diff: { name: { old: "", new: "Makers" }, quota_allowance: { old: 0, new: 7 } }
        }
      ])
      const plain = await server().aMember()
      const admin = await server().aMember({}, ["organization-user-admin"])
      expect((await create(server(), {}, "default", plain.token)).status).toBe(403)
      expect((await create(server(), {}, "default", admin.token)).status).toBe(201)
      expect((await create(server(), {}, (await store(server())).id, admin.token)).status).toBe(404)
    })

    once("has a name of its own", async () => {
      const { id: organization } = await store(server())
      const alpha = await aGroup(server(), { name: "Alpha" }, organization)
      await aGroup(server(), { name: "alpha" }, organization)
      const beta = await aGroup(server(), { name: "beta" }, organization)
      expect(refusal(await create(server(), { name: "alpha" }, organization))).toStrictEqual([409, "name"])
      expect((await patch(server(), beta.id, { name: "BETA" })).body).toMatchObject({ name: "BETA" })
      expect(refusal(await patch(server(), beta.id, { name: "ALPHA" }))).toStrictEqual([409, "name"])
      expect(refusal(await patch(server(), beta.id, { name: "everyone" }))).toStrictEqual([400, "name"])
      expect(refusal(await patch(server(), alpha.id, { name: "aLPHA" }))).toStrictEqual([409, "name"])
      for (const name of ["Everyone", "", "new", "a b", "-a", "x".repeat(256)]) {
        expect(refusal(await create(server(), { name }, organization))).toStrictEqual([400, "name"])
      }
      await aGroup(server(), { name: "x".repeat(255) }, organization)
      expect(refusal(await patch(server(), beta.id, { name: "Everyone" }))).toStrictEqual([400, "name"])
    })

    once("is refused with each rule that it breaks", async () => {
      const broken = { name: "new", display_name: " x", avatar_url: "x".repeat(2049), quota_allowance: 2 ** 31 }
      const fields = ["name", "display_name", "avatar_url", "quota_allowance"]
      const { id } = await aGroup(server())
      expect(refusal(await create(server(), broken))).toStrictEqual([400, ...fields])
      expect(refusal(await patch(server(), id, broken))).toStrictEqual([400, ...fields])
      expect(refusal(await patch(server(), id, { display_name: "x".repeat(65) }))).toStrictEqual([400, "display_name"])
      expect((await patch(server(), id, { quota_allowance: 1.5 })).status).toBe(400)
      expect((await patch(server(), id, { quota_allowance: -(2 ** 31) })).status).toBe(200)
    })

    once("keeps absent fields of a change, and clears empty ones", async () => {
      const { id } = await aGroup(server(), { name: "Keepers", display_name: "Shown", avatar_url: "/a", quota_allowance: 3 })
      const unchanged = { name: "Keepers", display_name: "Shown", avatar_url: "/a", quota_allowance: 3 }
      expect((await patch(server(), id, { name: "", display_name: null })).body).toMatchObject(unchanged)
      expect((await patch(server(), id, { display_name: "", avatar_url: "", quota_allowance: 0 })).body).toMatchObject({
        name: "Keepers",
        display_name: "",
        avatar_url: "",
        quota_allowance: 0
      })
    })

    once("takes members of its organization, all or none, and audits them", async () => {
      const [one, two, stranger] = await Promise.all([server().aMember(), server().aMember(), server().aMember()])
      const { organization_id, ...group } = await aGroup(server())
      await leave(server(), organization_id, stranger)
      await put(server(), group, one)
      for (const ids of [
        [two.user.id, one.user.id],
        [two.user.id, two.user.id],
        [two.user.id, stranger.user.id],
        [two.user.id, "x"]
      ]) {
        expect(refusal(await patch(server(), group.id, { add_users: ids, name: "Other" }))).toStrictEqual([400, "add_users"])
      }
      expect(refusal(await patch(server(), group.id, { remove_users: [stranger.user.id] }))).toStrictEqual([400, "remove_users"])
      const after = (await patch(server(), group.id, { add_users: [two.user.id], remove_users: [two.user.id, one.user.id] })).as(Shown)
      expect([after.name, after.members, after.total_member_count]).toStrictEqual([group.name, [], 0])
      expect((await patch(server(), group.id, { remove_users: [two.user.id] })).status).toBe(200)

      const entries = await server().run(auditEntries({ resource_id: group.id }))
      const entry = { user_id: one.user.id, group_id: group.id }
      expect(entries.map(({ diff, status_code }) => [status_code, diff["members"]])).toStrictEqual([
        [201, { new: [], secret: false }],
        [200, { old: [], new: [entry], secret: false }],
        [400, undefined],
        [400, undefined],
        [400, undefined],
        [400, undefined],
        [400, undefined],
        [200, { old: [entry], new: [], secret: false }],
        [200, undefined]
      ])
    })

    once("shows members to their readers, and its size to its readers", async () => {
      const [one, two] = await Promise.all([server().aMember(), server().aMember({ status: "suspended" })])
      const outside = await server().aMember()
      const group = await aGroup(server())
      await put(server(), group, one, two)
      const seen = async (token: string) => {
        const { members, total_member_count } = (await get(server(), `/groups/${group.id}`, token)).as(Shown)
        return [members.map(({ id }) => id).toSorted(), total_member_count]
      }
      const ids = [one.user.id, two.user.id].toSorted()
      expect(await seen(server().owner().token)).toStrictEqual([ids, 2])
      expect(await seen((await server().aMember({}, ["organization-auditor"])).token)).toStrictEqual([ids, 2])
      expect(await seen(one.token)).toStrictEqual([[one.user.id], 2])
      expect(await seen(outside.token)).toStrictEqual([[], 2])
      expect((await get(server(), `/groups/${group.id}?exclude_members=true`)).body).toMatchObject({ members: [], total_member_count: 2 })
      expect((await get(server(), `/groups/${group.id}?exclude_members=perhaps`)).as(Shown).members).toHaveLength(2)
      expect((await patch(server(), group.id, { quota_allowance: 1 }, one.token)).status).toBe(400)
      expect((await server().call("DELETE", `/groups/${group.id}`, { token: one.token })).status).toBe(404)
      expect((await get(server(), "/groups/nowhere")).status).toBe(400)
      const [roster] = (await get(server(), `/groups/${group.id}`, one.token)).as(
        Schema.Struct({ members: Schema.Array(Schema.Any) })
      ).members
      expect(Object.keys(roster).toSorted()).toStrictEqual(
        ["created_at", "email", "id", "last_seen_at", "login_type", "status", "updated_at", "username"].toSorted()
      )
    })

    once("is its members' alone to see where an organization shares nothing", async () => {
      const { id: organization } = await store(server(), { shareable_workspace_owners: "none" })
      const [one, two] = await Promise.all([server().aMember(), server().aMember()])
      await join(server(), organization, one)
      await join(server(), organization, two)
      const group = await aGroup(server(), {}, organization)
      await put(server(), group, one)
      const statuses = async ({ token }: Person) =>
        Promise.all(
          [`/groups/${group.id}`, `/organizations/${organization}/groups/${group.name}`, `/groups/${group.id}/members`].map(
            async (path) => (await get(server(), path, token)).status
          )
        )
      expect(await statuses(one)).toStrictEqual([200, 200, 200])
      expect(await statuses(two)).toStrictEqual([404, 404, 404])
      const names = async ({ token }: Person) =>
        (await get(server(), `/organizations/${organization}/groups`, token)).as(Schema.Array(Shown)).map(({ name }) => name)
      expect(await names(one)).toStrictEqual(["Everyone", group.name].toSorted())
      expect(await names(two)).toStrictEqual(["Everyone"])
      expect((await get(server(), `/organizations/${organization}/paginated-groups`, two.token)).status).toBe(403)
      const hidden = await get(server(), `/groups/${group.id}`, two.token)
      expect(hidden.text).toBe((await get(server(), `/groups/${Uuid.nil}`, two.token)).text)
    })

    once("is all that a token sees and changes which is for it alone", async () => {
      const one = await server().aMember()
      const [group, other] = [await aGroup(server()), await aGroup(server())]
      await put(server(), group, one)
      const body = { token_name: `t${made++}`, allow_list: [{ type: "group", id: group.id }] }
      const key = await server().call("POST", "/users/me/keys/tokens", { token: server().owner().token, body })
      const { key: token } = key.as(Schema.Struct({ key: Schema.String }))
      const listed = (await get(server(), "/groups", token)).as(Schema.Array(Shown))
      // Its members are not part of it
      expect(listed).toMatchObject([{ id: group.id, members: [], total_member_count: 1 }])
      expect((await get(server(), `/groups/${group.id}`, token)).status).toBe(200)
      expect((await get(server(), `/groups/${other.id}`, token)).status).toBe(404)
      expect((await patch(server(), group.id, { quota_allowance: 9 }, token)).status).toBe(200)
      expect((await patch(server(), other.id, { quota_allowance: 9 }, token)).status).toBe(404)
      // This token cannot read memberships, so no user counts as a member
      expect(refusal(await patch(server(), group.id, { remove_users: [one.user.id] }, token))).toStrictEqual([400, "remove_users"])
      expect((await create(server(), {}, "default", token)).status).toBe(404)
    })

    once("is deleted once with its memberships, and returned", async () => {
      const one = await server().aMember()
      const group = await aGroup(server())
      await put(server(), group, one)
      const remove = (reference: string) => server().call("DELETE", `/groups/${reference}`, { token: server().owner().token })
      const answers = await Promise.all([remove(group.id), remove(group.id)])
      expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([200, 404])
      expect(answers.find(({ status }) => status === 200)?.body).toMatchObject({ id: group.id, members: [{ id: one.user.id }] })
      expect(await server().run(Effect.flatMap(GroupMemberRepository, ({ ids }) => ids(group.id)))).toStrictEqual([])
      const entries = await server().run(auditEntries({ resource_id: group.id }))
      const deleted = { action: "delete", status_code: 200, diff: { members: { old: [{ user_id: one.user.id }] } } }
      expect(entries.filter(({ action }) => action === "delete")).toEqual(
        expect.arrayContaining([expect.objectContaining({ status_code: 200 })])
      )
      expect(entries.find(({ action, status_code }) => action === "delete" && status_code === 200)).toMatchObject(deleted)
    })

    once("is changed and deleted by its name where that denotes one group", async () => {
      const elsewhere = await store(server())
      const name = `named${made++}`
      const group = await aGroup(server(), { name })
      expect((await patch(server(), name.toUpperCase(), { quota_allowance: 4 })).body).toMatchObject({ id: group.id, quota_allowance: 4 })
      await aGroup(server(), { name }, elsewhere.id)
      expect((await patch(server(), name, { quota_allowance: 5 })).status).toBe(404)
      const admin = await server().aMember({}, ["organization-user-admin"])
      expect((await patch(server(), name, { quota_allowance: 5 }, admin.token)).status).toBe(200)
      expect((await server().call("DELETE", `/groups/${name}`, { token: admin.token })).status).toBe(200)
      expect((await patch(server(), "no group at all", { quota_allowance: 5 })).status).toBe(400)
    })

    it("loses users who leave the organization, even while they are being added", async () => {
      const people = await Promise.all(Array.from({ length: 6 }, () => server().aMember()))
      const group = await aGroup(server())
      await put(server(), group, ...people.slice(0, 2))
      await Promise.all(
        people.flatMap((person, index) => [
          ...(index < 2 ? [] : [patch(server(), group.id, { add_users: [person.user.id] })]),
          leave(server(), group.organization_id, person)
        ])
      )
      const shown = (await get(server(), `/groups/${group.id}`)).as(Shown)
      expect([shown.members, shown.total_member_count]).toStrictEqual([[], 0])
      expect(await server().run(Effect.flatMap(GroupMemberRepository, ({ ids }) => ids(group.id)))).toStrictEqual([])
    })

    it("accepts each member once from concurrent calls, and rejects them once deleted", async () => {
      const one = await server().aMember()
      const group = await aGroup(server())
      const add = () => patch(server(), group.id, { add_users: [one.user.id] })
      const answers = await Promise.all([add(), add(), add()])
      expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([200, 400, 400])
      const other = await aGroup(server())
      const [added] = await Promise.all([
        patch(server(), other.id, { add_users: [one.user.id] }),
        server().call("DELETE", `/groups/${other.id}`, { token: server().owner().token })
      ])
      expect([200, 404]).toContain(added.status)
      expect((await get(server(), `/groups/${other.id}`)).status).toBe(404)
    })
  },
  { entitlements }
)

describeServerOnEach(
  "a group of an organization that is being deleted",
  (server) => {
    it("prevents the deletion, or is not created", async () => {
      const { token } = server().owner()
      for (let round = 0; round < 4; round++) {
        const { id } = await store(server())
        const [made, deleted] = await Promise.all([
          create(server(), {}, id),
          server().call("DELETE", `/organizations/${id}`, { token }),
          create(server(), {}, id)
        ])
        const left = await server().run(
          Effect.flatMap(GroupRepository, ({ list }) => list({ organization_id: id }, AccessPredicate.True()))
        )
        if (deleted.status === 200) expect([made.status, left]).toStrictEqual([404, []])
        else expect([made.status, left.length]).toStrictEqual([201, 3])
      }
    })
  },
  { entitlements: { has: (feature) => feature === "template_rbac" || feature === "multiple_organizations" } }
)

describeInterface(
  "the group of all members",
  (server) => {
    it("is there from the start, with the organization's id and members", async () => {
      const one = await server().aMember()
      const [organization] = (await get(server(), "/organizations")).as(Schema.Tuple(Schema.Struct({ id: Uuid.Uuid })))
      const everyone = (await get(server(), `/groups/${organization.id}`)).as(Shown)
      expect([everyone.name, everyone.members.map(({ id }) => id)]).toStrictEqual([
        "Everyone",
        expect.arrayContaining([one.user.id, server().owner().user.id])
      ])
      expect(everyone.total_member_count).toBe(everyone.members.length)
      expect((await get(server(), `/groups/${organization.id}`, one.token)).as(Shown).members.map(({ id }) => id)).toStrictEqual([
        one.user.id
      ])
    })

    it("changes in its allowance and picture alone", async () => {
      const one = await server().aMember()
      const { organization_id: id } = await aGroup(server())
      expect(refusal(await patch(server(), id, { name: "All" }))).toStrictEqual([400, "name"])
      expect(refusal(await patch(server(), id, { display_name: "x" }))).toStrictEqual([400, "display_name"])
      expect((await patch(server(), id, { add_users: [one.user.id] })).status).toBe(403)
      expect((await patch(server(), id, { remove_users: [one.user.id] })).status).toBe(403)
      expect((await patch(server(), id, { name: "Everyone", quota_allowance: 5, avatar_url: "/e" })).body).toMatchObject({
        name: "Everyone",
        quota_allowance: 5,
        avatar_url: "/e"
      })
      expect((await server().call("DELETE", `/groups/${id}`, { token: server().owner().token })).status).toBe(400)
    })
  },
  { entitlements }
)

describeServer(
  "lists of groups",
  (server) => {
    const names = async (path: string, token?: string) => (await get(server(), path, token)).as(Schema.Array(Shown)).map(({ name }) => name)

    it("hold the requested groups that the caller may read", async () => {
      const { id, name } = await store(server())
      const one = await server().aMember()
      await join(server(), id, one)
      const [first, second] = [await aGroup(server(), { name: "first" }, id), await aGroup(server(), { name: "second" }, id)]
      await put(server(), first, one)
      expect(await names(`/groups?organization=${name}`)).toStrictEqual(["Everyone", "first", "second"])
      expect(await names(`/groups?organization=${id}&has_member=${one.user.username}`)).toStrictEqual(["Everyone", "first"])
      expect(await names(`/groups?has_member=${one.user.id}&group_ids=${first.id},${second.id}`)).toStrictEqual(["first"])
      expect(await names(`/groups?group_ids=${second.id},${Uuid.nil}`)).toStrictEqual(["second"])
      expect(await names(`/groups?organization=${id}&has_member=me`, one.token)).toStrictEqual(["Everyone", "first"])
      expect(await names(`/organizations/${name}/groups/`)).toStrictEqual(["Everyone", "first", "second"])
      const stranger = await server().aMember()
      expect(await names("/groups", stranger.token)).not.toContain("first")
      expect(await names(`/groups?organization=${id}`, one.token)).toStrictEqual(["Everyone", "first", "second"])
      expect((await get(server(), `/organizations/${id}/groups`, stranger.token)).status).toBe(404)
    })

    it("name unknown parameters in the refusal", async () => {
      const one = await server().aMember()
      expect(refusal(await get(server(), "/groups?foo=1"))).toStrictEqual([400, "foo"])
      expect(refusal(await get(server(), "/groups?organization=missing"))).toStrictEqual([400, "organization"])
      expect(refusal(await get(server(), "/groups?has_member=missing"))).toStrictEqual([400, "has_member"])
      expect((await get(server(), "/groups?group_ids=x")).status).toBe(400)
      // Memberships in groups are not readable for all users
      expect(refusal(await get(server(), `/groups?has_member=owner`, one.token))).toStrictEqual([400, "has_member"])
    })

    it("come in pages that show each group once, with the count of those left", async () => {
      const { id } = await store(server())
      for (const index of [4, 2, 8, 1, 0, 7, 3, 6, 5])
        await aGroup(server(), { name: `${index % 2 ? "b" : "B"}${index}`, display_name: `D${index}` }, id)
      const Page = Schema.Struct({ groups: Schema.Array(Schema.Struct({ id: Uuid.Uuid, name: Schema.String })), count: Schema.Number })
      const path = `/organizations/${id}/paginated-groups`
      const seen: Array<string> = []
      let after = ""
      for (;;) {
        const page = (await get(server(), `${path}?limit=2${after}`)).as(Page)
        expect(page.count).toBe(10 - seen.length)
        const last = page.groups.at(-1)
        if (last === undefined) break
        seen.push(...page.groups.map(({ name }) => name))
        after = `&after_id=${last.id}`
      }
      expect(seen).toStrictEqual(["B0", "b1", "B2", "b3", "B4", "b5", "B6", "b7", "B8", "Everyone"])
      const all = await get(server(), path)
      expect(all.as(Page).groups).toHaveLength(10)
      expect(all.text).not.toContain(`"members"`)
      expect(all.text).toContain(`"total_member_count":0`)
      const found = async (query: string) => (await get(server(), `${path}?${query}`)).as(Page).groups.map(({ name }) => name)
      expect(await found("limit=2&offset=8")).toStrictEqual(["B8", "Everyone"])
      expect(await found("q=d3")).toStrictEqual(["b3"])
      expect(await found("q=search:EVERY")).toStrictEqual(["Everyone"])
      expect(await found("q=%25")).toStrictEqual([])
      expect(refusal(await get(server(), `${path}?q=name:x`))).toStrictEqual([400, "name"])
    })

    it("of members come in pages, by username", async () => {
      const people = await Promise.all(["zoe", "Yan", "xia"].map((username) => server().aMember({ username: `${username}-${made++}` })))
      const group = await aGroup(server())
      await put(server(), group, ...people)
      const [zoe] = people
      const Page = Schema.Struct({ users: Schema.Array(Member), count: Schema.Number })
      const page = async (query: string, token?: string) => {
        const { count, users } = (await get(server(), `/groups/${group.id}/members?${query}`, token)).as(Page)
        return [users.map(({ username }) => username.slice(0, 3)), count]
      }
      expect(await page("")).toStrictEqual([["xia", "Yan", "zoe"], 3])
      expect(await page("limit=2")).toStrictEqual([["xia", "Yan"], 3])
      expect(await page("limit=2&offset=2")).toStrictEqual([["zoe"], 3])
      expect(await page(`after_id=${people[1]?.user.id}`)).toStrictEqual([["zoe"], 1])
      expect(await page("offset=3")).toStrictEqual([[], 0])
      expect(await page("q=yan")).toStrictEqual([["Yan"], 1])
      expect(await page("", zoe?.token)).toStrictEqual([["zoe"], 3])
      expect(await page("q=yan", zoe?.token)).toStrictEqual([[], 0])
      expect(refusal(await get(server(), `/groups/${group.id}/members?q=shoe:9`))).toStrictEqual([400, "shoe"])
      const byName = await get(server(), `/organizations/default/groups/${group.name}/members/?limit=1`)
      expect(byName.body).toMatchObject({ count: 3, users: [{ id: people[2]?.user.id }] })
      const everyone = await get(server(), `/groups/${group.organization_id}/members?q=xia`)
      expect(everyone.body).toMatchObject({ count: 1, users: [{ id: people[2]?.user.id }] })
    })
  },
  { entitlements }
)
