import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import { expect } from "vitest"
import { BodyLimit } from "../../src/contract/annotations.js"
import { refusals } from "../../src/errors.js"
import * as Handlers from "../../src/handlers/Handlers.js"
import { acceptNul, Body, flag, list, required, text } from "../../src/input.js"
import { request, serve } from "./TestServer.js"

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
          labels: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String }))
        })
      )
      .addSuccess(Received, { status: 201 })
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

const handlers = Handlers.group(Api, "things", (handlers) =>
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
    ["another type of document", "[]"],
    ["a number for a text", '{"name":1}'],
    ["a text for a number", '{"name":"a","count":"1"}'],
    ["half a number", '{"name":"a","count":1.5}'],
    ["a text for a switch", '{"name":"a","hidden":"true"}'],
    ["a text for a list", '{"name":"a","tags":"x"}'],
    ["a number in a list of texts", '{"name":"a","tags":[1]}'],
    ["no UUID", '{"name":"a","template_id":"x"}'],
    ["no time", '{"name":"a","deadline":"yesterday"}'],
    ["a number for one of a few words", '{"name":"a","kind":1}']
  ])("%s is unreadable: no validations, the cause in the detail", ([, body = ""]) =>
    Effect.gen(function* () {
      const { json, status } = yield* post(body)
      expect(status).toBe(400)
      expect(json()).toEqual({ message: "Request body must be valid JSON.", detail: expect.stringMatching(/./) })
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
          { field: "count", detail: "must be between 0 and 10, not 11" },
          { field: "kind", detail: 'must be one of "small", "large", not "huge"' },
          { field: "nested.inner", detail: "is required" }
        ]
      })
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
      const frame = JSON.stringify({ name: "" }).length
      expect((yield* post(JSON.stringify({ name: "x".repeat(limit - frame) }))).status).toBe(201)
      const refused = yield* post(JSON.stringify({ name: "x".repeat(limit - frame + 1) }))
      expect([refused.status, refused.json()]).toEqual([413, { message: expect.any(String), detail: expect.stringContaining("4194304") }])
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
