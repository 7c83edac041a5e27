import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, HashMap, Logger, Option, Schema, Stream } from "effect"
import * as fc from "fast-check"
import { request as nodeRequest } from "node:http"
import { refusals } from "../../../src/wire/errors.js"
import * as Handlers from "../../../src/handlers/Handlers.js"
import { jsonArray, jsonObject, jsonObjects, jsonObjectsIn, textLines } from "../../../src/server/codec/streams.js"
import { listen, request, serve } from "../../TestServer.js"

const Crew = Schema.Struct({ id: Schema.String, members: Schema.Array(Schema.String) })
type Crew = typeof Crew.Type

const things = HttpApiGroup.make("things").add(HttpApiEndpoint.get("read", "/api/v2/things").addSuccess(Schema.Array(Schema.String)))

class Api extends HttpApi.make("streams")
  .add(things)
  .addError(refusals("Invalid", "TooManyRequests", "InternalError")) {}

const answering = (answer: ReturnType<typeof jsonArray>) => Handlers.group(things, (handlers) => handlers.handle("read", () => answer))

const path = "/api/v2/things"

/** A list of crews as it comes in parts and chunks: a part has some of the members, a chunk some of the parts. */
const inParts = (crews: ReadonlyArray<Crew>, size: number, chunk: number): Stream.Stream<Crew> =>
  Stream.rechunk(
    Stream.fromIterable(
      crews.flatMap(({ id, members }) => [
        { id, members: [] },
        ...Array.from({ length: Math.ceil(members.length / size) }, (_, index) => ({
          id,
          members: members.slice(index * size, index * size + size)
        }))
      ])
    ),
    chunk
  )

const crews = fc.uniqueArray(fc.record({ id: fc.string(), members: fc.array(fc.string(), { maxLength: 7 }) }, { noNullPrototype: true }), {
  selector: ({ id }) => id,
  maxLength: 6
})

describe("a list that is written while it is read", () => {
  it.scopedLive("is the list, however it comes in parts", () =>
    Effect.gen(function* () {
      let stream: ReturnType<typeof jsonArray> = jsonArray(Schema.String, Stream.empty)
      const { url } = yield* serve(Api, answering(Effect.suspend(() => stream)), { rateLimit: { api: 0, disableAll: true } })
      const answered = (answer: ReturnType<typeof jsonArray>) =>
        Effect.suspend(() => {
          stream = answer
          return Effect.map(request(`${url}${path}`), (response) => {
            expect(response.text.endsWith("\n")).toBe(true)
            expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8")
            return response.json()
          })
        })
      for (const [list, size, chunk] of fc.sample(fc.tuple(crews, fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 4 })), {
        numRuns: 15,
        seed: 3
      })) {
        const parts = { schema: Crew, list: "members", parts: inParts(list, size, chunk) } as const
        expect(yield* answered(jsonObjects(parts))).toStrictEqual(list)
        const outer = { schema: Schema.Struct({ name: Schema.String }), value: { name: "fleet" }, list: "crews" }
        expect(yield* answered(jsonObjectsIn(outer, parts))).toStrictEqual({ name: "fleet", crews: list })
        for (const crew of list.slice(0, 1)) {
          expect(yield* answered(jsonObject({ ...parts, parts: inParts([crew], size, chunk) }))).toStrictEqual(crew)
        }
        const members = list.flatMap((crew) => crew.members)
        expect(yield* answered(jsonArray(Schema.String, Stream.rechunk(Stream.fromIterable(members), chunk)))).toStrictEqual(members)
      }
      // Longer than what is written at once
      const long = Array.from({ length: 5000 }, (_, index) => `<item> ${index}`)
      expect(yield* answered(jsonArray(Schema.String, Stream.rechunk(Stream.fromIterable(long), 700)))).toStrictEqual(long)
    })
  )

  it.scopedLive("is written with its length where it is short", () =>
    Effect.gen(function* () {
      const { url } = yield* serve(Api, answering(jsonArray(Schema.String, Stream.make("é"))))
      const response = yield* request(`${url}${path}`)
      expect([response.text, response.headers.get("content-length"), response.headers.get("transfer-encoding")]).toStrictEqual([
        '["é"]\n',
        "7",
        null
      ])
    })
  )

  it.scopedLive("is whole in a fetch-style host's response", () =>
    Effect.gen(function* () {
      const long = Array.from({ length: 5000 }, (_, index) => `<item> ${index}`)
      const { fetch } = yield* listen(Api, answering(jsonArray(Schema.String, Stream.rechunk(Stream.fromIterable(long), 700))))
      const response = yield* Effect.promise(() => fetch(new Request(`http://atelier.test${path}`)))
      expect(yield* Effect.promise(() => response.json())).toStrictEqual(long)
    })
  )

  it.scopedLive("leaves others their turn between two chunks, also where it never waits", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const produced = Stream.mapChunks(
        Stream.tap(Stream.rechunk(Stream.range(1, 4), 1), (number) =>
          Effect.sync(() => {
            events.push(`read ${number}`)
            setImmediate(() => events.push(`turn ${number}`))
          })
        ),
        Chunk.map((number) => `${number}\n`)
      )
      const { url } = yield* serve(Api, answering(textLines(produced)))
      expect((yield* request(`${url}${path}`)).text).toBe("1\n2\n3\n4\n")
      expect(events).toStrictEqual([1, 2, 3, 4].flatMap((number) => [`read ${number}`, `turn ${number}`]))
    })
  )
})

describe("a list whose store fails", () => {
  const failing = Stream.die(new Error("the store has gone"))
  const long = "x".repeat(100_000)

  /** What a client receives: the status, and whether the body came to its end. */
  const received = (url: string) =>
    Effect.async<{ readonly status: number | undefined; readonly text: string; readonly isWhole: boolean }>((resume) => {
      nodeRequest(url, (response) => {
        let text = ""
        response.setEncoding("utf8").on("data", (part: string) => (text += part))
        response.on("error", () => undefined)
        response.once("close", () => resume(Effect.succeed({ status: response.statusCode, text, isWhole: response.complete })))
      }).end()
    })

  it.scopedLive("before it has begun is refused", () =>
    Effect.gen(function* () {
      const { url } = yield* serve(Api, answering(jsonArray(Schema.String, failing)))
      const { isWhole, status } = yield* received(`${url}${path}`)
      expect([status, isWhole]).toStrictEqual([500, true])
    })
  )

  it.scopedLive("on its way is cut off, and the log tells of it", () =>
    Effect.gen(function* () {
      const logged = yield* Deferred.make<unknown>()
      const logger = Logger.make(({ annotations, cause, message }) =>
        Deferred.unsafeDone(logged, Effect.succeed([message, cause._tag, Option.getOrNull(HashMap.get(annotations, "path"))]))
      )
      for (const answer of [
        jsonArray(Schema.String, Stream.concat(Stream.make(long), failing)),
        textLines(Stream.concat(Stream.make(long), failing))
      ]) {
        const { url } = yield* serve(Api, answering(answer), { logger })
        const { isWhole, status, text } = yield* received(`${url}${path}`)
        expect([status, isWhole, text.length > 0]).toStrictEqual([200, false, true])
      }
      expect(yield* Deferred.await(logged)).toStrictEqual([["a response failed on its way"], "Die", path])
    })
  )

  it.scopedLive("on its way fails the body of a fetch-style host's response", () =>
    Effect.gen(function* () {
      const { fetch } = yield* listen(Api, answering(jsonArray(Schema.String, Stream.concat(Stream.make(long), failing))))
      const response = yield* Effect.promise(() => fetch(new Request(`http://atelier.test${path}`)))
      const read = yield* Effect.exit(Effect.tryPromise(() => response.text()))
      expect([response.status, read._tag]).toStrictEqual([200, "Failure"])
    })
  )
})
