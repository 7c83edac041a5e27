import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import { expect } from "vitest"
import { BodyLimit } from "../../../src/contract/annotations.js"
import { refusals, Response } from "../../../src/wire/errors.js"
import * as Handlers from "../../../src/handlers/Handlers.js"
import { acceptNul, Body, boundedMap, flag, list, required, text } from "../../../src/wire/input.js"
import { request, serve } from "../../TestServer.js"

const Received = Schema.Struct({
  name: Schema.String,
  note: Schema.String,
  count: Schema.optional(Schema.Number),
  hidden: Schema.Boolean,
  kind: Schema.optional(Schema.String),
  template_id: Schema.optional(Schema.String),
  deadline: Schema.optional(Schema.String),
  tags: Schema.Array(Schema.String),
  nested: Schema.optional(Schema.Struct({ inner: Schema.String })),
  labels: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String }))
})

const things = HttpApiGroup.make("things")
  .add(
    HttpApiEndpoint.post("create", "/api/v2/things")
      .setPayload(
        Body({
          name: required(Schema.String),
          note: text,
          count: Schema.optional(Schema.Int.pipe(Schema.between(0, 10, { message: () => "must be between 0 and 10" }))),
          hidden: flag,
          kind: Schema.optional(Schema.Literal("small", "large")),
          template_id: Schema.optional(Uuid.Uuid),
          deadline: Schema.optional(Timestamp.TimestampFromInput),
          tags: list(Schema.String),
          nested: Schema.optional(Schema.Struct({ inner: required(Schema.String) })),
          labels: Schema.optional(boundedMap(Schema.String, 3)),
          rules: list(Body({ a: required(Schema.String), b: required(Schema.String) })),
          steps: list(Schema.Int, 2000)
        })
      )
      .addSuccess(Received, { status: 201 })
      .annotate(BodyLimit, 4 * 1024 * 1024)
  )
  .add(
    HttpApiEndpoint.post("log", "/api/v2/log")
      .setPayload(acceptNul(Body({ line: text })))
      .addSuccess(Schema.Struct({ line: Schema.String }))
  )
  .add(
    HttpApiEndpoint.post("tiny", "/api/v2/tiny")
      .setPayload(Body({ line: text }))
      .addSuccess(Schema.Struct({ line: Schema.String }))
      .annotate(BodyLimit, 100)
  )

class Api extends HttpApi.make("bodies")
  .add(things)
  .addError(refusals("Invalid", "TooLarge", "RequestTimeout", "TooManyRequests", "InternalError")) {}

const handlers = Handlers.group(things, (handlers) =>
  handlers
    .handle("create", ({ payload }) => Effect.succeed(payload))
    .handle("log", ({ payload }) => Effect.succeed(payload))
    .handle("tiny", ({ payload }) => Effect.succeed(payload))
)

const server = serve(Api, handlers, { rateLimit: { api: 0, disableAll: true } })
const post = (body: string, path = "/api/v2/things") => Effect.flatMap(server, ({ url }) => request(url + path, { method: "POST", body }))

const zero = "00000000-0000-0000-0000-000000000000"

describe("what a body may be", () => {
  it.scopedLive("fields that are not given have their empty value", () =>
    Effect.gen(function* () {
      const { json, status } = yield* post('{"name":"a"}')
      expect([status, json()]).toEqual([201, { name: "a", note: "", hidden: false, tags: [] }])
    })
  )

  it.scopedLive("names match whatever their case, null is absent, unknown fields are ignored", () =>
    Effect.gen(function* () {
      const { json } = yield* post('{"NaMe":"a","NOTE":null,"hidden":null,"tags":null,"unknown":{"name":"x"},"nested":{"INNER":"i"}}')
      expect(json()).toEqual({ name: "a", note: "", hidden: false, tags: [], nested: { inner: "i" } })
    })
  )

  it.scopedLive("a field given twice has its last value", () =>
    Effect.gen(function* () {
      const { json } = yield* post('{"name":"a","Name":"b"}')
      expect(json()).toMatchObject({ name: "b" })
    })
  )

  it.scopedLive("what follows the first value is ignored, and so is the content type", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const first = yield* request(`${url}/api/v2/things`, {
        method: "POST",
        body: '  {"name":"a}"}{"name":"b"} x',
        headers: { "content-type": "image/png" }
      })
      expect([first.status, first.json()]).toMatchObject([201, { name: "a}" }])
    })
  )

  it.scopedLive("the all-zero UUID is absent", () =>
    Effect.gen(function* () {
      const { json } = yield* post(`{"name":"a","template_id":"${zero}"}`)
      expect(json()).not.toHaveProperty("template_id")
    })
  )

  it.scopedLive("ids and times come in their canonical form", () =>
    Effect.gen(function* () {
      const { json } = yield* post(
        '{"name":"a","template_id":"018F0000-0000-7000-8000-00000000000A","deadline":"2024-02-03T04:05:06+01:00"}'
      )
      expect(json()).toMatchObject({ template_id: "018f0000-0000-7000-8000-00000000000a", deadline: "2024-02-03T03:05:06.000Z" })
    })
  )

  it.scopedLive("keys of maps are kept as they are, whatever they are called", () =>
    Effect.gen(function* () {
      const { json } = yield* post('{"name":"a","labels":{"Env":"x","constructor":"y","toString":"z"}}')
      expect(json()).toMatchObject({ labels: { Env: "x", constructor: "y", toString: "z" } })
    })
  )

  it.scopedLive("a prototype cannot be smuggled in", () =>
    Effect.gen(function* () {
      const { status, text } = yield* post('{"name":"a","__proto__":{"hidden":true},"constructor":{"prototype":{"hidden":true}}}')
      expect([status, JSON.parse(text)]).toMatchObject([201, { hidden: false }])
      expect({}).not.toHaveProperty("hidden")
    })
  )
})

describe("what a body may not be", () => {
  it.scopedLive.each([
    ["nothing", ""],
    ["white space", "  \n"],
    ["half a document", '{"name":'],
    ["a word", "hello"],
    ["two documents in one", '{"name":"a",,}']
  ])("%s is unreadable: no validations, the cause in the detail", ([, body = ""]) =>
    Effect.gen(function* () {
      const { json, status } = yield* post(body)
      expect(status).toBe(400)
      expect(json()).toEqual({ message: "Request body must be valid JSON.", detail: expect.stringMatching(/./) })
    })
  )

  it.scopedLive.each([
    ["another type of document", "[]", "must be an object"],
    ["a number for a text", '{"name":1}', "name"],
    ["a text for a number", '{"name":"a","count":"1"}', "count"],
    ["half a number", '{"name":"a","count":1.5}', "count"],
    ["a text for a switch", '{"name":"a","hidden":"true"}', "hidden"],
    ["a text for a list", '{"name":"a","tags":"x"}', "tags"],
    ["a number in a list of texts", '{"name":"a","tags":[1]}', "tags[0]"],
    ["no UUID", '{"name":"a","template_id":"x"}', "template_id"],
    ["no time", '{"name":"a","deadline":"yesterday"}', "deadline"],
    ["a number for one of a few words", '{"name":"a","kind":1}', "kind"]
  ])("%s is refused with the name of its field, without validations", ([, body = "", named = ""]) =>
    Effect.gen(function* () {
      const { json, status } = yield* post(body)
      expect(status).toBe(400)
      const place = named.startsWith("must") ? "" : `field "${named.replaceAll(/[[\]]/g, "\\$&")}" `
      expect(json()).toEqual({ message: expect.stringMatching(`^Request body ${place}must`), detail: expect.stringContaining(named) })
    })
  )

  it.scopedLive("every broken rule is named with its field, once", () =>
    Effect.gen(function* () {
      const { json, status } = yield* post('{"name":"","count":11,"kind":"huge","nested":{}}')
      expect(status).toBe(400)
      expect(json()).toEqual({
        message: "Validation failed.",
        validations: [
          { field: "name", detail: "is required" },
          { field: "count", detail: "must be between 0 and 10" },
          { field: "kind", detail: 'must be one of "small", "large"' },
          { field: "nested.inner", detail: "is required" }
        ]
      })
    })
  )

  it.scopedLive.each([
    ["of another type", '[{"password":"hunter2"}]'],
    ["of a field of another type", '{"name":["hunter2"]}'],
    ["of a switch", '{"name":"a","hidden":"hunter2"}'],
    ["of a word", '{"name":"a","kind":"hunter2"}'],
    ["of an id", '{"name":"a","template_id":"hunter2"}'],
    ["of a time", '{"name":"a","deadline":"hunter2"}'],
    ["of an entry", '{"name":"a","tags":[["hunter2"]]}']
  ])("a refusal does not repeat the value %s", ([, body = ""]) =>
    Effect.gen(function* () {
      const { status, text } = yield* post(body)
      expect(status).toBe(400)
      expect(text).not.toContain("hunter2")
    })
  )

  it.scopedLive("a refusal has at most 100 validations, one per field, and short texts", () =>
    Effect.gen(function* () {
      const { json } = yield* post(JSON.stringify({ name: "a", rules: Array.from({ length: 1000 }, () => ({ a: "" })) }))
      const { validations = [] } = Schema.decodeUnknownSync(Response)(json())
      expect(validations).toHaveLength(100)
      expect(new Set(validations.map(({ field }) => field)).size).toBe(100)
      const long = yield* post(`{"name":"a","labels":{"${"x".repeat(100_000)}":1}}`)
      expect([long.status, long.text.length < 1000]).toEqual([400, true])
    })
  )

  it.scopedLive("a refusal repeats nothing of the body", () =>
    Effect.gen(function* () {
      for (const body of ['[{"name":"hunter2"}]', '"hunter2"', '{"name":["hunter2"]}', '{"name":{"hunter2":1}}', '{"name":"hunter2"']) {
        const { status, text } = yield* post(body)
        expect([status, text.includes("hunter2")]).toEqual([400, false])
      }
    })
  )

  it.scopedLive.each([
    ["a list", { tags: Array.from({ length: 1001 }, () => 1) }, "tags", 1000],
    ["a list with a bound of its own", { steps: Array.from({ length: 2001 }, () => "x") }, "steps", 2000],
    ["a map", { labels: { a: 1, b: 1, c: 1, d: 1 } }, "labels", 3],
    ["an object", { nested: Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [index, 1])) }, "nested", 1000]
  ] as const)("the length of %s is judged before its entries", ([, body, field, maximum]) =>
    Effect.gen(function* () {
      const { json, status } = yield* post(JSON.stringify({ name: "a", ...body }))
      const validations = [{ field, detail: `must have at most ${maximum} entries` }]
      expect([status, json()]).toEqual([400, { message: "Validation failed.", validations }])
    })
  )

  it.scopedLive("a required field that is missing, null or empty is the same", () =>
    Effect.gen(function* () {
      for (const body of ["{}", '{"name":null}', '{"name":""}', "null"]) {
        const { json } = yield* post(body)
        expect(json()).toMatchObject({ validations: [{ field: "name", detail: "is required" }] })
      }
      expect((yield* post('{"name":" "}')).status).toBe(201)
    })
  )

  it.scopedLive("the character U+0000 is refused where the store cannot hold it", () =>
    Effect.gen(function* () {
      const refused = yield* post(JSON.stringify({ name: "a", tags: ["b", "c\0"] }))
      expect([refused.status, refused.json()]).toMatchObject([400, { validations: [{ field: "tags[1]" }] }])
      const spelledOut = yield* post(JSON.stringify({ name: "a\\u0000" }))
      expect([spelledOut.status, spelledOut.json()]).toMatchObject([201, { name: "a\\u0000" }])
      const accepted = yield* post(JSON.stringify({ line: "a\0b" }), "/api/v2/log")
      expect(accepted.json()).toEqual({ line: "a\0b" })
    })
  )
})

describe("how large a body may be", () => {
  it.scopedLive("4 MiB are read, one byte more is refused with the number", () =>
    Effect.gen(function* () {
      const limit = 4 * 1024 * 1024
      const frame = JSON.stringify({ name: "a", unknown: "" }).length
      expect((yield* post(JSON.stringify({ name: "a", unknown: "x".repeat(limit - frame) }))).status).toBe(201)
      const refused = yield* post(JSON.stringify({ name: "a", unknown: "x".repeat(limit - frame + 1) }))
      expect([refused.status, refused.json()]).toEqual([413, { message: expect.any(String), detail: expect.stringContaining("4194304") }])
    })
  )

  it.scopedLive("64 KiB are read at a public endpoint", () =>
    Effect.gen(function* () {
      const limit = 64 * 1024
      const frame = JSON.stringify({ line: "" }).length
      expect((yield* post(JSON.stringify({ line: "x".repeat(limit - frame) }), "/api/v2/log")).status).toBe(200)
      const refused = yield* post(JSON.stringify({ line: "x".repeat(limit - frame + 1) }), "/api/v2/log")
      expect([refused.status, refused.json()]).toEqual([413, { message: expect.any(String), detail: expect.stringContaining("65536") }])
    })
  )

  it.scopedLive("10,000 values are read", () =>
    Effect.gen(function* () {
      const body = (values: number) => `{"name":"a","unknown":[${"1,".repeat(values - 4)}1]}`
      expect((yield* post(body(10_000))).status).toBe(201)
      const refused = yield* post(body(10_001))
      expect([refused.status, refused.json()]).toMatchObject([400, { detail: "holds more than 10000 values" }])
    })
  )

  it.scopedLive("10 MB without a declared length are refused too", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const chunk = new TextEncoder().encode("x".repeat(100_000))
      let sent = 0
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => (sent++ < 100 ? controller.enqueue(chunk) : controller.close())
      })
      const init: RequestInit & { readonly duplex: "half" } = { method: "POST", body, duplex: "half" }
      expect((yield* request(`${url}/api/v2/things`, init)).status).toBe(413)
    })
  )

  it.scopedLive("an endpoint may have a limit of its own", () =>
    Effect.gen(function* () {
      expect((yield* post(JSON.stringify({ line: "x".repeat(90) }), "/api/v2/tiny")).status).toBe(413)
      expect((yield* post(JSON.stringify({ line: "x".repeat(80) }), "/api/v2/tiny")).status).toBe(200)
    })
  )

  it.scopedLive.each([
    ["arrays", "[".repeat(100_000)],
    ["closed arrays", `{"name":"a","unknown":${"[".repeat(50_000)}${"]".repeat(50_000)}}`],
    ["objects", '{"a":'.repeat(100_000)]
  ])("deep %s are refused", ([, body = ""]) =>
    Effect.gen(function* () {
      expect((yield* post(body)).status).toBe(400)
    })
  )
})
