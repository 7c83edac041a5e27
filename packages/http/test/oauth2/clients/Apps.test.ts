import { Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { type Call, describeInterface, describeServer, type Person, type TestServer } from "../../../../../test/http/server.js"

const App = Schema.Struct({ id: Uuid.Uuid, name: Schema.String, callback_url: Schema.String, icon: Schema.String })
const NewSecret = Schema.Struct({ id: Uuid.Uuid, client_secret_full: Schema.String })
const Secrets = Schema.Array(
  Schema.Struct({ id: Uuid.Uuid, last_used_at: Schema.NullOr(Schema.String), client_secret_truncated: Schema.String })
)

const callback_url = "https://client.example/callback"

const call = (server: TestServer, { token }: Person, method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: unknown) =>
  server.call(method, `/oauth2-provider${path}`, { token, ...(body === undefined ? {} : { body }) } satisfies Call)

const anApp = async (server: TestServer, fields: object = {}) => {
  const created = await call(server, server.owner(), "POST", "/apps", { name: "editor", callback_url, ...fields })
  expect(created.status).toBe(201)
  return created.as(App)
}

describeServer("an OAuth2 app", (server) => {
  it("is created, read, changed and deleted by an owner", async () => {
    const owner = server().owner()
    const created = await call(server(), owner, "POST", "/apps", { name: "my-editor", callback_url, icon: "/icon.svg" })
    const { id } = created.as(App)
    const endpoints = {
      authorization: "http://atelier.test/oauth2/authorize",
      token: "http://atelier.test/oauth2/tokens",
      token_revoke: "http://atelier.test/oauth2/revoke",
      device_authorization: "http://atelier.test/oauth2/device_authorization"
    }
    expect([created.status, created.body]).toStrictEqual([201, { id, name: "my-editor", callback_url, icon: "/icon.svg", endpoints }])
    expect((await call(server(), owner, "GET", `/apps/${id}`)).body).toStrictEqual(created.body)

    const changed = { name: "other", callback_url: "vscode://vendor.editor/callback" }
    const updated = await call(server(), owner, "PUT", `/apps/${id}`, changed)
    expect([updated.status, updated.body]).toStrictEqual([200, { id, ...changed, icon: "", endpoints }])
    expect((await call(server(), owner, "DELETE", `/apps/${id}`)).status).toBe(204)
    expect((await call(server(), owner, "GET", `/apps/${id}`)).status).toBe(404)
    expect((await call(server(), owner, "DELETE", `/apps/${id}`)).status).toBe(404)

    const entries = await server().run(auditEntries({ resource_id: id }))
    expect(entries.map(({ action, resource_target, resource_type }) => [action, resource_type, resource_target])).toStrictEqual([
      ["create", "oauth2_provider_app", "my-editor"],
      ["write", "oauth2_provider_app", "other"],
      ["delete", "oauth2_provider_app", "other"]
    ])
    expect(entries[1]?.diff).toMatchObject({ name: { old: "my-editor", new: "other" }, callback_url: { new: changed.callback_url } })
  })

  it("is listed by name and then id, and may share its name", async () => {
    const [beta, first, second] = [
      await anApp(server(), { name: "beta" }),
      await anApp(server(), { name: "alpha" }),
      await anApp(server(), { name: "alpha" })
    ]
    const listed = (await call(server(), await server().aMember(), "GET", "/apps")).as(Schema.Array(App))
    const ids = listed.map(({ id }) => id).filter((id) => [beta.id, first.id, second.id].includes(id))
    expect(ids).toStrictEqual([first.id, second.id, beta.id])
  })

  it.each([
    ["name", { name: "foo bar" }],
    ["name", { name: "n".repeat(33) }],
    ["name", { name: "new" }],
    ["name", { name: "" }],
    ["callback_url", { callback_url: "localhost:3000" }],
    ["callback_url", { callback_url: "bar" }],
    ["callback_url", { callback_url: "http://" }],
    ["callback_url", { callback_url: "" }],
    ["callback_url", { callback_url: "javascript:alert(1)" }],
    ["callback_url", { callback_url: "https://user@client.example/" }],
    ["callback_url", { callback_url: "https://client.example/#part" }],
    ["icon", { icon: `/${"i".repeat(256)}` }]
  ])("refuses a wrong %s: %j", async (field, fields) => {
    const answer = await call(server(), server().owner(), "POST", "/apps", { name: "app", callback_url, ...fields })
    expect([answer.status, answer.body]).toMatchObject([400, { validations: [{ field }] }])
  })

  it("is read by members, who change nothing and see no secrets", async () => {
    const { id } = await anApp(server())
    const member = await server().aMember()
    const body = { name: "app", callback_url }
    expect((await call(server(), member, "GET", `/apps/${id}`)).status).toBe(200)
    const answers = [
      await call(server(), member, "POST", "/apps", body),
      await call(server(), member, "PUT", `/apps/${id}`, body),
      await call(server(), member, "DELETE", `/apps/${id}`),
      await call(server(), member, "GET", `/apps/${id}/secrets`),
      await call(server(), member, "POST", `/apps/${id}/secrets`),
      await call(server(), member, "DELETE", `/apps/${id}/secrets/${id}`),
      await call(server(), member, "GET", "/settings"),
      await call(server(), member, "PUT", "/settings", {})
    ]
    expect(answers.map(({ status }) => status)).toStrictEqual([403, 403, 403, 403, 403, 404, 403, 403])
  })

  it("lists the apps with tokens of a user to that user and to owners", async () => {
    const member = await server().aMember()
    const path = `/apps?user_id=${member.user.id}`
    expect((await call(server(), member, "GET", path)).body).toStrictEqual([])
    expect((await call(server(), server().owner(), "GET", path)).body).toStrictEqual([])
    expect((await call(server(), await server().aMember(), "GET", path)).status).toBe(403)
    expect((await call(server(), member, "GET", "/apps?user_id=me")).status).toBe(400)
  })

  it("forbids caches to store what is told of it", async () => {
    const { headers } = await call(server(), server().owner(), "GET", "/apps")
    expect([headers.get("cache-control"), headers.get("pragma")]).toStrictEqual(["no-store", "no-cache"])
    const missing = await call(server(), server().owner(), "GET", "/nothing")
    expect([missing.status, missing.headers.get("cache-control")]).toStrictEqual([404, "no-store"])
  })
})

describeInterface("a client secret", (server) => {
  it("is shown once, recognised by its last characters, and deleted", async () => {
    const owner = server().owner()
    const { id } = await anApp(server())
    const created = await call(server(), owner, "POST", `/apps/${id}/secrets`)
    const secret = created.as(NewSecret)
    expect([created.status, secret.client_secret_full]).toStrictEqual([
      201,
      expect.stringMatching(/^service_[A-Za-z0-9]{10}_[A-Za-z0-9]{40}$/)
    ])
    const listed = await call(server(), owner, "GET", `/apps/${id}/secrets`)
    const shown = secret.client_secret_full.slice(-6)
    expect(listed.as(Secrets)).toStrictEqual([{ id: secret.id, last_used_at: null, client_secret_truncated: shown }])

    const other = await anApp(server())
    expect((await call(server(), owner, "DELETE", `/apps/${other.id}/secrets/${secret.id}`)).status).toBe(400)
    expect((await call(server(), owner, "DELETE", `/apps/${id}/secrets/${secret.id}`)).status).toBe(204)
    expect((await call(server(), owner, "DELETE", `/apps/${id}/secrets/${secret.id}`)).status).toBe(404)
    const entries = await server().run(auditEntries({ resource_id: secret.id }))
    expect(entries.map(({ action, diff, resource_target }) => [action, diff, resource_target])).toStrictEqual([
      ["create", {}, shown],
      ["delete", {}, shown]
    ])
  })
})

describeInterface("the settings of the authorization server", (server) => {
  it("keep what a change leaves out", async () => {
    const owner = server().owner()
    const put = async (body: object) => (await call(server(), owner, "PUT", "/settings", body)).body
    expect((await call(server(), owner, "GET", "/settings")).body).toStrictEqual({ dynamic_client_registration_enabled: true })
    expect(await put({ dynamic_client_registration_enabled: false })).toStrictEqual({ dynamic_client_registration_enabled: false })
    expect(await put({})).toStrictEqual({ dynamic_client_registration_enabled: false })
    expect(await put({ dynamic_client_registration_enabled: true })).toStrictEqual({ dynamic_client_registration_enabled: true })
    const entries = await server().run(auditEntries({ resource_type: "oauth2_provider_settings" }))
    expect(entries[0]).toMatchObject({
      action: "write",
      resource_target: "",
      diff: { dynamic_client_registration_enabled: { old: true, new: false, secret: false } }
    })
  })
})
