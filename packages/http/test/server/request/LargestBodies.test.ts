import { Redacted, Schema } from "effect"
import { Agent, request } from "node:http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { longestTurn, maximumTurn } from "../../../../core/test/platform/longestTurn.js"
import { sqlite } from "../../../../../test/store/databases.js"
import { testEngines } from "../../../../../test/outside/engine.js"
import { startServer, type TestServer } from "../../../../../test/http/server.js"
import { aTemplate } from "../../../../../test/http/templates.js"
import { namesOf } from "../../../src/wire/Brand.js"
import { Contract } from "../../../src/contract/Contract.js"
import { maximumValues } from "../../../src/server/codec/json.js"
import { describe as describeApi } from "../../../src/swagger/describe.js"

const JsonSchema = Schema.Struct({
  $ref: Schema.optional(Schema.String),
  type: Schema.optional(Schema.Unknown),
  format: Schema.optional(Schema.String),
  enum: Schema.optional(Schema.Array(Schema.Unknown)),
  maxItems: Schema.optional(Schema.Number),
  maxProperties: Schema.optional(Schema.Number),
  maxLength: Schema.optional(Schema.Number),
  properties: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
  items: Schema.optional(Schema.Unknown),
  additionalProperties: Schema.optional(Schema.Unknown),
  anyOf: Schema.optional(Schema.Array(Schema.Unknown)),
  allOf: Schema.optional(Schema.Array(Schema.Unknown))
})
const readSchema = Schema.decodeUnknownSync(JsonSchema)

const scimKey = "a key of the identity provider"

const uuid = (index: number): string => `018f0000-0000-7000-8000-${index.toString(16).padStart(12, "0")}`

/** Texts of each format that the description names. */
const formats: Readonly<Record<string, (index: number) => string>> = { uuid, "date-time": () => "2030-01-01T00:00:00Z" }

/** Texts that get furthest in services, by the name of their field. */
const words: Readonly<Record<string, (index: number) => string>> = {
  action: () => "read",
  resource_type: (index) => ["workspace", "template", "user", "group", "organization"][index % 5] ?? "workspace",
  owner_id: () => "me",
  organization_id: uuid,
  resource_id: () => "",
  op: () => "replace",
  path: () => "active",
  email: () => "ada@example.com",
  roles: () => "",
  scopes: () => "user:read",
  user_perms: () => "use",
  group_perms: () => "use",
  user_roles: () => "use",
  group_roles: () => "use",
  state: () => "AAAA"
}

/** Lists that have to be empty where their operation takes the others. */
const leftOut: ReadonlySet<string> = new Set(["site_permissions", "user_permissions", "legacy_group_name_mapping"])

/** How many values a value has: what the server counts. */
const countOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? Object.values(value).reduce<number>((sum, inner) => sum + countOf(inner), 1) : 1

/** Makes the value with the most entries that a schema accepts: lists and maps are as long as `left` values allow. */
const largest = (
  schemas: Readonly<Record<string, unknown>>,
  given: unknown,
  name: string,
  index: number,
  left: number,
  depth = 0
): unknown => {
  const schema = readSchema(typeof given === "object" ? given : {})
  if (schema.$ref !== undefined)
    return largest(schemas, schemas[schema.$ref.replace("#/components/schemas/", "")], name, index, left, depth)
  const [first] = schema.anyOf ?? schema.allOf ?? []
  if (first !== undefined) return largest(schemas, first, name, index, left, depth)
  if (schema.enum !== undefined) return schema.enum[0]
  const repeat = <A>(maximum: number, make: (index: number) => A): ReadonlyArray<A> => {
    const made: Array<A> = []
    const most = depth < 8 ? maximum : 0
    for (let used = 0; made.length < most;) {
      const entry = make(made.length)
      used += countOf(entry) + 1
      if (used > left) break
      made.push(entry)
    }
    return made
  }
  if (schema.type === "array")
    return repeat(schema.maxItems ?? maximumValues, (at) => largest(schemas, schema.items, name, at, left / 20, depth + 1))
  if (typeof schema.additionalProperties === "object" && schema.additionalProperties !== null) {
    const entries = repeat(
      schema.maxProperties ?? maximumValues,
      (at) => [uuid(at), largest(schemas, schema.additionalProperties, name, at, left / 20, depth + 1)] as const
    )
    return Object.fromEntries(entries)
  }
  if (schema.properties !== undefined) {
    const properties = Object.entries(schema.properties).filter(([key]) => !leftOut.has(key))
    const share =
      left / Math.max(1, properties.filter(([, property]) => /array|additionalProperties|\$ref/.test(JSON.stringify(property))).length)
    return Object.fromEntries(properties.map(([key, property]) => [key, largest(schemas, property, key, index, share, depth)]))
  }
  switch (schema.type) {
    case "boolean":
      return true
    case "integer":
    case "number":
      return 1
    case "string":
      return formats[schema.format ?? ""]?.(index) ?? words[name]?.(index) ?? `a${index}`
    default:
      return `a${index}`
  }
}

const { components, paths } = describeApi(Contract, { names: namesOf(), version: "v1.2.3", wire: "standard" })
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, operation]) => {
    const schema = operation.requestBody?.content["application/json"]?.schema
    return schema === undefined ? [] : [{ title: `${method.toUpperCase()} ${path}`, method: method.toUpperCase(), path, schema }]
  })
)

/** Milliseconds of processor time that parsing a text takes. */
const parsing = (text: string): number => {
  let least = Number.POSITIVE_INFINITY
  for (let count = 0; count < 3; count++) {
    const before = process.cpuUsage()
    JSON.parse(text)
    const { system, user } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

describe("the largest body that an operation accepts", () => {
  let server: TestServer
  let known: Readonly<Record<string, string>>
  const agent = new Agent({ keepAlive: true })

  beforeAll(async () => {
    server = await startServer(sqlite, {
      provisioner: testEngines,
      entitlements: { has: () => true },
      options: { scimAuthHeader: Redacted.make(scimKey) }
    })
    const { active_version_id, id, organization_id } = await aTemplate(server)
    const { user } = await server.aMember()
    known = { user: user.id, organization: organization_id, template: id, templateversion: active_version_id, group: organization_id }
  })
  afterAll(async () => {
    agent.destroy()
    await server.close()
  })

  const send = (method: string, path: string, body: Buffer): Promise<string> =>
    new Promise((resolve, reject) => {
      const key = path.startsWith("/scim/") ? { authorization: `Bearer ${scimKey}` } : { "Service-Session-Token": server.owner().token }
      const headers = { ...key, "Content-Length": body.length }
      const sent = request(server.url + path, { method, agent, headers }, (response) => {
        let answer = ""
        response.on("data", (chunk) => (answer += String(chunk))).once("end", () => resolve(answer))
      })
      sent.once("error", reject).end(body)
    })

  it.each(operations)("keeps nothing waiting for 50 ms: $title", async ({ method, path, schema }) => {
    const target = path.replace(/\{(\w+)\}/g, (_, name: string) => known[name] ?? uuid(1))
    const text = JSON.stringify(largest(components.schemas, schema, "", 0, maximumValues - 10))
    const body = Buffer.from(text)
    const allowed = maximumTurn + parsing(text)
    expect(await send(method, target, body)).not.toMatch(/Request body|entries"/)
    expect(await longestTurn(() => send(method, target, body), { enough: allowed })).toBeLessThan(allowed)
  })
})
