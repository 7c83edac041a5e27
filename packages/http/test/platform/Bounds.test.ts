import * as HttpApi from "@effect/platform/HttpApi"
import { describe, expect, it } from "vitest"
import { namesOf } from "../../src/wire/Brand.js"
import { bodyLimitOf } from "../../src/contract/annotations.js"
import { Contract } from "../../src/contract/Contract.js"
import { describe as describeApi } from "../../src/swagger/describe.js"

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null

/** The places of a schema's arrays and maps that have no bound. */
const unbounded = (
  schemas: Readonly<Record<string, unknown>>,
  schema: unknown,
  path: string,
  seen = new Set<unknown>()
): ReadonlyArray<string> => {
  if (!isRecord(schema) || seen.has(schema)) return []
  const within = new Set(seen).add(schema)
  const { $ref, additionalProperties, items, maxItems, maxProperties, properties = {}, type } = schema
  if (typeof $ref === "string") return unbounded(schemas, schemas[$ref.replace("#/components/schemas/", "")], path, within)
  return [
    ...(type === "array" && maxItems === undefined ? [path] : []),
    ...(isRecord(additionalProperties) && maxProperties === undefined ? [path] : []),
    ...unbounded(schemas, items, `${path}[]`, within),
    ...unbounded(schemas, additionalProperties, `${path}{}`, within),
    ...Object.entries(isRecord(properties) ? properties : {}).flatMap(([name, property]) =>
      unbounded(schemas, property, `${path}.${name}`, within)
    ),
    ...[schema.anyOf, schema.oneOf, schema.allOf].flatMap((members) =>
      Array.isArray(members) ? members.flatMap((member) => unbounded(schemas, member, path, within)) : []
    )
  ]
}

describe("requests", () => {
  it.each(["standard", "reference"] as const)("have a bound for every array and map in the dialect %s", (wire) => {
    const { components, paths } = describeApi(Contract, { names: namesOf(), version: "v1.2.3", wire })
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ at: `${method} ${path}`, operation }))
    )
    expect(operations.filter(({ operation }) => operation.requestBody !== undefined).length).toBeGreaterThan(30)
    const found = operations.flatMap(({ at, operation }) => [
      ...Object.values(operation.requestBody?.content ?? {}).flatMap(({ schema }) => unbounded(components.schemas, schema, at)),
      ...(operation.parameters ?? []).flatMap(({ name, schema }) => unbounded(components.schemas, schema, `${at}?${name}`))
    ])
    expect(found).toEqual([])
  })

  it("have at most 64 KiB at public endpoints", () => {
    const limits: Array<readonly [string, number]> = []
    HttpApi.reflect(Contract, {
      onGroup: () => {},
      onEndpoint: ({ endpoint, middleware }) => {
        if (middleware.size === 0) limits.push([endpoint.name, bodyLimitOf(endpoint.annotations, middleware)])
      }
    })
    expect(limits.length).toBeGreaterThan(5)
    expect(limits.filter(([, limit]) => limit > 64 * 1024)).toEqual([])
  })
})
