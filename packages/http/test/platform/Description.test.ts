import { describe as suite, expect, it } from "vitest"
import { checkAnswer, describedIn, validator } from "../../../../test/description/description.js"

const described = describedIn("standard")
const text = JSON.stringify(described)
const operations = Object.entries(described.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ operation: `${method.toUpperCase()} ${path}`, ...operation }))
)

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** Every schema within a schema, references resolved, with the path to it. */
const schemasIn = function* (schema: unknown, path: string, seen: ReadonlySet<unknown> = new Set()): Generator<readonly [string, Json]> {
  if (!isObject(schema) || seen.has(schema)) return
  const visited = new Set([...seen, schema])
  yield [path, schema]
  const name = typeof schema["$ref"] === "string" ? (schema["$ref"].split("/").at(-1) ?? "") : undefined
  if (name !== undefined) yield* schemasIn(described.components.schemas[name], path, visited)
  if (isObject(schema["properties"])) {
    for (const [field, inner] of Object.entries(schema["properties"])) yield* schemasIn(inner, `${path}.${field}`, visited)
  }
  for (const keyword of ["items", "additionalProperties"]) yield* schemasIn(schema[keyword], `${path}[]`, visited)
  for (const keyword of ["anyOf", "allOf", "prefixItems"]) {
    for (const inner of Array.isArray(schema[keyword]) ? schema[keyword] : []) yield* schemasIn(inner, path, visited)
  }
}

const requestSchemas = operations.flatMap(({ operation, parameters, requestBody }) => [
  ...parameters.flatMap(({ name, schema }) => [...schemasIn(schema, `${operation} ?${name}`)]),
  ...Object.entries(requestBody?.content ?? {})
    .filter(([type]) => type.endsWith("json"))
    .flatMap(([, { schema }]) => [...schemasIn(schema, operation)])
])

const answerSchemas = operations.flatMap(({ operation, responses }) =>
  Object.values(responses).flatMap(({ content = {} }) => Object.values(content).flatMap(({ schema }) => [...schemasIn(schema, operation)]))
)

const isBoundedText = (schema: Json): boolean => ["enum", "format", "maxLength", "pattern"].some((keyword) => keyword in schema)

suite("the description of the whole interface", () => {
  it("describes each operation", () => {
    const silent = operations.filter(({ description, summary }) => !summary || !description?.endsWith("."))
    expect(silent.map(({ operation }) => operation)).toEqual([])
  })

  it("says the meaning of each success", () => {
    const silent = operations.flatMap(({ operation, responses }) =>
      Object.entries<{ readonly description?: string; readonly $ref?: string }>(responses)
        .filter(([, { $ref, description }]) => $ref === undefined && !description)
        .map(([status]) => `${operation} ${status}`)
    )
    expect(silent).toEqual([])
  })

  it("gives each operation a summary of its own", () => {
    const summaries = operations.map(({ summary }) => summary)
    expect(summaries.filter((summary, index) => summaries.indexOf(summary) !== index)).toEqual([])
  })

  it("describes each group of operations", () => {
    expect(described.tags.filter(({ description }) => !description)).toEqual([])
  })

  it("describes the refusal of a URL or head that is too long for each operation", () => {
    expect(operations.filter(({ responses }) => !("414" in responses && "431" in responses))).toEqual([])
  })

  it("describes that a path of too long texts is no route", () => {
    const silent = operations.filter(({ operation, responses }) => operation.includes("{") && !("404" in responses))
    expect(silent.map(({ operation }) => operation)).toEqual([])
  })

  it("calls texts that a service refuses as empty at least one character long", () => {
    const { schema } = described.paths["/api/v2/organizations"]?.["post"]?.requestBody?.content["application/json"] ?? {}
    expect([...schemasIn(schema, "")]).toContainEqual(["", expect.objectContaining({ required: ["name"] })])
    expect([...schemasIn(schema, "")]).toContainEqual([".name", expect.objectContaining({ minLength: 1 })])
  })

  it.each(["standard", "reference"] as const)("is valid JSON Schema 2020-12 in the dialect of the %s", (wire) => {
    const { components } = describedIn(wire)
    const ajv = validator(true)
    ajv.addVocabulary(["components"])
    ajv.addSchema({ $id: "description", components })
    for (const name of Object.keys(components.schemas)) {
      expect(ajv.validateSchema(components.schemas[name] ?? {})).toBe(true)
      expect(() => ajv.compile({ $ref: `description#/components/schemas/${name}` })).not.toThrow()
    }
  })

  it("names schemas so that they differ by more than case", () => {
    const names = Object.keys(described.components.schemas).map((name) => name.toLowerCase())
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
    expect(names).not.toContain("response")
  })

  it("names no schema as generators name a field's own object", () => {
    const names = new Set(Object.keys(described.components.schemas).map((name) => name.toLowerCase()))
    const taken = Object.entries(described.components.schemas).flatMap(([name, { properties }]) =>
      Object.entries(isObject(properties) ? properties : {}).flatMap(([field, schema]) => {
        const generated = `${name}${field.replaceAll(/[^a-z0-9]/gi, "")}`
        return isObject(schema) && "properties" in schema && names.has(generated.toLowerCase()) ? [generated] : []
      })
    )
    expect(taken).toEqual([])
  })

  it("holds no text and no identifier of the library that makes it", () => {
    expect(text.match(/an instance of|side"|<redacted>|HttpApi|"\$id"|"\$comment"|"a (?:string|number|boolean)"|"an integer"/gi)).toBeNull()
  })

  it("bounds each text and each number of a request", () => {
    const unbounded = requestSchemas.filter(
      ([, schema]) =>
        (schema["type"] === "string" && !isBoundedText(schema)) ||
        ((schema["type"] === "integer" || schema["type"] === "number") &&
          !("enum" in schema || ("minimum" in schema && "maximum" in schema)))
    )
    expect(unbounded.map(([path]) => path)).toEqual([])
  })

  it("bounds each number of an answer", () => {
    const unbounded = answerSchemas.filter(
      ([, schema]) =>
        (schema["type"] === "number" && !("minimum" in schema)) ||
        (schema["type"] === "integer" && !("minimum" in schema && "maximum" in schema))
    )
    expect([...new Set(unbounded.map(([path]) => path))]).toEqual([])
  })

  it("lets requests have fields that it does not name, as the service does", () => {
    expect(requestSchemas.filter(([, schema]) => schema["additionalProperties"] === false)).toEqual([])
  })

  it("names each refusal", () => {
    const unnamed = operations.flatMap(({ operation, responses }) =>
      Object.entries(responses)
        // A proxy relays pages, which have no name
        .filter(([, { content }]) => content?.["text/html"] === undefined)
        .filter(([status, { $ref }]) => Number(status) >= 400 && !$ref?.startsWith("#/components/responses/"))
        .map(([status]) => `${operation} ${status}`)
    )
    expect(unnamed).toEqual([])
  })

  it("tells tokens of users and of agents apart", () => {
    const { paths } = described
    expect(paths["/api/v2/users"]?.["get"]?.security).toEqual([{ session: [] }])
    expect(paths["/api/v2/workspaceagents/me/rpc"]?.["get"]?.security).toEqual([{ agent: [] }])
    expect(paths["/scim/v2/Users"]?.["get"]?.security).toEqual([{ scim: [] }])
    expect(paths["/api/v2/buildinfo"]?.["get"]?.security).toEqual([])
  })

  it("names the media types of archives, logs and state", () => {
    const typesOf = (path: string, method: string) => {
      const operation = described.paths[path]?.[method]
      return [Object.keys(operation?.requestBody?.content ?? {}), Object.keys(operation?.responses["200"]?.content ?? {})]
    }
    const archives = ["application/x-tar", "application/zip"]
    expect(typesOf("/api/v2/files", "post")).toEqual([[...archives, "application/x-zip-compressed"], ["application/json"]])
    expect(typesOf("/api/v2/files/{fileID}", "get")).toEqual([[], archives])
    expect(typesOf("/api/v2/workspacebuilds/{workspacebuild}/logs", "get")).toEqual([[], ["application/json", "text/plain"]])
    expect(typesOf("/api/v2/workspacebuilds/{workspacebuild}/state", "get")).toEqual([[], ["application/json"]])
  })
})

suite("the check of answers", () => {
  const answer = { method: "GET", path: "/api/v2/workspace-quota/me", status: 200, contentType: "application/json", text: "" }
  const check = (changes: Partial<typeof answer>) => () => checkAnswer("standard", { ...answer, ...changes })

  it("accepts an answer as described", () => {
    expect(check({ text: '{"budget":1,"credits_consumed":0}' })).not.toThrow()
  })

  it.each([
    ["lacks a field", { text: '{"budget":1}' }],
    ["has another field", { text: '{"budget":1,"credits_consumed":0,"more":1}' }],
    ["has a field of another type", { text: '{"budget":"1","credits_consumed":0}' }],
    ["has another content type", { text: "1", contentType: "text/plain" }],
    ["has a status that is not described", { status: 418 }],
    ["refuses with another body", { status: 404, text: '{"error":"x"}' }]
  ])("rejects an answer that %s", (_, changes) => {
    expect(check(changes)).toThrow("not as described")
  })
})
