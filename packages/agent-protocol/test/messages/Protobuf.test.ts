import { describe, expect, it } from "@effect/vitest"
import { create, createFileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf"
import {
  BoolValueSchema,
  DurationSchema,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  FloatValueSchema,
  StructSchema,
  TimestampSchema
} from "@bufbuild/protobuf/wkt"
import { Either } from "effect"
import * as fc from "fast-check"
import {
  AgentMessages,
  BoolValue,
  Duration,
  FloatValue,
  Protobuf,
  Struct,
  TailnetMessages,
  Timestamp,
  type JsonObject
} from "@atelier/agent-protocol"

const { bool, bytes, double, enumeration, field, int32, int53, int64, map, message, oneof, optional, repeated, string, uint32, uint64 } =
  Protobuf

const declared = [...Object.values(AgentMessages), ...Object.values(TailnetMessages), Struct, BoolValue, FloatValue].filter(
  (value) => value._tag === "Message"
)

/** Bytes that look like a message: known numbers, all wire types, contents of any kind, nested. */
const likely: fc.Arbitrary<ReadonlyArray<number>> = fc.letrec<{ message: ReadonlyArray<number>; field: ReadonlyArray<number> }>((tie) => {
  const tag = (wire: number) => fc.integer({ min: 1, max: 20 }).map((number) => varint((number << 3) | wire))
  const delimited = (content: ReadonlyArray<number>) => [...varint(content.length), ...content]
  return {
    field: fc.oneof(
      fc.tuple(tag(0), fc.oneof(fc.nat(20), fc.maxSafeNat())).map(([head, value]) => [...head, ...varint(value)]),
      fc.tuple(tag(2), fc.string()).map(([head, text]) => [...head, ...delimited([...new TextEncoder().encode(text)])]),
      fc.tuple(tag(2), tie("message")).map(([head, content]) => [...head, ...delimited(content)]),
      fc.tuple(tag(1), fc.uint8Array({ minLength: 8, maxLength: 8 })).map(([head, content]) => [...head, ...content]),
      fc.tuple(tag(5), fc.uint8Array({ minLength: 4, maxLength: 4 })).map(([head, content]) => [...head, ...content])
    ),
    message: fc.array(tie("field"), { maxLength: 8 }).map((fields) => fields.flat())
  }
}).message

const varint = (value: number): ReadonlyArray<number> =>
  value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...varint(Math.floor(value / 0x80))]

const encode = <A, I>(type: Protobuf.Message<A, I>, value: I) => Either.getOrThrow(type.encode(value))
const decode = <A, I>(type: Protobuf.Message<A, I>, input: Uint8Array) => Either.getOrThrow(type.decode(input))

const Inner = message("test.Inner", { number: field(1, int32), text: field(2, string) })
const Outer = message("test.Outer", {
  flag: field(1, bool),
  text: field(2, string),
  data: field(3, bytes),
  small: field(4, int32),
  unsigned: field(5, uint32),
  count: field(6, int53),
  large: field(7, int64),
  unsigned_large: field(8, uint64),
  ratio: field(9, double),
  color: field(10, enumeration({ RED: 0, GREEN: 1, BLUE: 2 })),
  inner: field(11, Inner),
  maybe: optional(12, int32),
  texts: repeated(13, string),
  numbers: repeated(14, int32),
  inners: repeated(15, Inner),
  by_name: map(16, string, int53),
  by_number: map(17, int53, Inner),
  choice: oneof({ a_text: [18, string], an_inner: [19, Inner] })
})

const zero = {
  flag: false,
  text: "",
  data: new Uint8Array(0),
  small: 0,
  unsigned: 0,
  count: 0,
  large: 0n,
  unsigned_large: 0n,
  ratio: 0,
  color: "RED",
  texts: [],
  numbers: [],
  inners: [],
  by_name: new Map(),
  by_number: new Map()
}

const int32s = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const safe = fc.maxSafeInteger()
const inner = fc.tuple(int32s, fc.string()).map(([number, text]) => ({ number, text }))

const outer = fc.record(
  {
    flag: fc.boolean(),
    text: fc.string({ unit: "grapheme" }),
    data: fc.uint8Array(),
    small: int32s,
    unsigned: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    count: safe,
    large: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    unsigned_large: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    ratio: fc.double(),
    color: fc.constantFrom(...(["RED", "GREEN", "BLUE", 7] as const)),
    inner,
    maybe: fc.constantFrom(0, 1, -1),
    texts: fc.array(fc.string()),
    numbers: fc.array(int32s),
    inners: fc.array(inner),
    by_name: fc.array(fc.tuple(fc.string(), safe)).map((entries) => new Map(entries)),
    by_number: fc.array(fc.tuple(safe, inner)).map((entries) => new Map(entries)),
    choice: fc.oneof(
      fc.string().map((value) => ({ case: "a_text", value }) as const),
      inner.map((value) => ({ case: "an_inner", value }) as const)
    )
  },
  { requiredKeys: [], noNullPrototype: true }
)

describe("a message", () => {
  it("decodes to its input, with zero values for absent fields", () => {
    fc.assert(
      fc.property(outer, (value) => {
        expect(decode(Outer, encode(Outer, value))).toStrictEqual({ ...zero, ...value })
      })
    )
  })

  it("is empty bytes when nothing is set, or only zero values without explicit presence", () => {
    expect(encode(Outer, {})).toStrictEqual(new Uint8Array(0))
    expect(encode(Outer, { ...zero, color: 0 })).toStrictEqual(new Uint8Array(0))
    expect(encode(Outer, { maybe: 0 })).toStrictEqual(new Uint8Array([0x60, 0]))
    expect(decode(Outer, new Uint8Array(0))).toStrictEqual(zero)
  })

  it("skips unknown fields, and known ones of another wire type", () => {
    const unknown = [0xfa, 0x01, 1, 9, /* field 31 */ 0x0a, 1, 5 /* field 1 as bytes */]
    expect(decode(Inner, Uint8Array.from([0x12, 1, 0x61, ...unknown]))).toStrictEqual({ number: 0, text: "a" })
  })

  it("sent in parts is merged: scalars are replaced, lists appended, messages merged", () => {
    const parts = [
      encode(Outer, { text: "a", texts: ["a"], inner: { number: 1, text: "a" }, by_name: new Map([["a", 1]]) }),
      encode(Outer, { text: "b", texts: ["b"], inner: { text: "b" }, by_name: new Map([["a", 2]]) })
    ]
    expect(decode(Outer, Uint8Array.from(parts.flatMap((part) => [...part])))).toStrictEqual({
      ...zero,
      text: "b",
      texts: ["a", "b"],
      inner: { number: 1, text: "b" },
      by_name: new Map([["a", 2]])
    })
  })

  it("reads numbers of a list packed or one by one", () => {
    expect(decode(Outer, new Uint8Array([0x72, 2, 1, 2, 0x70, 3])).numbers).toStrictEqual([1, 2, 3])
  })

  it("keeps a map key `__proto__` a key", () => {
    const value = { by_name: new Map([["__proto__", 1]]) }
    expect([...decode(Outer, encode(Outer, value)).by_name]).toStrictEqual([["__proto__", 1]])
  })

  const refused: Record<string, { readonly input: ReadonlyArray<number>; readonly why: string }> = {
    "is cut off": { input: [0x12, 5, 0x61], why: "a field is longer than its message|premature EOF" },
    "has a nested message longer than itself": { input: [0x5a, 9, 8, 1], why: "a field is longer than its message" },
    "has a number beyond the end of its nested message": { input: [0x5a, 2, 8, 0x80, 1], why: "runs past the end" },
    "has text that is not UTF-8": { input: [0x12, 1, 0xff], why: "" },
    "has a count beyond 2^53": { input: [0x30, ...Array.from({ length: 7 }, () => 0xff), 0x7f], why: "is beyond" },
    "has the field number 0": { input: [0x00, 1], why: "illegal tag" }
  }
  for (const [name, { input, why }] of Object.entries(refused))
    it(`is refused when it ${name}`, () => {
      const error = Either.getOrThrow(Either.flip(Outer.decode(Uint8Array.from(input))))
      expect(error).toMatchObject({ _tag: "ProtobufError", operation: "decode", type: "test.Outer" })
      expect(error.message).toMatch(new RegExp(why))
    })

  it("is refused when it is too long, has too many elements or nests too deep", () => {
    expect(Either.isLeft(Outer.decode(new Uint8Array(Protobuf.maximumMessageBytes + 1)))).toBe(true)
    const elements = Uint8Array.from(Array.from({ length: Protobuf.maximumElements + 1 }, () => [0x7a, 0]).flat())
    expect(Either.isLeft(Outer.decode(elements))).toBe(true)
    expect(decode(Outer, elements.subarray(2)).inners).toHaveLength(Protobuf.maximumElements)
    const nested = (depth: number): JsonObject => (depth === 0 ? {} : { inner: nested(depth - 1) })
    const message = encode(Struct, nested(40))
    expect(Either.isLeft(Struct.decode(message))).toBe(true)
    expect(decode(Struct, encode(Struct, nested(30)))).toStrictEqual(nested(30))
  })

  it("is refused when a value does not fit its field", () => {
    const refusal = Either.flip(Outer.encode({ small: 2 ** 31 }))
    expect(Either.getOrThrow(refusal)).toMatchObject({ _tag: "ProtobufError", operation: "encode", type: "test.Outer" })
    expect(Either.isLeft(Outer.encode({ unsigned: -1 }))).toBe(true)
    expect(Either.isLeft(Outer.encode({ large: 2n ** 63n }))).toBe(true)
  })
})

describe("every declared message", () => {
  it("has its own name", () => {
    expect(declared.length).toBeGreaterThan(90)
    expect(new Set(declared.map(({ name }) => name)).size).toBe(declared.length)
  })

  it("survives any bytes, and round-trips every value it decodes", () => {
    const input = fc.oneof(
      likely.map((content) => Uint8Array.from(content)),
      fc.uint8Array({ maxLength: 60 })
    )
    fc.assert(
      fc.property(fc.constantFrom(...declared), input, (type, content) => {
        const first = type.decode(content)
        if (Either.isRight(first)) expect(decode(type, encode(type, first.right))).toStrictEqual(first.right)
      }),
      { numRuns: 1500 }
    )
  })
})

describe("another implementation", () => {
  const { INT32, INT64, UINT32, UINT64, STRING, BYTES, BOOL, DOUBLE, ENUM, MESSAGE } = FieldDescriptorProto_Type
  const { OPTIONAL, REPEATED } = FieldDescriptorProto_Label
  const plain = (name: string, number: number, type: FieldDescriptorProto_Type, typeName = "") => ({
    name,
    jsonName: name,
    number,
    type,
    typeName,
    label: OPTIONAL
  })
  const list = (name: string, number: number, type: FieldDescriptorProto_Type, typeName = "") => ({
    ...plain(name, number, type, typeName),
    label: REPEATED
  })
  const entry = (name: string, key: FieldDescriptorProto_Type, type: FieldDescriptorProto_Type, typeName = "") => ({
    name,
    field: [plain("key", 1, key), plain("value", 2, type, typeName)],
    options: { mapEntry: true }
  })
  const file = create(FileDescriptorProtoSchema, {
    name: "test.proto",
    package: "test",
    syntax: "proto3",
    enumType: [{ name: "Color", value: ["RED", "GREEN", "BLUE"].map((name, number) => ({ name, number })) }],
    messageType: [
      { name: "Inner", field: [plain("number", 1, INT32), plain("text", 2, STRING)] },
      {
        name: "Outer",
        nestedType: [entry("ByNameEntry", STRING, INT64), entry("ByNumberEntry", INT64, MESSAGE, ".test.Inner")],
        oneofDecl: [{ name: "choice" }, { name: "_maybe" }],
        field: [
          plain("flag", 1, BOOL),
          plain("text", 2, STRING),
          plain("data", 3, BYTES),
          plain("small", 4, INT32),
          plain("unsigned", 5, UINT32),
          plain("count", 6, INT64),
          plain("large", 7, INT64),
          plain("unsigned_large", 8, UINT64),
          plain("ratio", 9, DOUBLE),
          plain("color", 10, ENUM, ".test.Color"),
          plain("inner", 11, MESSAGE, ".test.Inner"),
          { ...plain("maybe", 12, INT32), proto3Optional: true, oneofIndex: 1 },
          list("texts", 13, STRING),
          list("numbers", 14, INT32),
          list("inners", 15, MESSAGE, ".test.Inner"),
          list("by_name", 16, MESSAGE, ".test.Outer.ByNameEntry"),
          list("by_number", 17, MESSAGE, ".test.Outer.ByNumberEntry"),
          { ...plain("a_text", 18, STRING), oneofIndex: 0 },
          { ...plain("an_inner", 19, MESSAGE, ".test.Inner"), oneofIndex: 0 }
        ]
      }
    ]
  })
  const theirs = createFileRegistry(create(FileDescriptorSetSchema, { file: [file] })).getMessage("test.Outer")

  it("exchanges messages with another implementation in both directions", () => {
    if (theirs === undefined) return expect.unreachable()
    fc.assert(
      fc.property(outer, (value) => {
        const reencoded = toBinary(theirs, fromBinary(theirs, encode(Outer, value)))
        expect(decode(Outer, reencoded)).toStrictEqual({ ...zero, ...value })
      })
    )
  })

  it("agrees on the well-known types", () => {
    const time = { seconds: -62_135_596_800, nanos: 5 }
    expect(encode(Timestamp.Timestamp, time)).toStrictEqual(
      toBinary(TimestampSchema, create(TimestampSchema, { seconds: BigInt(time.seconds), nanos: 5 }))
    )
    expect(encode(Duration.Duration, { seconds: -3, nanos: -10 })).toStrictEqual(
      toBinary(DurationSchema, create(DurationSchema, { seconds: -3n, nanos: -10 }))
    )
    expect(encode(BoolValue, true)).toStrictEqual(toBinary(BoolValueSchema, create(BoolValueSchema, { value: true })))
    expect(encode(FloatValue, 1.5)).toStrictEqual(toBinary(FloatValueSchema, create(FloatValueSchema, { value: 1.5 })))
  })

  it("agrees on any JSON object", () => {
    const json = fc
      .dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true })
      .map((object): JsonObject => JSON.parse(JSON.stringify(object)))
    fc.assert(
      fc.property(json, (object) => {
        const reencoded = toBinary(StructSchema, fromBinary(StructSchema, encode(Struct, object)))
        expect(decode(Struct, reencoded)).toStrictEqual(object)
      })
    )
  })
})

describe("times", () => {
  it("keep milliseconds and their fractions", () => {
    expect(Timestamp.fromMillis(1_700_000_000_123.5)).toStrictEqual({ seconds: 1_700_000_000, nanos: 123_500_000 })
    expect(Timestamp.fromMillis(-1)).toStrictEqual({ seconds: -1, nanos: 999_000_000 })
    fc.assert(
      fc.property(fc.integer({ min: -(10 ** 14), max: 10 ** 14 }), (millis) => {
        expect(Timestamp.toMillis(Timestamp.fromMillis(millis))).toBe(millis)
        expect(Duration.toMillis(Duration.fromMillis(millis))).toBe(millis)
      })
    )
  })

  it("of ten seconds and of ten nanoseconds are told apart", () => {
    expect(Duration.fromMillis(10_000)).toStrictEqual({ seconds: 10, nanos: 0 })
    expect(Duration.toMillis({ seconds: 0, nanos: 10 })).toBe(0.000_01)
  })
})
