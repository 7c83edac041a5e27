import { Access, sessionActor, SystemActor } from "@atelier/core/access"
import { SecretValues, UserSecretRepository, UserSecrets } from "@atelier/core/identity"
import { Uuid } from "@atelier/core/platform"
import { SqlClient } from "@effect/sql"
import { Effect, Logger, Redacted, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { describeInterface, describeServer, describeServerOnEach, type Person, type TestServer } from "../../../../../test/http/server.js"

const Shown = Schema.Struct({ id: Uuid.Uuid, name: Schema.String })
const NewKey = Schema.Struct({ key: Schema.String })

const create = (server: TestServer, { token }: Pick<Person, "token">, body: object, user = "me") =>
  server.call("POST", `/users/${user}/secrets`, { token, body })

const change = (server: TestServer, { token }: Person, name: string, body: object) =>
  server.call("PATCH", `/users/me/secrets/${name}`, { token, body })

const aSecret = async (server: TestServer, person: Person, body: object = {}) => {
  const answer = await create(server, person, { name: "npm", value: "hunter2", env_name: "NPM_TOKEN", ...body })
  expect(answer.text).toContain("enabled")
  expect(answer.status).toBe(201)
  return answer.as(Shown)
}

const names = async (server: TestServer, { token }: Pick<Person, "token">) =>
  (await server.call("GET", "/users/me/secrets", { token })).as(Schema.Array(Shown)).map(({ name }) => name)

const sql = <A, E>(server: TestServer, statement: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>): Promise<A> =>
  server.run(Effect.flatMap(Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)), statement))

/** What the row of a secret holds. */
const stored = (server: TestServer, id: string) =>
  sql(server, (sql) =>
    Effect.flatMap(
      sql`SELECT value, value_key_id FROM user_secrets WHERE id = ${id}`,
      Schema.decodeUnknown(Schema.Tuple(Schema.Struct({ value: Schema.Uint8ArrayFromSelf, value_key_id: Schema.String })))
    )
  ).then(([row]) => row)

describeServerOnEach("a user's secret", (server, once) => {
  once("is shown without its value, by name", async () => {
    const member = await server().aMember()
    const answer = await create(server(), member, {
      name: "npm token",
      value: "hunter2",
      description: "for CI",
      env_name: "NPM_TOKEN",
      file_path: "~/.npmrc"
    })
    expect(answer.status).toBe(201)
    expect(answer.body).toStrictEqual({
      id: expect.any(String),
      name: "npm token",
      description: "for CI",
      env_name: "NPM_TOKEN",
      file_path: "~/.npmrc",
      enabled: true,
      created_at: expect.any(String),
      updated_at: expect.any(String)
    })
    const one = await server().call("GET", "/users/me/secrets/npm%20token", { token: member.token })
    expect([one.status, one.body]).toStrictEqual([200, answer.body])
    await aSecret(server(), member, { name: "aws", env_name: "AWS_KEY" })
    const list = await server().call("GET", `/users/${member.user.username}/secrets/`, { token: member.token })
    expect(list.as(Schema.Array(Shown)).map(({ name }) => name)).toStrictEqual(["aws", "npm token"])
    expect(list.text).not.toContain("hunter2")
  })

  once("changes in the given fields, with no trace of its value", async () => {
    const member = await server().aMember()
    const { id } = await aSecret(server(), member)
    const before = await stored(server(), id)
    const renamed = await change(server(), member, "npm", { description: "new", name: "other" })
    expect([renamed.status, renamed.body]).toMatchObject([200, { name: "npm", description: "new", env_name: "NPM_TOKEN" }])
    expect((await stored(server(), id)).value).toStrictEqual(before.value)
    expect((await change(server(), member, "npm", { value: "hunter3" })).text).not.toContain("hunter3")
    expect((await stored(server(), id)).value).not.toStrictEqual(before.value)

    const aimless = await change(server(), member, "npm", { env_name: "" })
    expect([aimless.status, aimless.body]).toMatchObject([400, { validations: [{ field: "env_name" }] }])
    expect((await change(server(), member, "npm", { env_name: "", file_path: "", enabled: false })).status).toBe(200)
    expect((await change(server(), member, "npm", { enabled: true })).body).toMatchObject({ validations: [{ field: "env_name" }] })
    expect((await change(server(), member, "npm", { enabled: true, file_path: "/x" })).status).toBe(200)
    for (const body of [{}, { name: "x" }, { value: null }]) {
      const nothing = await change(server(), member, "npm", body)
      expect(nothing.status).toBe(400)
      expect(nothing.body).not.toHaveProperty("validations")
    }
    expect((await change(server(), member, "pip", { description: "" })).status).toBe(404)
  })

  once("is gone when it is deleted, and its name is free", async () => {
    const member = await server().aMember()
    await aSecret(server(), member)
    const remove = async () => (await server().call("DELETE", "/users/me/secrets/npm", { token: member.token })).status
    expect([await remove(), await remove()]).toStrictEqual([204, 404])
    expect(await names(server(), member)).toStrictEqual([])
    await aSecret(server(), member)
  })

  once("that breaks rules is refused with each of them, and never with its value", async () => {
    const member = await server().aMember()
    const refused = await create(server(), member, { name: "a/b", env_name: "PATH", file_path: "x", value: "" })
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { validations: [{ field: "name" }, { field: "env_name" }, { field: "file_path" }, { field: "value" }] }
    ])
    const validations = async (body: object) => {
      const answer = await create(server(), member, { name: "n", value: "hunter2", env_name: "N", ...body })
      expect(answer.text).not.toContain("hunter2")
      return [answer.status, answer.as(Schema.Struct({ validations: Schema.Array(Schema.Struct({ field: Schema.String })) })).validations]
    }
    for (const value of [["hunter2"], { value: "hunter2" }, 7]) {
      const unreadable = await create(server(), member, { name: "n", value, env_name: "N" })
      expect(unreadable.status).toBe(400)
      expect(unreadable.body).toStrictEqual({
        message: 'Request body field "value" must be a string.',
        detail: "value: must be a string"
      })
      const changed = await change(server(), member, "n", { value })
      expect(changed.text).not.toMatch(/hunter2|7/)
    }
    expect(await validations({ env_name: "" })).toStrictEqual([400, [{ field: "env_name" }]])
    expect(await validations({ value: "hunter2\u0000" })).toStrictEqual([400, [{ field: "value" }]])
    expect(await validations({ value: "hunter2".repeat(4000) })).toStrictEqual([400, [{ field: "value" }]])
    expect(await names(server(), member)).toStrictEqual([])
  })

  once("shares its name, variable and path with no other of its user", async () => {
    const member = await server().aMember()
    const path = `/${"long".repeat(1000)}`
    await aSecret(server(), member, { file_path: path })
    await aSecret(server(), await server().aMember(), { file_path: path })
    const field = async (body: object) => {
      const answer = await create(server(), member, { name: "other", value: "x", env_name: "OTHER", ...body })
      return [answer.status, answer.as(Schema.Struct({ validations: Schema.Array(Schema.Struct({ field: Schema.String })) })).validations]
    }
    expect(await field({ name: "npm" })).toStrictEqual([409, [{ field: "name" }]])
    expect(await field({ env_name: "NPM_TOKEN" })).toStrictEqual([409, [{ field: "env_name" }]])
    expect(await field({ file_path: path })).toStrictEqual([409, [{ field: "file_path" }]])
    await aSecret(server(), member, { name: "other", env_name: "OTHER" })
    expect((await change(server(), member, "other", { env_name: "NPM_TOKEN" })).status).toBe(409)
    expect((await change(server(), member, "other", { file_path: path })).status).toBe(409)
    await aSecret(server(), member, { name: "third", env_name: "", enabled: false })
    await aSecret(server(), member, { name: "fourth", env_name: "", enabled: false })
  })

  it("is one of at most 50, also of callers that race", async () => {
    const member = await server().aMember()
    for (let index = 0; index < 47; index++) await aSecret(server(), member, { name: `s${index}`, env_name: `S${index}` })
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => create(server(), member, { name: `r${index}`, env_name: `R${index}`, value: "x" }))
    )
    expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([201, 201, 201, 400, 400, 400])
    expect(answers.find(({ status }) => status === 400)?.body).not.toHaveProperty("validations")
    expect(await names(server(), member)).toHaveLength(50)
  })

  once("counts towards the total size of its user's values", async () => {
    const member = await server().aMember()
    const value = "x".repeat(20_000)
    await aSecret(server(), member, { name: "e1", env_name: "E1", value })
    expect((await create(server(), member, { name: "e2", env_name: "E2", value })).status).toBe(400)
    await aSecret(server(), member, { name: "e2", env_name: "", file_path: "/e2", value })
    expect((await change(server(), member, "e2", { env_name: "E2" })).status).toBe(400)
    for (let index = 3; index <= 10; index++) {
      await aSecret(server(), member, { name: `e${index}`, env_name: "", file_path: `/e${index}`, value })
    }
    expect((await create(server(), member, { name: "e11", file_path: "/e11", value })).status).toBe(400)
    await aSecret(server(), member, { name: "e11", env_name: "", file_path: "/e11", value: "x".repeat(4_800) })
    expect((await change(server(), member, "e11", { value: "x".repeat(4_801) })).status).toBe(400)
    expect((await change(server(), member, "e11", { value: "y".repeat(4_800) })).status).toBe(200)
  })

  once("is its user's alone: hidden from owners and members, who cannot create any", async () => {
    const member = await server().aMember()
    const owner = server().owner()
    const other = await server().aMember()
    await aSecret(server(), member)
    const statuses = (person: Person) =>
      Promise.all(
        (
          [
            ["GET", ""],
            ["POST", ""],
            ["GET", "/npm"],
            ["PATCH", "/npm"],
            ["DELETE", "/npm"]
          ] as const
        ).map(async ([method, path]) => {
          const body = method === "GET" || method === "DELETE" ? {} : { body: { name: "x", value: "x", env_name: "X" } }
          return (await server().call(method, `/users/${member.user.id}/secrets${path}`, { token: person.token, ...body })).status
        })
      )
    expect(await statuses(owner)).toStrictEqual([404, 403, 404, 404, 404])
    expect(await statuses(other)).toStrictEqual([404, 404, 404, 404, 404])
    expect(await names(server(), member)).toStrictEqual(["npm"])
    expect((await server().call("GET", `/users/${member.user.id}/secrets`)).status).toBe(401)
    const hidden = await server().call("GET", `/users/${member.user.id}/secrets/npm`, { token: owner.token })
    expect(hidden.text).toBe((await server().call("GET", `/users/${member.user.id}/secrets/none`, { token: owner.token })).text)
  })

  once("is for tokens whose scopes and allow lists name it", async () => {
    const member = await server().aMember()
    const npm = await aSecret(server(), member)
    await aSecret(server(), member, { name: "pip", env_name: "PIP" })
    const token = async (body: object) =>
      (await server().call("POST", "/users/me/keys/tokens", { token: member.token, body })).as(NewKey).key
    const reads = await token({ scopes: ["user:read", "user_secret:read"] })
    expect(await names(server(), { token: reads })).toStrictEqual(["npm", "pip"])
    expect((await create(server(), { token: reads }, { name: "x", value: "x", env_name: "X" })).status).toBe(403)
    expect((await change(server(), { ...member, token: reads }, "npm", { description: "x" })).status).toBe(403)
    expect((await server().call("DELETE", "/users/me/secrets/npm", { token: reads })).status).toBe(403)
    const one = await token({ allow_list: [`user:${member.user.id}`, `user_secret:${npm.id}`] })
    expect(await names(server(), { token: one })).toStrictEqual(["npm"])
    expect((await server().call("GET", "/users/me/secrets/pip", { token: one })).status).toBe(404)
    const none = await token({ scopes: ["user:read"] })
    expect((await server().call("GET", "/users/me/secrets", { token: none })).status).toBe(404)
  })

  once("is audited when created, changed, deleted or refused, without its value", async () => {
    const member = await server().aMember()
    const { id } = await aSecret(server(), member)
    await change(server(), member, "npm", { value: "hunter3", description: "d" })
    await change(server(), member, "npm", { enabled: false })
    await change(server(), member, "npm", { env_name: "PATH" })
    await server().call("DELETE", "/users/me/secrets/npm", { token: member.token })
    const entries = await server().run(auditEntries({ resource_id: id }))
    expect(entries.map(({ action, diff, status_code }) => [action, status_code, Object.keys(diff).toSorted()])).toStrictEqual([
      ["create", 201, ["enabled", "env_name", "id", "name", "user_id", "value"]],
      ["write", 200, ["description", "value"]],
      ["write", 200, ["enabled"]],
      ["write", 400, []],
      ["delete", 204, ["description", "env_name", "id", "name", "user_id", "value"]]
    ])
    expect(entries.map(({ diff }) => diff["value"]).filter((value) => value !== undefined)).toStrictEqual(
      Array.from({ length: 3 }, () => ({ old: "", new: "", secret: true }))
    )
    expect(entries.every(({ resource_target, resource_type }) => resource_target === "npm" && resource_type === "user_secret")).toBe(true)
    expect(JSON.stringify(entries)).not.toContain("hunter")
  })

  once("is audited too when a change is refused before it is looked for", async () => {
    const member = await server().aMember()
    await aSecret(server(), member)
    const narrow = await server().call("POST", "/users/me/keys/tokens", {
      token: member.token,
      body: { scopes: ["user:read", "user_secret:read"] }
    })
    const { key: token } = narrow.as(NewKey)
    expect((await create(server(), { token }, { name: "x", value: "x", env_name: "X" })).status).toBe(403)
    await change(server(), { ...member, token }, "npm", { description: "x" })
    await server().call("DELETE", "/users/me/secrets/npm", { token })
    const entries = await server().run(auditEntries({ user_id: member.user.id, resource_type: "user_secret" }))
    expect(entries.map(({ action, resource_target, status_code }) => [action, resource_target, status_code])).toStrictEqual([
      ["create", "npm", 201],
      ["write", "npm", 403],
      ["delete", "npm", 403]
    ])
  })
})

describeServerOnEach("a secret of a user who is deleted meanwhile", (server, once) => {
  once("is not created, even by an actor authenticated before", async () => {
    const { user } = await server().aMember()
    expect((await server().call("DELETE", `/users/${user.id}`, { token: server().owner().token })).status).toBe(200)
    const actor = sessionActor({ userId: user.id, siteRoles: [], memberships: [] })
    const refused = await server().run(
      Effect.gen(function* () {
        const secrets = yield* UserSecrets
        const value = Redacted.make("x")
        return yield* Effect.all([
          Effect.flip(secrets.create("me", { name: "a", value, env_name: "A" })),
          Effect.flip(secrets.import("me", { format: "env", content: Redacted.make("A=1") }))
        ])
      }).pipe(Access.actingAs(actor))
    )
    expect(refused).toMatchObject([
      { _tag: "NotFound", resource: "user" },
      { _tag: "NotFound", resource: "user" }
    ])
    const left = await server().run(Effect.flatMap(UserSecretRepository, ({ ofUser }) => ofUser(user.id)))
    expect(left).toStrictEqual([])
  })

  it("is not left behind by callers that race with the deletion", async () => {
    for (let round = 0; round < 5; round++) {
      const { token, user } = await server().aMember()
      const answers = await Promise.all([
        ...Array.from({ length: 4 }, (_, index) =>
          server().call("POST", "/users/me/secrets", { token, body: { name: `s${index}`, value: "x", env_name: `S${index}` } })
        ),
        server().call("DELETE", `/users/${user.id}`, { token: server().owner().token })
      ])
      expect(answers.every(({ status }) => [200, 201, 401, 404].includes(status))).toBe(true)
      const left = await server().run(Effect.flatMap(UserSecretRepository, ({ ofUser }) => ofUser(user.id)))
      expect(left).toStrictEqual([])
    }
  })
})

describeInterface("secrets of one text", (server) => {
  const importAll = ({ token }: Pick<Person, "token">, body: unknown, user = "me") =>
    server().call("POST", `/users/${user}/secrets/batch`, { token, body })
  const Refused = Schema.Struct({ validations: Schema.Array(Schema.Struct({ field: Schema.String })) })
  const fields = async (person: Person, body: object) => {
    const answer = await importAll(person, body)
    expect(answer.text).not.toContain("hunter2")
    return [answer.status, answer.as(Refused).validations.map(({ field }) => field)]
  }

  it("are all created, those with unusable names disabled", async () => {
    for (const [format, content] of [
      ["env", "NPM=hunter2\nPATH='/bin'\nin-valid=x"],
      ["json", '{"NPM":"hunter2","PATH":"/bin","in-valid":"x"}'],
      ["yaml", "NPM: hunter2\nPATH: /bin\nin-valid: x\n"]
    ]) {
      const member = await server().aMember()
      const answer = await importAll(member, { format, content })
      expect(answer.text).not.toContain("hunter2")
      expect([answer.status, answer.body]).toMatchObject([
        201,
        [
          { name: "NPM", env_name: "NPM", file_path: "", enabled: true },
          { name: "PATH", env_name: "", enabled: false },
          { name: "in-valid", env_name: "", enabled: false }
        ]
      ])
      const created = answer.as(Schema.Array(Shown))
      const entries = await server().run(auditEntries({ user_id: member.user.id }))
      expect(
        entries.flatMap(({ action, diff, resource_id, resource_type, status_code }) =>
          resource_type === "user_secret" ? [[action, status_code, resource_id, diff["value"]]] : []
        )
      ).toStrictEqual(created.map(({ id }) => ["create", 201, id, { old: "", new: "", secret: true }]))
      expect(JSON.stringify(entries)).not.toContain("hunter2")
      expect(await names(server(), member)).toHaveLength(3)
    }
  })

  it("are all refused if one breaks a rule, a limit or a unique place", async () => {
    const member = await server().aMember()
    await aSecret(server(), member, { name: "old", env_name: "OLD" })
    expect(await fields(member, { format: "env", content: "A=hunter2\nB=\na/b=hunter2" })).toStrictEqual([
      400,
      ["secrets[1].value", "secrets[2].name"]
    ])
    expect(await fields(member, { format: "json", content: '{"A":"hunter2\\u0000"}' })).toStrictEqual([400, ["secrets[0].value"]])
    expect(await fields(member, { format: "env", content: "A=hunter2\nold=x" })).toStrictEqual([409, ["secrets[1].name"]])
    expect(await fields(member, { format: "env", content: "A=hunter2\nOLD=x" })).toStrictEqual([409, ["secrets[1].env_name"]])
    const tooMany = Array.from({ length: 50 }, (_, index) => `K${index}=x`).join("\n")
    expect((await importAll(member, { format: "env", content: tooMany })).status).toBe(400)
    expect((await importAll(member, { format: "env", content: `A=${"x".repeat(20_000)}\nB=${"x".repeat(5_000)}` })).status).toBe(400)
    expect(await names(server(), member)).toStrictEqual(["old"])
  })

  it("are refused where the text cannot be read or is too long", async () => {
    const member = await server().aMember()
    expect(await fields(member, {})).toStrictEqual([400, ["format", "content"]])
    const unreadable = await importAll(member, { format: "env", content: ["hunter2"] })
    expect([unreadable.status, unreadable.text.includes("hunter2")]).toStrictEqual([400, false])
    expect(await fields(member, { format: "env" })).toStrictEqual([400, ["content"]])
    expect(await fields(member, { format: "toml", content: "A=1" })).toStrictEqual([400, ["format"]])
    expect(await fields(member, { format: "env", content: "A=1\nhunter2" })).toStrictEqual([400, ["content"]])
    expect(await fields(member, { format: "env", content: "A=1\nA=2" })).toStrictEqual([400, ["content"]])
    expect(await fields(member, { format: "json", content: '{"A":1}' })).toStrictEqual([400, ["content"]])
    expect(await fields(member, { format: "env", content: "#".repeat(1024 * 1024 + 1) })).toStrictEqual([400, ["content"]])
    expect((await importAll(member, `{"format":"env","content":"${"#".repeat(5 * 1024 * 1024)}"}`)).status).toBe(400)
    expect((await importAll(member, `{"format":"env","content":"${"#".repeat(8 * 1024 * 1024)}"}`)).status).toBe(413)
  })

  it("are not audited when refused", async () => {
    const member = await server().aMember()
    await aSecret(server(), member, { name: "old", env_name: "OLD" })
    for (const content of ["hunter2", "A=hunter2\nA=2", "A=hunter2\nB=", "A=hunter2\nold=x"]) {
      await importAll(member, { format: "env", content })
    }
    const entries = await server().run(auditEntries({ user_id: member.user.id, resource_type: "user_secret" }))
    expect(entries.map(({ resource_target }) => resource_target)).toStrictEqual(["old"])
    expect(JSON.stringify(entries)).not.toContain("hunter2")
  })

  it("are made by their user alone", async () => {
    const member = await server().aMember()
    const body = { format: "env", content: "A=1" }
    expect((await importAll(server().owner(), body, member.user.username)).status).toBe(403)
    expect(await server().run(auditEntries({ user_id: server().owner().user.id, resource_type: "user_secret" }))).toStrictEqual([])
    expect((await importAll(await server().aMember(), body, member.user.username)).status).toBe(404)
    expect(await names(server(), member)).toStrictEqual([])
  })
})

const logged: Array<string> = []
const logger = Logger.make(({ cause, message }) => void logged.push(`${JSON.stringify(message)} ${String(cause)}`))

describeServer(
  "the value of a secret",
  (server) => {
    /** What the user's workspaces are given. */
    const delivered = ({ user }: Person) =>
      server().run(
        Effect.map(
          Effect.flatMap(SecretValues, ({ ofAgent }) => ofAgent(user.id)).pipe(
            Access.actingAs({ ...SystemActor.systemRestricted, userId: user.id, agentId: user.id })
          ),
          (secrets) => secrets.map(({ env_name, value }) => [env_name, new TextDecoder().decode(Redacted.value(value))])
        )
      )

    it("is stored encrypted, anew each time, with the key's id beside it", async () => {
      const member = await server().aMember()
      const { id } = await aSecret(server(), member)
      const other = await aSecret(server(), member, { name: "same", env_name: "SAME" })
      const [one, two] = [await stored(server(), id), await stored(server(), other.id)]
      expect(Buffer.from(one.value).includes("hunter2")).toBe(false)
      expect(one.value).toHaveLength("hunter2".length + 12 + 16)
      expect(one.value).not.toStrictEqual(two.value)
      expect(one.value_key_id).toMatch(/^[0-9a-f]{16}$/)
      expect(two.value_key_id).toBe(one.value_key_id)
    })

    it("are given to agents of their user only, while it is enabled", async () => {
      const member = await server().aMember()
      const other = await server().aMember()
      await aSecret(server(), member, { value: "grüße\n" })
      await aSecret(server(), member, { name: "off", env_name: "OFF", enabled: false })
      expect(await delivered(member)).toStrictEqual([["NPM_TOKEN", "grüße\n"]])
      expect(await delivered(other)).toStrictEqual([])
      const refused = (actor: object) =>
        server().run(
          Effect.flatMap(SecretValues, ({ ofAgent }) => Effect.flip(ofAgent(member.user.id))).pipe(
            Access.actingAs({ ...SystemActor.systemRestricted, ...actor })
          )
        )
      expect(await refused({ userId: member.user.id })).toMatchObject({ _tag: "Forbidden" })
      expect(await refused({ userId: other.user.id, agentId: other.user.id })).toMatchObject({ _tag: "Forbidden" })
    })

    it("that are corrupt in the store are left out and logged without their values", async () => {
      const member = await server().aMember()
      const other = await server().aMember()
      const one = await aSecret(server(), member)
      const two = await aSecret(server(), member, { name: "two", env_name: "TWO", value: "hunter4" })
      const foreign = await aSecret(server(), other, { env_name: "FOREIGN", value: "hunter5" })
      const set = (value: Uint8Array) => sql(server(), (sql) => sql`UPDATE user_secrets SET value = ${value} WHERE id = ${one.id}`)
      const { value } = await stored(server(), one.id)
      const spoilt = [
        ...[0, 12, value.length - 1].map((index) => value.map((byte, at) => (at === index ? byte ^ 1 : byte))),
        value.subarray(0, -1),
        value.subarray(0, 20),
        value.subarray(0, 12),
        new Uint8Array(),
        (await stored(server(), two.id)).value,
        (await stored(server(), foreign.id)).value
      ]
      for (const bytes of spoilt) {
        await set(new Uint8Array(bytes))
        expect(await delivered(member)).toStrictEqual([["TWO", "hunter4"]])
      }
      expect(logged.some((line) => line.includes(one.id) && line.includes("not authentic"))).toBe(true)
      expect(logged.filter((line) => line.includes("hunter"))).toStrictEqual([])
      await set(value)
      expect(await delivered(member)).toStrictEqual([
        ["NPM_TOKEN", "hunter2"],
        ["TWO", "hunter4"]
      ])
      await sql(
        server(),
        (sql) => sql`UPDATE user_secrets SET user_id = ${other.user.id}, name = 'moved', env_name = 'M' WHERE id = ${one.id}`
      )
      expect(await delivered(other)).toStrictEqual([["FOREIGN", "hunter5"]])
    })
  },
  { logger, logLevel: "debug" }
)
