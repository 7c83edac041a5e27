import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  acknowledgement,
  apiIn,
  type Dialect,
  dialectal,
  listOfOne,
  NullableUuid,
  ReferenceStatus,
  schemaIn
} from "../../src/wire/dialect.js"
import { Response } from "../../src/wire/errors.js"

const id = Uuid.Uuid.make("018f0000-0000-7000-8000-000000000001")

interface Tree {
  readonly parent: Uuid.Uuid | null
  readonly children: ReadonlyArray<Tree>
}
interface TreeEncoded {
  readonly parent: Schema.Schema.Encoded<typeof NullableUuid>
  readonly children: ReadonlyArray<TreeEncoded>
}
const Tree: Schema.Schema<Tree, TreeEncoded> = Schema.Struct({
  parent: NullableUuid,
  children: Schema.Array(Schema.suspend((): Schema.Schema<Tree, TreeEncoded> => Tree))
})

class Build extends Schema.Class<Build>("Build")({ task_id: NullableUuid, number: Schema.Number }) {}

const encode = <A, I>(wire: Dialect, schema: Schema.Schema<A, I>, value: A): unknown => Schema.encodeSync(schemaIn(wire, schema))(value)
const decode = <A, I>(wire: Dialect, schema: Schema.Schema<A, I>, value: unknown): A =>
  Schema.decodeUnknownSync(schemaIn(wire, schema))(value)

describe("a nullable UUID", () => {
  it("is an object in the standard dialect and plain in the reference", () => {
    expect(encode("standard", NullableUuid, id)).toEqual({ uuid: id, valid: true })
    expect(encode("standard", NullableUuid, null)).toEqual({ uuid: Uuid.nil, valid: false })
    expect(encode("reference", NullableUuid, id)).toBe(id)
    expect(encode("reference", NullableUuid, null)).toBe(null)
  })

  it("comes back from both", () => {
    fc.assert(
      fc.property(fc.option(fc.uuid()), fc.constantFrom<Dialect>("standard", "reference"), (value, wire) => {
        const uuid = value === null ? null : Uuid.Uuid.make(value)
        expect(decode(wire, NullableUuid, encode(wire, NullableUuid, uuid))).toBe(uuid)
      })
    )
  })
})

describe("a dialectal value", () => {
  it.each([
    ["in a struct", Schema.Struct({ a: NullableUuid }), { a: null }, { a: null }],
    ["in an optional field", Schema.Struct({ a: Schema.optional(NullableUuid) }), { a: null }, { a: null }],
    ["in a list", Schema.Array(NullableUuid), [null], [null]],
    ["in a tuple", Schema.Tuple(Schema.String, NullableUuid), ["a", null], ["a", null]],
    ["in a map", Schema.Record({ key: Schema.String, value: NullableUuid }), { k: null }, { k: null }],
    ["in a union", Schema.Union(Schema.Number, Schema.Struct({ a: NullableUuid })), { a: null }, { a: null }],
    ["behind a rule", Schema.Struct({ a: NullableUuid }).pipe(Schema.filter(() => true)), { a: null }, { a: null }],
    [
      "in itself",
      Tree,
      { parent: null, children: [{ parent: id, children: [] }] },
      { parent: null, children: [{ parent: id, children: [] }] }
    ]
  ] as ReadonlyArray<readonly [string, Schema.Schema<unknown, unknown>, unknown, unknown]>)(
    "is found %s",
    (_where, schema, value, reference) => {
      expect(encode("reference", schema, value)).toEqual(reference)
      expect(encode("standard", schema, value)).not.toEqual(reference)
    }
  )

  it("is found in a class", () => {
    expect(encode("reference", Build, new Build({ task_id: null, number: 1 }))).toEqual({ task_id: null, number: 1 })
  })

  it("may hold another one", () => {
    const Wrapped = listOfOne(Schema.Struct({ id: NullableUuid }))
    expect(encode("standard", Wrapped, { id: null })).toEqual([{ id: { uuid: Uuid.nil, valid: false } }])
    expect(encode("reference", Wrapped, { id: null })).toEqual({ id: null })
  })

  it("leaves schemas with one form unchanged", () => {
    const plain = Schema.Struct({ a: Schema.Array(Schema.String), b: Schema.optional(Schema.Date) })
    expect(schemaIn("reference", plain).ast).toBe(plain.ast)
    expect(schemaIn("standard", NullableUuid)).toBe(NullableUuid)
  })
})

describe("an API in a dialect", () => {
  const Casing = dialectal({ standard: Schema.Struct({ p50: Schema.Number }), reference: Schema.Struct({ p50: Schema.Number }) })
  const group = HttpApiGroup.make("agents")
    .add(HttpApiEndpoint.post("logSource", "/log-source").annotate(ReferenceStatus, 201).addSuccess(Casing))
    .add(HttpApiEndpoint.patch("logs", "/logs").addSuccess(acknowledgement(Response, { message: "ok" })))
    .add(HttpApiEndpoint.get("created", "/created").addSuccess(NullableUuid, { status: 201 }))
  class Api extends HttpApi.make("api").add(group) {}

  const successOf = (wire: Dialect, wanted: string): Schema.Schema<unknown, unknown> => {
    let success: Schema.Schema<unknown, unknown> = Schema.Unknown
    HttpApi.reflect(apiIn(wire, Api), {
      onGroup: () => {},
      onEndpoint: ({ endpoint: { name, successSchema } }) => {
        if (name === wanted) success = Schema.make(successSchema.ast)
      }
    })
    return success
  }

  it("has that dialect's statuses", () => {
    const statusOf = (wire: Dialect, name: string) => HttpApiSchema.getStatusSuccess(successOf(wire, name))
    expect([statusOf("standard", "logSource"), statusOf("reference", "logSource")]).toEqual([200, 201])
    expect([statusOf("standard", "created"), statusOf("reference", "created")]).toEqual([201, 201])
  })

  it("acknowledges in that dialect's way", () => {
    expect(Schema.encodeSync(successOf("standard", "logs"))({ message: "ok" })).toEqual({ message: "ok" })
    expect(Schema.encodeSync(successOf("reference", "logs"))({ message: "ok" })).toBe(null)
  })

  it("has endpoints that servers of one process share", () => {
    const endpoints = () => Object.values(apiIn("reference", Api).groups).flatMap(({ endpoints }) => Object.values(endpoints))
    const again = endpoints()
    for (const [index, endpoint] of endpoints().entries()) expect(endpoint).toBe(again[index])
    expect(again).toHaveLength(3)
  })

  it("is the contract itself in the standard dialect", () => expect(apiIn("standard", Api)).toBe(Api))
})
