import * as Client from "@atelier/http/client"
import { CurrentActor, sessionActor } from "@atelier/core/access"
import { ScimUsers, UserRepository } from "@atelier/core/identity"
import { SqlClient } from "@effect/sql"
import { Effect, Redacted, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { aUser } from "../../../../../test/records/builders.js"
import { describeInterface, describeServerOnEach, type TestServer, unlicensed } from "../../../../../test/http/server.js"
import { readError, readUser, type ScimAnswer, scimClient, send } from "./ScimClient.js"

const key = "the key of the identity provider"
const options = { scimAuthHeader: Redacted.make(key) }
const entitlements = { has: (feature: string) => feature === "scim" }

const DescribedResponse = Schema.Struct({
  $ref: Schema.optional(Schema.String),
  content: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
})
const Responses = Schema.Record({ key: Schema.String, value: DescribedResponse })
const Operation = Schema.Struct({ security: Schema.Array(Schema.Unknown), responses: Responses })
const Description = Schema.Struct({
  paths: Schema.Record({ key: Schema.String, value: Schema.Struct({ post: Schema.optional(Operation) }) }),
  components: Schema.Struct({ responses: Responses })
})

const ScimSchema = Schema.Struct({ attributes: Schema.Array(Schema.Struct({ name: Schema.String, mutability: Schema.String })) })

const person = (name: string, more: object = {}) => ({ userName: name, emails: [{ value: `${name}@example.com`, primary: true }], ...more })

/** The status of a refusal and the type it gives. */
const detailOf = ({ body, status }: ScimAnswer) => [status, readError(body).scimType]

const stored = (server: TestServer, id: string) =>
  server.run(
    Effect.gen(function* () {
      const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
      const [user] = yield* sql`SELECT username, email, name, status, login_type, rbac_roles FROM users WHERE id = ${id}`
      const keys = yield* sql`SELECT 1 FROM git_ssh_keys WHERE user_id = ${id}`
      const organizations = yield* sql`SELECT 1 FROM organization_members WHERE user_id = ${id}`
      const statuses = yield* sql<{ new_status: string }>`SELECT new_status FROM user_status_changes WHERE user_id = ${id} ORDER BY id`
      return { user, keys: keys.length, organizations: organizations.length, statuses: statuses.map(({ new_status }) => new_status) }
    })
  )

describeInterface(
  "SCIM without a key",
  (server) => {
    it("is nowhere", async () => {
      const paths = ["/Users", "/Users/x", "/ServiceProviderConfig", "/ResourceTypes", "/Schemas", "/nowhere"]
      const answers = await Promise.all(paths.map((path) => send(server(), "GET", `/scim/v2${path}`, { authorization: "Bearer " })))
      expect(answers.map(({ status }) => status)).toStrictEqual(paths.map(() => 404))
    })
  },
  { entitlements }
)

describeInterface(
  "SCIM without its license",
  (server) => {
    it("is refused without a license, before authentication", async () => {
      const answers = await Promise.all([
        send(server(), "GET", "/scim/v2/Users"),
        send(server(), "POST", "/scim/v2/Users", { authorization: `Bearer ${key}`, body: person("alice") })
      ])
      expect(answers.map(({ status }) => status)).toStrictEqual([403, 403])
    })
  },
  { ...unlicensed, options }
)

describeServerOnEach(
  "SCIM",
  (server, once) => {
    const provider = () => scimClient(server(), key)

    once("takes the key with or without the scheme", async () => {
      const given = [
        `Bearer ${key}`,
        `bearer  ${key}`,
        key,
        `Basic ${key}`,
        `Bearer ${key}x`,
        "Bearer ",
        "",
        server().owner().token,
        undefined
      ]
      const answers = await Promise.all(
        given.map((authorization) =>
          send(server(), "GET", "/scim/v2/ServiceProviderConfig", authorization === undefined ? {} : { authorization })
        )
      )
      expect(answers.map(({ status }) => status)).toStrictEqual([200, 200, 200, 401, 401, 401, 401, 401, 401])
      expect(answers[8]?.headers.get("www-authenticate")).toBe('Bearer realm="SCIM"')
      // A session is not a key
      const session = await fetch(`${server().url}/scim/v2/Users`, { headers: { "Service-Session-Token": server().owner().token } })
      expect(session.status).toBe(401)
    })

    once("describes its capabilities", async () => {
      const { call } = provider()
      const [config, types, type, schemas, schema] = await Promise.all(
        [
          "/ServiceProviderConfig",
          "/ResourceTypes",
          "/ResourceTypes/User",
          "/Schemas",
          "/Schemas/urn:ietf:params:scim:schemas:core:2.0:User"
        ].map((path) => call("GET", path))
      )
      expect(config?.body).toMatchObject({
        patch: { supported: true },
        bulk: { supported: false },
        filter: { supported: false },
        sort: { supported: false },
        etag: { supported: false },
        changePassword: { supported: false }
      })
      expect(types?.body).toMatchObject({ totalResults: 1, Resources: [type?.body] })
      expect(type?.body).toMatchObject({ id: "User", endpoint: "/Users", schema: "urn:ietf:params:scim:schemas:core:2.0:User" })
      expect(schemas?.body).toMatchObject({ totalResults: 1, Resources: [schema?.body] })
      const { attributes } = Schema.decodeUnknownSync(ScimSchema)(schema?.body)
      expect(attributes.map(({ mutability, name }) => `${name} ${mutability}`)).toStrictEqual([
        "userName immutable",
        "name immutable",
        "displayName immutable",
        "emails immutable",
        "active readWrite"
      ])
    })

    once("creates, suspends, reinstates and shows a user", async () => {
      const { create, get, list, delete: suspend } = provider()
      const { status, user } = await create(
        person("alice", { name: { givenName: "Alice", familyName: "Archer" }, groups: [], externalId: "7" })
      )
      expect([status, user]).toMatchObject([
        201,
        {
          userName: "alice",
          name: { formatted: "Alice Archer" },
          displayName: "Alice Archer",
          emails: [{ value: "alice@example.com", type: "work", primary: true }],
          active: true,
          meta: { location: `http://atelier.test/scim/v2/Users/${user.id}` }
        }
      ])
      expect(await stored(server(), user.id)).toMatchObject({
        user: { status: "dormant", login_type: "oidc", name: "Alice Archer" },
        keys: 1,
        organizations: 1,
        statuses: ["dormant"]
      })
      const again = await provider().call("POST", "/Users", person("alice"))
      expect(detailOf(again)).toStrictEqual([409, "uniqueness"])

      expect((await suspend(user.id)).status).toBe(204)
      expect((await suspend(user.id)).status).toBe(204)
      expect((await get(user.id)).user.active).toBe(false)
      expect((await stored(server(), user.id)).statuses).toStrictEqual(["dormant", "suspended"])

      const revived = await create({ userName: "whatever", emails: [{ value: "ALICE@example.com" }] })
      expect([revived.status, revived.user.id, revived.user.userName, revived.user.active]).toStrictEqual([201, user.id, "alice", true])
      expect((await stored(server(), user.id)).statuses).toStrictEqual(["dormant", "suspended", "dormant"])
      expect((await list({ filter: 'userName eq "Alice"' })).users).toStrictEqual([revived.user])
      expect((await list({ filter: 'email eq "alice@example.com"' })).users).toStrictEqual([revived.user])

      const automatic = { automatic_actor: "service", automatic_subsystem: "scim" }
      const system = "00000000-0000-0000-0000-000000000000"
      expect(await server().run(auditEntries({ resource_type: "user", resource_id: user.id }))).toMatchObject([
        {
          action: "create",
          user_id: system,
          resource_target: "alice",
          status_code: 201,
          additional_fields: automatic,
          diff: { email: { old: "", new: "alice@example.com" }, status: { old: "", new: "dormant" }, login_type: { new: "oidc" } }
        },
        { action: "write", user_id: system, status_code: 409, additional_fields: automatic, diff: {} },
        { action: "write", status_code: 204, additional_fields: automatic, diff: { status: { old: "dormant", new: "suspended" } } },
        { action: "write", status_code: 204, diff: {} },
        { action: "write", status_code: 201, additional_fields: automatic, diff: { status: { old: "suspended", new: "dormant" } } }
      ])
    })

    once("derives valid usernames, and creates inactive users as suspended", async () => {
      const { create } = provider()
      const made = await Promise.all([
        create({ userName: "bob.builder@example.com", emails: [{ value: "bob1@example.com" }] }),
        create({ userName: "___", emails: [{ value: "bob2@example.com" }] }),
        create({ userName: "-", emails: [{ value: "other@example.com" }, { value: "bob3@example.com", primary: "true" }] }),
        create({ userName: "bob4", emails: [{ value: "other@example.com" }, { value: "last@example.com" }], active: "False" })
      ])
      expect(made.map(({ user }) => [user.userName, user.emails[0]?.value, user.active])).toStrictEqual([
        ["bobbuilder", "bob1@example.com", true],
        ["bob2", "bob2@example.com", true],
        ["bob3", "bob3@example.com", true],
        ["bob4", "last@example.com", false]
      ])
      expect((await stored(server(), made[3].user.id)).user).toMatchObject({ status: "suspended" })
    })

    once("never uses the names reserved in paths, and still finds users sent under them", async () => {
      const { call, create, get, replace } = provider()
      const bodies = [
        { userName: "me", emails: [{ value: "melanie@example.com" }] },
        { userName: "ME@corp.example", emails: [{ value: "meredith@example.com" }] },
        { userName: "me", emails: [{ value: "Me@example.com" }] }
      ]
      const [melanie, meredith, other] = await Promise.all(bodies.map((body) => create(body)))
      expect([melanie?.user.userName, meredith?.user.userName]).toStrictEqual(["melanie", "meredith"])
      expect(other?.user.userName).toMatch(/^[a-z]+-[a-z]+\d\d$/)
      const id = melanie?.user.id ?? ""
      expect((await replace(id, { userName: "me", active: false })).user).toMatchObject({ userName: "melanie", active: false })
      expect(detailOf(await call("PUT", `/Users/${id}`, { userName: "frank", active: true }))).toStrictEqual([400, "mutability"])
      expect((await get(id)).user.active).toBe(false)
    })

    once("rejects taken names, and reinstates no account by its name", async () => {
      const { call, create, delete: suspend } = provider()
      const { user } = await create(person("carol"))
      const other = { userName: "Carol", emails: [{ value: "another-carol@example.com" }] }
      expect(detailOf(await call("POST", "/Users", other))).toStrictEqual([409, "uniqueness"])
      await suspend(user.id)
      expect(detailOf(await call("POST", "/Users", other))).toStrictEqual([409, "uniqueness"])
      expect((await stored(server(), user.id)).user).toMatchObject({ status: "suspended" })
    })

    it("creates and reinstates one user for concurrent calls", async () => {
      const { call, delete: suspend } = provider()
      const attempts = () => Promise.all(Array.from({ length: 5 }, () => call("POST", "/Users", person("dave"))))
      const statusesOf = (answers: ReadonlyArray<{ readonly status: number }>) => answers.map(({ status }) => status).toSorted()
      const created = await attempts()
      expect(statusesOf(created)).toStrictEqual([201, 409, 409, 409, 409])
      const { id } = readUser(created.find(({ status }) => status === 201)?.body)
      await suspend(id)
      expect(statusesOf(await attempts())).toStrictEqual([201, 409, 409, 409, 409])
      expect((await stored(server(), id)).statuses).toStrictEqual(["dormant", "suspended", "dormant"])
    })

    once("replaces and patches nothing but whether a user is active", async () => {
      const { call, create, get, patch, replace } = provider()
      const { user } = await create(person("erin", { displayName: "Erin" }))
      const put = (attributes: object) => call("PUT", `/Users/${user.id}`, attributes)
      expect((await replace(user.id, { userName: "ERIN", displayName: "Other", active: false })).user).toMatchObject({
        userName: "erin",
        displayName: "Erin",
        active: false
      })
      expect((await replace(user.id, { userName: "erin@example.com", active: "true" })).user.active).toBe(true)
      expect(detailOf(await put({ userName: "erin" }))).toStrictEqual([400, "invalidValue"])
      expect(detailOf(await put({ userName: "frank", active: false }))).toStrictEqual([400, "mutability"])
      expect(detailOf(await put({ active: 1 }))).toStrictEqual([400, "invalidSyntax"])
      expect(detailOf(await put({ active: "no" }))).toStrictEqual([400, "invalidValue"])

      const steps: ReadonlyArray<readonly [object, boolean]> = [
        [{ op: "Replace", path: "active", value: "False" }, false],
        [{ op: "add", path: "active", value: true }, false],
        [{ op: "replace", value: { active: true } }, true],
        [{ op: "remove", path: "active" }, false],
        [{ op: "replace", path: "displayName", value: "Other" }, false]
      ]
      for (const [step, active] of steps) expect((await patch(user.id, step)).user.active).toBe(active)
      const refused = async (body: unknown) => detailOf(await call("PATCH", `/Users/${user.id}`, body))
      expect(await refused({ Operations: [] })).toStrictEqual([400, "invalidValue"])
      expect(await refused({})).toStrictEqual([400, "invalidValue"])
      expect(await refused({ Operations: [{ op: "remove" }] })).toStrictEqual([400, "noTarget"])
      expect(await refused({ Operations: [{ op: "replace", path: "active", value: 0 }] })).toStrictEqual([400, "invalidValue"])
      expect((await get(user.id)).user).toMatchObject({ displayName: "Erin", active: false })
    })

    once("leaves an active user active, and suspends no owner", async () => {
      const { call, get, patch } = provider()
      const { user } = await server().aMember()
      expect((await patch(user.id, { op: "replace", path: "active", value: true })).user.active).toBe(true)
      expect((await stored(server(), user.id)).user).toMatchObject({ status: "active" })
      const { id } = server().owner().user
      expect(detailOf(await call("DELETE", `/Users/${id}`))).toStrictEqual([400, "mutability"])
      expect((await get(id)).user.active).toBe(true)
    })

    once("lets embedding code act with the rights of a user, and on others alone", async () => {
      const { user } = await server().aMember()
      const as = (siteRoles: ReadonlyArray<string>, id = user.id) =>
        server().run(
          Effect.flatMap(ScimUsers, (users) => Effect.either(users.delete(id))).pipe(
            Effect.provideService(CurrentActor, sessionActor({ userId: user.id, siteRoles, memberships: [] }))
          )
        )
      const other = await server().aMember()
      expect(await as(["user-admin"])).toMatchObject({ _tag: "Left", left: { message: "You cannot suspend yourself." } })
      expect(await as([])).toMatchObject({ _tag: "Left", left: { _tag: "Forbidden" } })
      expect(await as([], other.user.id)).toMatchObject({ _tag: "Left", left: { _tag: "NotFound" } })
      expect(await as(["user-admin"], other.user.id)).toMatchObject({ _tag: "Right" })
      expect((await provider().get(other.user.id)).user.active).toBe(false)
    })

    once("ends a suspended user's access with the next request", async () => {
      const { token, user } = await server().aMember()
      await provider().delete(user.id)
      expect((await server().call("GET", "/users/me", { token })).status).toBe(401)
    })

    once("shows neither deleted users nor the service's own, nor what is not an id", async () => {
      const { call } = provider()
      const [deleted, system] = await server().run(
        Effect.gen(function* () {
          const users = yield* UserRepository
          const both = [yield* aUser({ deleted: true }), yield* aUser({ is_system: true })] as const
          yield* Effect.forEach(both, (user) => users.insert(user, null))
          return both
        })
      )
      const ids = [deleted.id, system.id, "00000000-0000-0000-0000-000000000001", "x", "%00", "me", server().owner().user.username]
      for (const id of ids) {
        const path = `/Users/${id}`
        const answers = [
          await call("GET", path),
          await call("PUT", path, { active: false }),
          await call("PATCH", path, { Operations: [{ op: "remove", path: "active" }] }),
          await call("DELETE", path)
        ]
        const expected = id === "%00" ? 400 : 404
        expect([id, ...answers.map(({ status }) => status)]).toStrictEqual([id, expected, expected, expected, expected])
      }
      expect(detailOf(await call("POST", "/Users", { userName: "x", emails: [{ value: system.email }] }))).toStrictEqual([
        409,
        "uniqueness"
      ])
    })

    once("returns pages that together hold every user once", async () => {
      const { call, list } = provider()
      const everybody = await list()
      const names = everybody.users.map(({ userName }) => userName)
      expect(everybody).toMatchObject({ startIndex: 1, totalResults: names.length })
      expect(names).toStrictEqual(names.toSorted((left, right) => (left.toLowerCase() < right.toLowerCase() ? -1 : 1)))
      const walked: Array<string> = []
      for (let startIndex = 1; startIndex <= names.length; startIndex += 3) {
        const page = await list({ startIndex: String(startIndex), count: "3" })
        expect([page.startIndex, page.totalResults]).toStrictEqual([startIndex, names.length])
        walked.push(...page.users.map(({ userName }) => userName))
      }
      expect(walked).toStrictEqual(names)
      const beyond = { users: [], totalResults: names.length }
      expect(await list({ startIndex: "9007199254740991" })).toMatchObject(beyond)
      expect(await list({ count: "0" })).toMatchObject(beyond)
      expect(await list({ count: "-5" })).toMatchObject(beyond)
      expect((await list({ startIndex: "-5", count: "1" })).users.map(({ userName }) => userName)).toStrictEqual(names.slice(0, 1))
      expect(await list({ filter: 'userName eq "nobody"' })).toMatchObject({ users: [], totalResults: 0 })
      expect(detailOf(await call("GET", "/Users?count=many"))).toStrictEqual([400, "invalidValue"])
      expect(detailOf(await call("GET", "/Users?filter=displayName%20eq%20%22x%22"))).toStrictEqual([400, "invalidFilter"])
      expect(detailOf(await call("GET", "/Users?filter=x%00"))).toStrictEqual([400, "invalidValue"])
    })

    once("needs an address that can be one", async () => {
      const { call } = provider()
      const bodies = [
        {},
        person("x", { emails: [] }),
        person("x", { emails: [{ primary: true }] }),
        person("x", { emails: [{ value: "no address" }] }),
        person("x", { emails: [{ value: `${"x".repeat(300)}@example.com` }] }),
        person("x", { active: "maybe" })
      ]
      const answers = await Promise.all(bodies.map((body) => call("POST", "/Users", body)))
      expect(answers.map(detailOf)).toStrictEqual(bodies.map(() => [400, "invalidValue"]))
    })

    once("refuses invalid documents with SCIM errors", async () => {
      const { call } = provider()
      const bodies = ["", "{", "[]", '"x"', "7", '{"emails":7}', '{"name":"x"}', '{"userName":{}}', "[".repeat(100_000)]
      const answers = await Promise.all(bodies.map((body) => call("POST", "/Users", body)))
      expect(answers.map(detailOf)).toStrictEqual(bodies.map(() => [400, "invalidSyntax"]))
      expect(detailOf(await call("POST", "/Users", '{"userName":"a\\u0000b"}'))).toStrictEqual([400, "invalidValue"])
      expect((await call("POST", "/Users", JSON.stringify(person("x", { title: "x".repeat(300_000) })))).status).toBe(413)
      const name = "\ud800<script>\u2028".repeat(100)
      const { user } = await provider().create(person("hostile", { name: { formatted: name } }))
      expect(new TextEncoder().encode(user.name.formatted).length).toBeLessThanOrEqual(128)
    })

    once("answers paths and methods that it has not as one", async () => {
      const { call } = provider()
      expect((await call("GET", "/Groups")).status).toBe(404)
      expect((await call("POST", "/Bulk", {})).status).toBe(404)
      expect((await call("GET", "")).status).toBe(404)
      expect((await call("GET", "/Users/")).status).toBe(404)
      expect((await call("GET", "/Users/%ff")).status).toBe(400)
      expect((await call("GET", `/Users?filter=${"x".repeat(20_000)}`)).status).toBe(414)
      const refused = await call("PUT", "/Users", {})
      expect([refused.status, refused.headers.get("allow")]).toStrictEqual([405, "GET, POST"])
      expect((await call("GET", "/Schemas/nothing")).status).toBe(404)
    })

    once("is described with its key, its refusals and its media type", async () => {
      const { components, paths } = (await server().call("GET", "//swagger/doc.json")).as(Description)
      const { responses, security } = paths["/scim/v2/Users"]?.post ?? { responses: {}, security: [] }
      expect(security).toStrictEqual([{ scim: [] }])
      expect(Object.keys(responses["201"]?.content ?? {})).toStrictEqual(["application/scim+json"])
      for (const name of ["ScimInvalid", "ScimUnauthenticated", "ScimForbidden", "ScimNotFound", "ScimConflict"]) {
        expect(Object.values(responses)).toContainEqual({ $ref: `#/components/responses/${name}` })
        expect(Object.keys(components.responses[name]?.content ?? {})).toStrictEqual(["application/scim+json"])
      }
    })

    once("is part of the typed client, which fails as services do", async () => {
      const run = <A, E>(use: (client: Client.Client) => Effect.Effect<A, E>) =>
        Effect.runPromise(Effect.either(Effect.flatMap(Client.makeFetch({ baseUrl: server().url, scimKey: Redacted.make(key) }), use)))
      const created = await run(({ scim }) =>
        scim.createScimUser({ payload: { userName: "typed", emails: [{ value: "typed@example.com" }], schemas: [] } })
      )
      expect(created).toMatchObject({ _tag: "Right", right: { userName: "typed", active: true } })
      const again = await run(({ scim }) =>
        scim.createScimUser({ payload: { userName: "typed", emails: [{ value: "typed@example.com" }], schemas: [] } })
      )
      expect(again).toMatchObject({ _tag: "Left", left: { _tag: "Conflict" } })
      const filtered = await run(({ scim }) => scim.listScimUsers({ urlParams: { startIndex: 1, count: 1, filter: "x" } }))
      expect(filtered).toMatchObject({ _tag: "Left", left: { _tag: "Invalid", message: expect.stringContaining("comparison") } })
      const missing = await run(({ scim }) => scim.getScimUser({ path: { id: "x" } }))
      expect(missing).toMatchObject({ _tag: "Left", left: { _tag: "NotFound" } })
    })
  },
  { options: { ...options, swaggerEnable: true }, entitlements }
)

describeInterface(
  "SCIM where nobody is a member by default",
  (server) => {
    it("creates users that are members of nothing", async () => {
      const { user } = await scimClient(server(), key).create(person("grace"))
      expect((await stored(server(), user.id)).organizations).toBe(0)
    })
  },
  { options: { ...options, oidcOrganizationAssignDefault: false }, entitlements }
)
