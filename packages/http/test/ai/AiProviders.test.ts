import { maskedKey } from "@atelier/core/ai"
import { Redacted, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { describeInterface, describeServerOnEach, type TestServer } from "../../../../test/http/server.js"

const Provider = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  display_name: Schema.String,
  enabled: Schema.Boolean,
  api_keys: Schema.Array(Schema.Struct({ id: Schema.String, masked: Schema.String, created_at: Schema.String })),
  settings: Schema.NullOr(Schema.Unknown)
})

const secretKey = "sk-abcdefghijklmnopqrstuvwxyz"
const usual = { type: "openai", base_url: "https://api.example.com/v1", api_keys: [secretKey] }
const bedrock = { _type: "bedrock", _version: 1, region: "us-east-1", model: "m", small_fast_model: "s" }

const call = (server: TestServer, method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: object) =>
  server.call(method, `/ai/providers${path}`, { token: server.owner().token, ...(body === undefined ? {} : { body }) })
const create = async (server: TestServer, fields: object) => {
  const answer = await call(server, "POST", "", { ...usual, ...fields })
  expect([answer.status, answer.text]).toStrictEqual([201, expect.anything()])
  return answer.as(Provider)
}
const fieldsOf = (body: unknown): ReadonlyArray<string> =>
  (
    Schema.decodeUnknownSync(Schema.Struct({ validations: Schema.optional(Schema.Array(Schema.Struct({ field: Schema.String }))) }))(body)
      .validations ?? []
  ).map(({ field }) => field)

describe("the mask of a key", () => {
  it.each([
    ["abcd", "..."],
    ["abcdefgh", "a...h"],
    ["abcdefghijkl", "ab...kl"],
    ["abcdefghijklmnopqrst", "abcd...qrst"]
  ])("of %s is %s", (key, masked) => {
    expect(maskedKey(Redacted.make(key))).toBe(masked)
  })
})

describeServerOnEach("AI providers", (server, once) => {
  once("are read by id and by name, with masked keys", async () => {
    const { id } = await create(server(), { name: "first" })
    for (const reference of [id, "first"]) {
      const { body, text } = await call(server(), "GET", `/${reference}`)
      expect(body).toMatchObject({
        id,
        name: "first",
        display_name: "first",
        enabled: true,
        settings: null,
        api_keys: [{ masked: "sk-a...wxyz" }]
      })
      expect(text).not.toContain(secretKey)
    }
    expect((await call(server(), "GET", "")).body).toContainEqual(expect.objectContaining({ id }))
    expect((await call(server(), "GET", "/First")).status).toBe(400)
    expect((await call(server(), "GET", "/unknown")).status).toBe(404)
  })

  it("have names of their own, also when two are created at once", async () => {
    const both = await Promise.all([1, 2].map(() => call(server(), "POST", "", { ...usual, name: "same" })))
    expect(both.map(({ status }) => status).toSorted()).toStrictEqual([201, 409])
    expect((await call(server(), "DELETE", "/same")).status).toBe(204)
    expect((await call(server(), "DELETE", "/same")).status).toBe(404)
    await create(server(), { name: "same" })
  })

  once("keep the keys that a new list names, and lose the rest", async () => {
    const { api_keys } = await create(server(), { name: "keys", api_keys: ["one-key-0123456789", "two-key-0123456789"] })
    const [kept] = api_keys
    const change = (list: unknown) => call(server(), "PATCH", "/keys", { api_keys: list } as object)
    const changed = await change([{ id: kept?.id }, { api_key: "new-key-0123456789" }])
    expect(changed.as(Provider).api_keys).toMatchObject([kept, { masked: "ne...89" }])
    expect(fieldsOf((await change([{ id: kept?.id, api_key: "both" }])).body)).toStrictEqual(["api_keys[0]"])
    expect(fieldsOf((await change([{}])).body)).toStrictEqual(["api_keys[0]"])
    expect(fieldsOf((await change([{ id: kept?.id }, { id: kept?.id }])).body)).toStrictEqual(["api_keys[1].id"])
    expect(fieldsOf((await change([{ api_key: " x" }])).body)).toStrictEqual(["api_keys[0].api_key"])
    expect((await change([{ id: api_keys[1]?.id }])).status).toBe(400)
    expect((await change(null)).status).toBe(400)
    expect((await change([])).as(Provider).api_keys).toStrictEqual([])
  })

  once("are audited with their keys, and without secrets", async () => {
    const { id } = await create(server(), { name: "audited", display_name: "Shown" })
    await call(server(), "PATCH", "/audited", { enabled: false, api_keys: [] })
    await call(server(), "DELETE", "/audited")
    const audit = (type: string, limit: number) =>
      server().call("GET", `/audit?q=resource_type:${type}&limit=${limit}`, { token: server().owner().token })
    const entries = await audit("ai_provider", 3)
    expect(entries.body).toMatchObject({
      audit_logs: [
        { action: "delete", resource_id: id },
        { action: "write", diff: { enabled: { old: true, new: false, secret: false } } },
        { action: "create", resource_target: "audited" }
      ]
    })
    const keys = await audit("ai_provider_key", 2)
    expect(keys.body).toMatchObject({ audit_logs: [{ action: "delete" }, { action: "create", diff: { api_key: { new: "sk-a...wxyz" } } }] })
    expect(entries.text + keys.text).not.toContain(secretKey)
  })

  once("keep credentials of Bedrock that a change does not give, and show none", async () => {
    const given = { ...bedrock, access_key: "AKIAEXAMPLE0000", access_key_secret: "hidden-secret" }
    const made = await create(server(), { name: "bed", type: "bedrock", api_keys: [], settings: given })
    expect(made.settings).toStrictEqual(bedrock)
    const role_arn = "arn:aws:iam::123456789012:role/models"
    const changed = (await call(server(), "PATCH", "/bed", { settings: { ...bedrock, model: "n", role_arn } })).as(Provider)
    expect(changed.settings).toStrictEqual({ ...bedrock, model: "n", role_arn, external_id: expect.stringMatching(/^[0-9a-f-]{36}$/) })
  })
})

describeInterface("an AI provider", (server) => {
  it.each([
    ["no name", { name: "" }, ["name"]],
    ["a capital in its name", { name: "A" }, ["name"]],
    ["two hyphens in its name", { name: "a--b" }, ["name"]],
    ["an unknown type", { type: "nope" }, ["type"]],
    ["no address", { base_url: "" }, ["base_url"]],
    ["an address of another scheme", { base_url: "ftp://x.example.com" }, ["base_url"]],
    ["an address without a host", { base_url: "https://" }, ["base_url"]],
    ["an empty key", { api_keys: [""] }, ["api_keys[0]"]],
    ["a key with blanks", { api_keys: ["good-key", " x "] }, ["api_keys[1]"]],
    ["settings of another type", { settings: bedrock }, ["settings"]],
    ["keys where it takes none", { type: "copilot" }, ["api_keys"]],
    ["no settings where it needs them", { type: "bedrock" }, ["api_keys", "settings"]],
    ["an unknown protocol", { type: "bedrock", api_keys: [], settings: { ...bedrock, protocol: "x" } }, ["settings.protocol"]],
    [
      "mantle without a region",
      { type: "bedrock", api_keys: [], settings: { _type: "bedrock", _version: 1, protocol: "mantle" } },
      ["settings.region"]
    ],
    ["one model of two", { type: "bedrock", api_keys: [], settings: { ...bedrock, small_fast_model: "" } }, ["settings.small_fast_model"]],
    ["an id of its own", { type: "bedrock", api_keys: [], settings: { ...bedrock, external_id: "x" } }, ["settings.external_id"]]
  ])("is refused that has %s", async (_, fields, refused) => {
    const answer = await call(server(), "POST", "", { ...usual, name: "refused", ...fields })
    expect([answer.status, fieldsOf(answer.body).toSorted()]).toStrictEqual([400, refused])
  })

  it("is not changed by a change of nothing, nor in its name or type", async () => {
    await create(server(), { name: "still" })
    for (const body of [{}, { name: "other" }, { type: "anthropic" }])
      expect((await call(server(), "PATCH", "/still", body)).status).toBe(400)
    expect(fieldsOf((await call(server(), "PATCH", "/still", { base_url: "nope" })).body)).toStrictEqual(["base_url"])
    expect((await call(server(), "PATCH", "/still", { display_name: "New" })).as(Provider).display_name).toBe("New")
    expect((await call(server(), "PATCH", "/still", { display_name: "" })).as(Provider).display_name).toBe("still")
  })

  it("is the business of owners alone", async () => {
    await create(server(), { name: "owned" })
    const { token } = await server().aMember()
    for (const [method, path] of [
      ["GET", ""],
      ["POST", ""],
      ["GET", "/owned"],
      ["PATCH", "/owned"],
      ["DELETE", "/owned"]
    ] as const) {
      const body = method === "POST" ? { body: { ...usual, name: "x" } } : method === "PATCH" ? { body: { enabled: true } } : {}
      expect((await server().call(method, `/ai/providers${path}`, { token, ...body })).status).toBe(403)
      expect((await server().call(method, `/ai/providers${path}`, body)).status).toBe(401)
    }
  })
})
