import { SqlClient } from "@effect/sql"
import { roleNames } from "@atelier/core/access"
import { GitSshKeyRepository, Sessions, UserRepository } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Uuid } from "@atelier/core/platform"
import { Effect, Option, Redacted, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { anOrganization } from "../../../../../test/records/builders.js"
import { describeInterface, describeServerOnEach, type Person, type TestServer, unlicensed } from "../../../../../test/http/server.js"

const Created = Schema.Struct({ id: Uuid.Uuid, status: Schema.String, organization_ids: Schema.Array(Schema.String) })
const Refusal = Schema.Struct({
  validations: Schema.optionalWith(Schema.Array(Schema.Struct({ field: Schema.String })), { default: () => [] })
})

const password = "SomeSecurePassword!"

let number = 0
/** A body that is accepted; a field that is undefined is left out. */
const aRequest = (fields: object = {}) => {
  number++
  return { email: `new${number}@example.com`, username: `new${number}`, password, organization_ids: [Uuid.nil], ...fields }
}

const create = (server: TestServer, body: object, { token }: Pick<Person, "token"> = server.owner()) =>
  server.call("POST", "/users", { token, body })

/** The status, and the fields that are at fault. */
const outcome = async (server: TestServer, fields: object, person?: Person) => {
  const answer = await create(server, aRequest(fields), person)
  return [
    answer.status,
    answer.status === 201
      ? []
      : answer
          .as(Refusal)
          .validations.map(({ field }) => field)
          .toSorted()
  ]
}

describeServerOnEach("a new user", (server, once) => {
  once("is dormant, in the named organizations, has a git key and can log in", async () => {
    const organization = await server().run(
      Effect.gen(function* () {
        const organizations = yield* OrganizationRepository
        const other = yield* anOrganization({ name: "research" })
        yield* organizations.insert(other)
        return { other: other.id, default: (yield* Effect.flatten(organizations.default)).id }
      })
    )
    const answer = await create(server(), {
      email: "Ada@example.com",
      username: "Ada-1",
      name: "Ada Lovelace",
      password,
      organization_ids: [Uuid.nil, organization.default],
      organization_id: organization.other,
      roles: ["auditor", "auditor"]
    })
    expect([answer.status, answer.body]).toMatchObject([
      201,
      {
        email: "Ada@example.com",
        username: "Ada-1",
        name: "Ada Lovelace",
        status: "dormant",
        login_type: "password",
        last_seen_at: "0001-01-01T00:00:00Z",
        organization_ids: [organization.default, organization.other],
        roles: [{ name: "auditor", display_name: "Auditor" }]
      }
    ])
    expect(answer.body).not.toHaveProperty("avatar_url")
    const { id } = answer.as(Created)
    expect((await server().call("GET", "/users/ada-1", { token: server().owner().token })).as(Created).organization_ids.toSorted()).toEqual(
      [organization.default, organization.other].toSorted()
    )
    const stored = await server().run(
      Effect.gen(function* () {
        const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
        const key = yield* Effect.flatMap(GitSshKeyRepository, ({ ofUser }) => ofUser(id))
        return { key, statuses: yield* sql`SELECT new_status FROM user_status_changes WHERE user_id = ${id}` }
      })
    )
    expect([Option.isSome(stored.key), stored.statuses]).toStrictEqual([true, [{ new_status: "dormant" }]])

    const login = await server().call("POST", "/users/login", { body: { email: "ADA@example.com", password } })
    expect(login.status).toBe(201)
  })

  once("is audited without its password, and not when refused", async () => {
    const { id } = (await create(server(), aRequest({ username: "audited" }))).as(Created)
    const [entry, ...more] = await server().run(auditEntries({ resource_id: id }))
    expect(more).toStrictEqual([])
    expect(entry).toMatchObject({
      action: "create",
      resource_type: "user",
      resource_target: "audited",
      status_code: 201,
      user_id: server().owner().user.id,
      diff: { username: { old: "", new: "audited" }, hashed_password: { secret: true } }
    })

    const member = await server().aMember()
    await create(server(), aRequest({ username: "refused" }), member)
    expect(await server().run(auditEntries({ user_id: member.user.id, resource_type: "user" }))).toStrictEqual([])
  })

  once("gets names and a password that follow the rules", async () => {
    for (const username of ["a--b", "-a", "a_b", "x".repeat(33), "new", "create", "me", ""]) {
      expect(await outcome(server(), { username })).toStrictEqual([400, ["username"]])
    }
    expect(await outcome(server(), { username: "A-b1" })).toStrictEqual([201, []])
    expect(await outcome(server(), { username: "a-B1" })).toStrictEqual([409, []])
    expect(await outcome(server(), { email: "Twin@example.com" })).toStrictEqual([201, []])
    expect(await outcome(server(), { email: "tWIN@example.com" })).toStrictEqual([409, []])
    expect(await outcome(server(), { email: "nonsense", name: " x", username: "?" })).toStrictEqual([400, ["email", "name", "username"]])
    expect(await outcome(server(), { email: "", name: "x".repeat(129) })).toStrictEqual([400, ["email", "name"]])
    expect(await outcome(server(), { password: "newpassword" })).toStrictEqual([400, ["password"]])
    expect(await outcome(server(), { password: "" })).toStrictEqual([400, ["password"]])
    expect(await outcome(server(), { password: "x1!Y".repeat(17) })).toStrictEqual([400, ["password"]])
  })

  once("logs in as the deployment offers it, and has a status and roles there are", async () => {
    expect(await outcome(server(), { login_type: "none", password: "" })).toStrictEqual([400, ["login_type"]])
    expect(await outcome(server(), { login_type: "token" })).toStrictEqual([400, ["login_type"]])
    expect(await outcome(server(), { login_type: "oidc", password: "" })).toStrictEqual([400, ["login_type"]])
    expect(await outcome(server(), { login_type: "pigeon" })).toStrictEqual([400, ["login_type"]])
    expect(await outcome(server(), { login_type: "github" })).toStrictEqual([400, ["password"]])
    expect(await outcome(server(), { login_type: "github", password: "" })).toStrictEqual([201, []])
    expect(await outcome(server(), { user_status: "gone" })).toStrictEqual([400, ["user_status"]])
    expect((await create(server(), aRequest({ user_status: "suspended" }))).as(Created).status).toBe("suspended")
    expect((await create(server(), aRequest({ user_status: null }))).as(Created).status).toBe("dormant")
    expect(await outcome(server(), { roles: ["emperor"] })).toStrictEqual([400, ["roles"]])
    expect(await outcome(server(), { roles: ["organization-admin"] })).toStrictEqual([400, ["roles"]])
  })

  once("belongs to an organization, which its creator can read", async () => {
    expect(await outcome(server(), { organization_ids: [] })).toStrictEqual([400, ["organization_ids"]])
    expect(await outcome(server(), { organization_ids: undefined, organization_id: Uuid.nil })).toStrictEqual([400, ["organization_ids"]])
    const unknown = "0d4e1d3c-0000-7000-8000-000000000001"
    expect(await outcome(server(), { organization_ids: [Uuid.nil, unknown] })).toStrictEqual([404, []])
    expect(await outcome(server(), { organization_ids: ["default"] })).toStrictEqual([400, []])
  })

  once("is refused by the first rule that it breaks", async () => {
    const taken = { username: "Owner" }
    const nowhere = { organization_ids: ["0d4e1d3c-0000-7000-8000-000000000001"] }
    const homeless = { organization_ids: [] }
    const weak = { password: "newpassword" }
    const admin = await server().aMember({ rbac_roles: ["user-admin"] })
    expect(await outcome(server(), { username: "a_b", service_account: true })).toStrictEqual([400, ["username"]])
    expect(await outcome(server(), { service_account: true, password: "", ...homeless })).toStrictEqual([400, ["email"]])
    expect(await outcome(server(), { service_account: true, email: "", password: "", ...homeless })).toStrictEqual([
      400,
      ["organization_ids"]
    ])
    expect(await outcome(server(), { login_type: "none", ...homeless })).toStrictEqual([400, ["login_type"]])
    expect(await outcome(server(), { login_type: "github", ...homeless })).toStrictEqual([400, ["password"]])
    expect(await outcome(server(), { ...taken, ...homeless })).toStrictEqual([400, ["organization_ids"]])
    expect(await outcome(server(), { ...taken, ...nowhere, ...weak })).toStrictEqual([409, []])
    expect(await outcome(server(), { ...nowhere, ...weak })).toStrictEqual([404, []])
    expect(await outcome(server(), { ...weak, roles: ["auditor"] }, admin)).toStrictEqual([400, ["password"]])
  })

  once("is created with the right to manage users, and roles that the actor may give", async () => {
    const admin = await server().aMember({ rbac_roles: ["user-admin"] })
    expect(await outcome(server(), {}, admin)).toStrictEqual([201, []])
    expect(await outcome(server(), { roles: ["member"] }, admin)).toStrictEqual([201, []])
    expect(await outcome(server(), { roles: ["auditor"] }, admin)).toStrictEqual([403, ["roles"]])
    expect(await outcome(server(), { roles: ["owner"] }, admin)).toStrictEqual([403, ["roles"]])
    expect(await outcome(server(), { roles: ["owner"] })).toStrictEqual([201, []])
    for (const rbac_roles of [[], ["auditor"], ["template-admin"]]) {
      const person = await server().aMember({ rbac_roles })
      const free = await create(server(), aRequest(), person)
      const taken = await create(server(), aRequest({ username: "owner", email: "owner@example.com" }), person)
      const nowhere = await create(server(), aRequest({ organization_ids: ["0d4e1d3c-0000-7000-8000-000000000001"] }), person)
      expect([free.status, taken.status, nowhere.status]).toStrictEqual([403, 403, 403])
      expect([taken.text, nowhere.text]).toStrictEqual([free.text, free.text])
    }
    expect((await create(server(), aRequest(), { token: "none" })).status).toBe(401)
  })

  it("is created once by concurrent calls with one name", async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, index) => create(server(), aRequest({ username: "race", email: `race${index}@example.com` })))
    )
    expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([201, 409, 409, 409, 409])
    const found = await server().run(
      Effect.flatMap(UserRepository, ({ byEmail }) => Effect.forEach([0, 1, 2, 3, 4], (index) => byEmail(`race${index}@example.com`)))
    )
    expect(found.filter(Option.isSome)).toHaveLength(1)
  })
})

describeInterface(
  "a new user without a license",
  (server) => {
    it("is not a service account", async () => {
      const account = { service_account: true, email: undefined, password: undefined }
      expect(await outcome(server(), account)).toStrictEqual([403, []])
      expect(await outcome(server(), { ...account, email: "", password: "", organization_ids: [] })).toStrictEqual([403, []])
      expect(await outcome(server(), { ...account, email: "a@example.com" })).toStrictEqual([400, ["email"]])
      expect(await outcome(server(), { ...account, password })).toStrictEqual([400, ["password"]])
      expect(await outcome(server(), { ...account, login_type: "password" })).toStrictEqual([400, ["login_type"]])
    })
  },
  unlicensed
)

describeInterface(
  "a new service account",
  (server) => {
    it("has no address and no way to log in, as often as one is wanted", async () => {
      const account = { service_account: true, email: "", password: "" }
      expect(await outcome(server(), { ...account, login_type: "none" })).toStrictEqual([201, []])
      const answer = await create(server(), aRequest(account))
      expect([answer.status, answer.body]).toMatchObject([201, { email: "", login_type: "none", is_service_account: true }])
    })

    it("uses tokens created by an owner, with the role of service accounts in organizations", async () => {
      const { id } = (await create(server(), aRequest({ service_account: true, email: "", password: "" }))).as(Created)
      const other = await server().aMember({ rbac_roles: ["user-admin"] })
      const make = (token: string) => server().call("POST", `/users/${id}/keys/tokens`, { token, body: { token_name: "ci" } })
      expect((await make(other.token)).status).toBe(403)
      const { key } = (await make(server().owner().token)).as(Schema.Struct({ key: Schema.String }))
      const self = await server().call("GET", "/users/me", { token: key })
      expect([self.status, self.body]).toMatchObject([200, { id, is_service_account: true, status: "active", login_type: "none" }])
      const actor = await server().run(Effect.flatMap(Sessions, ({ authenticate }) => authenticate(Redacted.make(key), {})))
      expect(
        roleNames(actor.subject)
          .filter(({ organizationId }) => organizationId !== undefined)
          .map(({ name }) => name)
      ).toContain("organization-service-account")
      expect(roleNames(actor.subject).map(({ name }) => name)).not.toContain("organization-member")
      const { token } = server().owner()
      expect((await server().call("PUT", `/users/${id}/password`, { token, body: { password } })).status).toBe(400)
      expect((await server().call("POST", "/users/login", { body: { email: "", password } })).status).not.toBe(201)
    })
  },
  { entitlements: { has: (feature) => feature === "service_accounts" } }
)

describeInterface(
  "a deployment without passwords",
  (server) => {
    it("creates no users with passwords", async () => {
      const owner = await server().aMember({ rbac_roles: ["owner"] })
      expect(await outcome(server(), {}, owner)).toStrictEqual([403, []])
      expect(await outcome(server(), { organization_ids: [] }, owner)).toStrictEqual([403, []])
      expect(await outcome(server(), { login_type: "github", password: "" }, owner)).toStrictEqual([201, []])
    })
  },
  { empty: true, options: { disablePasswordAuth: true } }
)
