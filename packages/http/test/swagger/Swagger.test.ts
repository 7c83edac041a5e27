import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { Uuid } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import { expect } from "vitest"
import { Authenticated } from "../../src/contract/authentication.js"
import { NullableUuid } from "../../src/wire/dialect.js"
import { refusals } from "../../src/wire/errors.js"
import * as Handlers from "../../src/handlers/Handlers.js"
import { Body, page, Path, Query, required, text } from "../../src/wire/input.js"
import { type Options, request, serve } from "../TestServer.js"

const Thing = Schema.Struct({ id: Uuid.Uuid, parent_id: NullableUuid }).annotations({ identifier: "Thing" })

const things = HttpApiGroup.make("things")
  .add(
    HttpApiEndpoint.get("list", "/api/v2/things")
      .setUrlParams(Query({ ...page }))
      .addSuccess(Schema.Array(Thing))
  )
  .add(
    HttpApiEndpoint.post("create", "/api/v2/things/:id")
      .setPath(Path({ id: Uuid.Uuid }))
      .setPayload(Body({ name: required(Schema.String), note: text, template_id: Schema.optional(Uuid.Uuid) }))
      .addSuccess(Thing, { status: 201 })
      .addError(refusals("NotFound", "Conflict"))
      .middleware(Authenticated)
  )

class Api extends HttpApi.make("described")
  .add(things)
  .addError(refusals("Invalid", "TooLarge", "RequestTimeout", "TooManyRequests", "InternalError")) {}

const thing = { id: Uuid.nil, parent_id: null }
const handlers = Handlers.group(things, (handlers) =>
  handlers.handle("list", () => Effect.succeed([thing])).handle("create", () => Effect.succeed(thing))
)
const get = (path: string, options: Options = {}) =>
  Effect.flatMap(serve(Api, handlers, { swagger: { enable: true }, ...options }), ({ url }) => request(url + path))

describe("the interface's description", () => {
  it.scopedLive.each(["/swagger", "/swagger/", "/swagger/doc.json", "/swagger/swagger-ui.css"])(
    "%s is not there unless it is asked for",
    (path) =>
      Effect.gen(function* () {
        const { json, status } = yield* get(path, { swagger: { enable: false } })
        expect([status, json()]).toEqual([404, { message: "Route not found." }])
      })
  )

  it.scopedLive("names operations, inputs, outputs, refusals and who may call", () =>
    Effect.gen(function* () {
      const { headers, json, status } = yield* get("/swagger/doc.json")
      expect([status, headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"])
      expect(json()).toMatchObject({
        openapi: "3.1.0",
        info: { title: "Atelier", version: "v1.2.3" },
        servers: [{ url: ".." }],
        paths: {
          "/api/v2/things": {
            get: { security: [], parameters: [{ name: "after_id", in: "query", required: false }, { name: "limit" }, { name: "offset" }] }
          },
          "/api/v2/things/{id}": {
            post: {
              security: [{ session: [] }],
              parameters: [{ name: "id", in: "path", required: true, schema: { type: "string", format: "uuid" } }],
              requestBody: { content: { "application/json": { schema: { type: "object", required: ["name"] } } } },
              responses: {
                201: { content: { "application/json": { schema: { type: "object", required: ["id", "parent_id"] } } } },
                400: { $ref: "#/components/responses/Invalid" },
                401: { $ref: "#/components/responses/Unauthenticated" },
                404: { $ref: "#/components/responses/NotFound" },
                409: { $ref: "#/components/responses/Conflict" },
                413: { $ref: "#/components/responses/TooLarge" }
              }
            }
          }
        },
        components: {
          schemas: { Thing: { type: "object", required: ["id", "parent_id"] } },
          responses: { Conflict: { content: { "application/json": { schema: { $ref: "#/components/schemas/Message" } } } } },
          securitySchemes: { session: { type: "apiKey", in: "header", name: "Service-Session-Token" } }
        }
      })
      expect(json()).not.toHaveProperty("components.schemas.HttpApiDecodeError")
    })
  )

  it.scopedLive("shows the dialect that is spoken", () =>
    Effect.gen(function* () {
      const { json: standard } = yield* get("/swagger/doc.json")
      const { json: reference } = yield* get("/swagger/doc.json", { wire: "reference" })
      expect(standard()).toHaveProperty("components.schemas.Thing.properties.parent_id.properties.valid")
      expect(reference()).not.toHaveProperty("components.schemas.Thing.properties.parent_id.properties")
    })
  )
})

describe("the browser of it", () => {
  it.scopedLive("is a page that loads from here alone", () =>
    Effect.gen(function* () {
      const moved = yield* get("/swagger")
      expect([moved.status, moved.headers.get("location")]).toEqual([307, "swagger/"])
      const { headers, status, text: body } = yield* get("/swagger/")
      expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
      expect(headers.get("content-security-policy")).toMatch(/default-src 'none'; script-src 'self';/)
      expect(body).not.toMatch(/https?:\/\//)
      for (const [, file = ""] of body.matchAll(/(?:src|href)="([^"]+)"/g)) {
        expect([file, (yield* get(`/swagger/${file}`)).status]).toEqual([file, 200])
      }
      expect((yield* get("/swagger/initialize.js")).text).toContain('credentials: "omit"')
    })
  )

  it.scopedLive("is compressed and kept by browsers", () =>
    Effect.gen(function* () {
      const { url } = yield* serve(Api, handlers, { swagger: { enable: true } })
      const file = (headers: Readonly<Record<string, string>>) => request(`${url}/swagger/swagger-ui-bundle.js`, { headers })
      const compressed = yield* file({ "accept-encoding": "br, gzip;q=0.8" })
      expect(compressed.headers.get("content-encoding")).toBe("gzip")
      expect(Number(compressed.headers.get("content-length"))).toBeLessThan(compressed.text.length / 2)
      expect(compressed.headers.get("vary")).toContain("Accept-Encoding")
      expect(compressed.headers.get("cache-control")).toBe("private, max-age=86400")
      const plain = yield* file({ "accept-encoding": "gzip;q=0" })
      expect(plain.headers.get("content-encoding")).toBeNull()
      expect(plain.text).toBe(compressed.text)
      const kept = yield* file({ "if-none-match": compressed.headers.get("etag") ?? "" })
      expect([kept.status, kept.text]).toEqual([304, ""])
    })
  )

  it.scopedLive("has a transport policy where the deployment has one, and the API has none", () =>
    Effect.gen(function* () {
      const options = { strictTransportSecurity: "max-age=100; includeSubDomains" }
      expect((yield* get("/swagger/", options)).headers.get("strict-transport-security")).toBe("max-age=100; includeSubDomains")
      expect((yield* get("/api/v2/things", options)).headers.get("strict-transport-security")).toBeNull()
    })
  )

  it.scopedLive.each(["package.json", "..%2Fpackage.json", "index.html", "constructor", "x/y"])("does not serve %s", (file) =>
    Effect.map(get(`/swagger/${file}`), ({ status }) => expect(status).toBe(404))
  )
})
