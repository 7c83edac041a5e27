/** Requests that an interface's description allows, nearly allows, and does not allow at all. */
import { Schema } from "effect"
import * as fc from "fast-check"
import { codePoint } from "../records/codePoint.js"

/** As much of a JSON schema as the description uses. */
export interface JsonSchema {
  readonly $ref?: string | undefined
  readonly type?: string | undefined
  readonly format?: string | undefined
  readonly enum?: ReadonlyArray<unknown> | undefined
  readonly anyOf?: ReadonlyArray<JsonSchema> | undefined
  readonly allOf?: ReadonlyArray<JsonSchema> | undefined
  readonly items?: JsonSchema | false | undefined
  readonly properties?: Readonly<Record<string, JsonSchema>> | undefined
  readonly additionalProperties?: JsonSchema | boolean | undefined
  readonly required?: ReadonlyArray<string> | undefined
}
const JsonSchema: Schema.Schema<JsonSchema> = Schema.Struct({
  $ref: Schema.optional(Schema.String),
  type: Schema.optional(Schema.String),
  format: Schema.optional(Schema.String),
  enum: Schema.optional(Schema.Array(Schema.Unknown)),
  anyOf: Schema.optional(Schema.Array(Schema.suspend(() => JsonSchema))),
  allOf: Schema.optional(Schema.Array(Schema.suspend(() => JsonSchema))),
  items: Schema.optional(
    Schema.Union(
      Schema.Literal(false),
      Schema.suspend(() => JsonSchema)
    )
  ),
  required: Schema.optional(Schema.Array(Schema.String)),
  properties: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.suspend(() => JsonSchema) })),
  additionalProperties: Schema.optional(
    Schema.Union(
      Schema.Boolean,
      Schema.suspend(() => JsonSchema)
    )
  )
})

const Parameter = Schema.Struct({ name: Schema.String, in: Schema.String, schema: JsonSchema })

const Operation = Schema.Struct({
  parameters: Schema.optionalWith(Schema.Array(Parameter), { default: () => [] }),
  requestBody: Schema.optional(
    Schema.Struct({ content: Schema.Record({ key: Schema.String, value: Schema.Struct({ schema: Schema.optional(JsonSchema) }) }) })
  )
})

/** A description as it is served at `/swagger/doc.json`. */
export const Description = Schema.Struct({
  paths: Schema.Record({ key: Schema.String, value: Schema.Record({ key: Schema.String, value: Operation }) }),
  components: Schema.Struct({ schemas: Schema.Record({ key: Schema.String, value: JsonSchema }) })
})

/** A request without a credential. */
export interface FuzzRequest {
  /** As the description has it: `POST /api/v2/users/{user}/keys`. */
  readonly operation: string
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** The value of every field that holds a secret: no answer may contain it. */
export const canary = "Hidden-Canary-7f3a"

/** Fields whose values are secrets. */
const holdsSecret = /passw|passcode|secret|token$|^(?:value|content)$/i

/** What always says where to look. */
const lookup = ["me", "default", "owner", "00000000-0000-0000-0000-000000000000", "018f0000-0000-7000-8000-000000000001"]

/** What a name of a field or parameter is about, whose values are ids or names: `template_id`, `owner_id`, `{user}`. */
export const kindOf = (name: string): string => {
  const kind = name
    .toLowerCase()
    .replace(/(?:_?ids?|_?name)$/, "")
    .replaceAll("_", "")
  return aliases[kind] ?? kind
}

/** What mostly ends the session it is sent with, leaves its user without rights or hashes a password: rare, so that others find time and a session. */
const rare = /\/logout|\/login$|\/password|\/status\/suspend|\/roles|^DELETE \/api\/v2\/users\/\{user\}$/

const aliases: Readonly<Record<string, string>> = {
  owner: "user",
  initiator: "user",
  createdby: "user",
  activeversion: "templateversion",
  version: "templateversion",
  file: "file",
  hash: "file",
  key: "token",
  provisionerjob: "job"
}

/** Halves of surrogate pairs have no encoding. */
const encoded = (text: string): string => encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, "\ufffd"))

const hostileTexts = [
  "",
  " ",
  "\0",
  "a\0b",
  "%",
  "%00",
  "'",
  '"',
  "\\",
  "' OR 1=1 --",
  "<script>alert(1)</script>",
  "../../../etc/passwd",
  "__proto__",
  "constructor",
  "toString",
  "null",
  "NaN",
  "-0",
  "-1",
  "2147483648",
  "9007199254740993",
  "1e999",
  "\u202e\u2028\ufeff",
  "😀",
  "e\u0301",
  "\r\nX-Injected: 1",
  "a:b:c",
  'q:"',
  "::",
  "\u{10ffff}\uffff",
  "0001-01-01T00:00:00Z",
  "9999-12-31T23:59:60Z",
  "+275760-09-13T00:00:00.001Z",
  "-infinity",
  "CRON_TZ=UTC 0 0 * * *",
  "x".repeat(5_000)
]

const hostileText = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...hostileTexts) },
  { weight: 2, arbitrary: fc.string({ unit: codePoint, maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 40 }) }
)

const deep = (levels: number): unknown => {
  let value: unknown = "deep"
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1.5,
    2 ** 31,
    2 ** 53,
    -(2 ** 63),
    1e300,
    [],
    {},
    [[]],
    [null],
    { uuid: "x", valid: true },
    deep(30),
    deep(300)
  ),
  fc.constant(Array.from({ length: 2_000 }, (_, index) => index)),
  fc.jsonValue({ maxDepth: 2 })
)

/** Spellings of the prototype that JSON can hold. */
const prototypes = fc.constantFrom('"__proto__":{"admin":true}', '"constructor":{"prototype":{"admin":true}}', '"__proto__":null')

/** Texts of fields with a grammar of their own. */
const texts: Readonly<Record<string, fc.Arbitrary<string>>> = {
  email: fc.nat(9_999).map((number) => `user${number}@example.com`),
  username: fc.stringMatching(/^[a-z]{5,12}$/),
  schedule: fc.constantFrom("0 3 * * *", "CRON_TZ=Europe/Berlin 30 22 * * *", "* * * * *", ""),
  autostart_schedule: fc.constantFrom("CRON_TZ=US/Central 30 9 * * 1-5", "0 0 * * *", ""),
  q: fc.constantFrom(
    "a",
    "owner:me",
    'name:"x"',
    "status:active role:owner",
    'last_seen_before:"2030-01-01T00:00:00Z"',
    "template:x status:running"
  ),
  scopes: fc.constantFrom("user:read", "api_key:*", "coder:all", "workspace:read", "coder:apikeys.manage_self"),
  roles: fc.constantFrom("auditor", "user-admin", "template-admin", "owner"),
  env_name: fc.stringMatching(/^[A-Z]{3,8}$/)
}

const secretText = fc.constantFrom(canary, `${canary}!x9`)

/** A secret in an unexpected place. */
const hiddenValue = fc.constantFrom<unknown>([canary], { [canary]: canary }, { a: canary }, `${canary}\0`, `{"A":"${canary}"`, "")

const plainText = fc.oneof(
  fc.stringMatching(/^[a-z][a-z0-9-]{0,11}$/),
  fc.constantFrom(
    "name@example.com",
    "https://example.com/a.png",
    "workspace:read",
    "coder:all",
    "start",
    "0 9 * * 1-5",
    "Sufficient-Entropy-91!"
  )
)

const instant = fc.date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true }).map((date) => date.toISOString())

/** Ids and names that are known, by what they are of. */
export type Known = ReadonlyMap<string, ReadonlyArray<string>>

/** How requests to an interface are made. */
export const requestsOf = ({ components, paths }: typeof Description.Type, known: Known): fc.Arbitrary<FuzzRequest> => {
  const anyKnown = fc.constantFrom(...[...known.values()].flat(), ...lookup)
  const knownAs = (name: string): fc.Arbitrary<string> => {
    const some = known.get(kindOf(name)) ?? []
    return some.length === 0 ? anyKnown : fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...some) }, { weight: 1, arbitrary: anyKnown })
  }

  /** A value of a schema, which a field or parameter of this name has. */
  const fitting = (schema: JsonSchema, name: string, isHostile: boolean, depth = 0): fc.Arbitrary<unknown> => {
    if (depth > 6) return fc.constant(null)
    if (schema.$ref !== undefined) return fitting(components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {}, name, isHostile, depth + 1)
    if (schema.enum !== undefined && schema.enum.length > 0) return fc.constantFrom(...schema.enum)
    const members = schema.anyOf ?? schema.allOf
    if (members !== undefined && members.length > 0)
      return fc.oneof(...members.map((member) => fitting(member, name, isHostile, depth + 1)))
    switch (schema.type) {
      case "boolean":
        return fc.boolean()
      case "integer":
      case "number":
        return fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constantFrom(0, 3_600_000, 3_600_000_000_000, 2_147_483_647))
      case "array":
        return fc.array(schema.items ? nearly(schema.items, name, isHostile, depth + 1) : fc.string(), { maxLength: 3 })
      case "object":
        return objectOf(schema, isHostile, depth)
      default:
        if (schema.format === "date-time") return instant
        if (schema.format === "uuid") return knownAs(name)
        return texts[name] ?? fc.oneof(plainText, knownAs(name))
    }
  }

  const nearly = (schema: JsonSchema, name: string, isHostile: boolean, depth = 0): fc.Arbitrary<unknown> =>
    isHostile
      ? fc.oneof({ weight: 6, arbitrary: fitting(schema, name, isHostile, depth) }, { weight: 1, arbitrary: hostileValue })
      : fitting(schema, name, isHostile, depth)

  const field = (name: string, schema: JsonSchema, isHostile: boolean, depth: number): fc.Arbitrary<unknown> => {
    if (!holdsSecret.test(name)) return nearly(schema, name, isHostile, depth)
    return isHostile ? fc.oneof({ weight: 2, arbitrary: secretText }, { weight: 1, arbitrary: hiddenValue }) : secretText
  }

  const objectOf = (
    { additionalProperties, properties = {}, required = [] }: JsonSchema,
    isHostile: boolean,
    depth: number
  ): fc.Arbitrary<unknown> => {
    const fields = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, field(name, schema, isHostile, depth + 1)]))
    const entries =
      typeof additionalProperties === "object"
        ? fc.dictionary(isHostile ? fc.oneof(plainText, hostileText) : plainText, nearly(additionalProperties, "", isHostile, depth + 1), {
            maxKeys: 3
          })
        : fc.constant({})
    const needed = required.filter((name) => name in fields)
    return fc
      .tuple(
        fc.oneof(fc.record(fields, { requiredKeys: Object.keys(fields) }), fc.record(fields, { requiredKeys: isHostile ? [] : needed })),
        entries
      )
      .map(([named, others]) => ({ ...others, ...named }))
  }

  const document = (schema: JsonSchema): fc.Arbitrary<string> => {
    const valid = fitting(schema, "", false).map((value) => JSON.stringify(value))
    const written = fitting(schema, "", true).map((value) => JSON.stringify(value))
    return fc.oneof(
      { weight: 14, arbitrary: valid },
      { weight: 8, arbitrary: written },
      { weight: 1, arbitrary: fc.tuple(written, prototypes).map(([text, prototype]) => text.replace(/^\{(?=")/, `{${prototype},`)) },
      // Cut off, doubled, with another case of its names, or with a number that no double holds
      { weight: 1, arbitrary: fc.tuple(written, fc.nat(100)).map(([text, at]) => text.slice(0, -1 - (at % Math.max(1, text.length - 1)))) },
      { weight: 1, arbitrary: written.map((text) => text.replaceAll(/"([a-z_]+)":/g, (whole) => whole.toUpperCase())) },
      { weight: 1, arbitrary: written.map((text) => text.replaceAll(/\b\d+\b/g, "123456789012345678901234567890e99")) },
      { weight: 1, arbitrary: written.map((text) => `${text}${text}`) },
      {
        weight: 1,
        arbitrary: fc.constantFrom("", "[", "[".repeat(5_000), '"\\ud800"', "\ufeff{}", "nul", "{}{}", "1e999", '{"a":"\\u0000"}')
      },
      { weight: 1, arbitrary: hostileText }
    )
  }

  const segment = (name: string) =>
    fc.oneof(
      { weight: 14, arbitrary: knownAs(name) },
      { weight: 1, arbitrary: plainText },
      { weight: 1, arbitrary: hostileText.map((text) => text.slice(0, 200) || "-") }
    )

  const query = (parameters: ReadonlyArray<typeof Parameter.Type>): fc.Arbitrary<string> => {
    const one = ({ name, schema }: typeof Parameter.Type) => {
      const value = fc.oneof({ weight: 5, arbitrary: fitting(schema, name, false).map(String) }, { weight: 1, arbitrary: hostileText })
      const values = fc.oneof(
        { weight: 8, arbitrary: fc.array(value, { maxLength: 1 }) },
        { weight: 1, arbitrary: fc.array(value, { maxLength: 3 }) }
      )
      return values.map((all) => all.map((text) => `${name}=${encoded(text)}`))
    }
    return fc
      .tuple(fc.tuple(...parameters.map(one)), fc.constantFrom("", "", "", "", "", "unknown=1", "__proto__=1", "a=%zz", "follow"))
      .map(([given, rest]) => [...given.flat(), ...(rest === "" ? [] : [rest])].join("&"))
  }

  const headers: fc.Arbitrary<Readonly<Record<string, string>>> = fc.oneof(
    { weight: 12, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.record(
        {
          accept: fc.constantFrom("*/*", "text/html", ";;;", "a".repeat(1_000)),
          "content-type": fc.constantFrom(
            "application/json",
            "text/plain",
            "multipart/form-data",
            "application/x-tar",
            "application/zip",
            "x"
          ),
          "if-none-match": fc.constantFrom("*", '"x"', "W/", '"'),
          origin: fc.constantFrom("null", "https://evil.test", "\u00ff"),
          authorization: fc.constantFrom("Bearer", "Basic x", `Bearer ${"x".repeat(100)}`, "bearer aaaaaaaaaa-bbbbbbbbbbbbbbbbbbbbbb"),
          cookie: fc.constantFrom(
            "service_session_token=%zz",
            "csrf_token=%E0%A4%A",
            "=;;",
            "service_session_token=a-b; csrf_token=x",
            "oauth_state=x"
          ),
          "x-forwarded-for": fc.constantFrom("1.2.3.4, ::1", ",,,", "unknown", "999.1.1.1"),
          "x-service-bypass-ratelimit": fc.constantFrom("true", "1"),
          "user-agent": fc.constantFrom("", "\u00e9", "x".repeat(2_000)),
          range: fc.constantFrom("bytes=0-", "bytes=9-1", "x")
        },
        { requiredKeys: [] }
      )
    }
  )

  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody }]) => {
      const schema = Object.values(requestBody?.content ?? {})[0]?.schema
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => name ?? [])
      const operation = `${method.toUpperCase()} ${path}`
      const arbitrary = fc
        .record({
          segments: fc.tuple(...inPath.map(segment)),
          query: query(parameters.filter((parameter) => parameter.in === "query")),
          headers,
          body: schema === undefined ? fc.oneof(fc.constant(undefined), hostileText) : document(schema)
        })
        .map(({ body, headers, query, segments }): FuzzRequest => {
          const filled = inPath.reduce((target, name, index) => target.replace(`{${name}}`, () => encoded(segments[index] ?? "-")), path)
          const hasBody = method !== "get" && method !== "head"
          return {
            operation,
            method: method.toUpperCase(),
            target: query === "" ? filled : `${filled}?${query}`,
            headers,
            body: hasBody ? body : undefined
          }
        })
      return { weight: rare.test(operation) ? 1 : 4, arbitrary }
    })
  )
  return fc.oneof(...operations)
}
