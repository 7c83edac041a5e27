import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpServerResponse } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { CurrentActor } from "@atelier/core/access"
import { Forbidden, NotFound, Uuid } from "@atelier/core/platform"
import { Effect, Logger, Option, Schema } from "effect"
import { expect } from "vitest"
import { namesOf } from "../../../src/wire/Brand.js"
import { Limiter, TrailingSlash } from "../../../src/contract/annotations.js"
import { Authenticated, Caller, OptionallyAuthenticated } from "../../../src/contract/authentication.js"
import { refusals } from "../../../src/wire/errors.js"
import * as Handlers from "../../../src/handlers/Handlers.js"
import { Body, flagParameter, listOf, page, Path, Query, text } from "../../../src/wire/input.js"
import { CurrentRequest } from "../../../src/server/request/CurrentRequest.js"
import { exchange, memberId, memberToken, type Options, ownerToken, request, serve, settings } from "../../TestServer.js"

const Seen = Schema.Struct({ id: Schema.String, ip: Schema.String, path: Schema.String })

const things = HttpApiGroup.make("things")
  .add(HttpApiEndpoint.get("list", "/api/v2/things").addSuccess(Schema.Array(Schema.String)).annotate(TrailingSlash, true))
  .add(
    HttpApiEndpoint.post("add", "/api/v2/things")
      .setPayload(Body({ name: text }))
      .addSuccess(Schema.Struct({ name: Schema.String }))
  )
  .add(
    HttpApiEndpoint.get("one", "/api/v2/things/:thing")
      .setPath(Path({ thing: Schema.String }))
      .addSuccess(Schema.Struct({ thing: Schema.String }))
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("byId", "/api/v2/ids/:id")
      .setPath(Path({ id: Uuid.Uuid }))
      .addSuccess(Schema.Struct({ id: Schema.String }))
  )
  .add(
    HttpApiEndpoint.get("search", "/api/v2/search")
      .setUrlParams(Query({ ...page, q: text, deep: flagParameter, ids: listOf(Uuid.Uuid) }))
      .addSuccess(
        Schema.Struct({
          after_id: Schema.optional(Schema.String),
          limit: Schema.Number,
          offset: Schema.Number,
          q: Schema.String,
          deep: Schema.Boolean,
          ids: Schema.Array(Schema.String)
        })
      )
  )
  .add(
    HttpApiEndpoint.get("me", "/api/v2/me")
      .addSuccess(Schema.Struct({ id: Uuid.Uuid }))
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.post("act", "/api/v2/act")
      .addSuccess(Schema.Struct({ id: Uuid.Uuid }))
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.get("greet", "/api/v2/greet")
      .addSuccess(Schema.Struct({ known: Schema.Boolean }))
      .middleware(OptionallyAuthenticated)
  )
  .add(HttpApiEndpoint.get("seen", "/api/v2/seen").addSuccess(Seen))
  .add(HttpApiEndpoint.get("html", "/api/v2/html").addSuccess(Schema.Struct({ text: Schema.String })))
  .add(HttpApiEndpoint.get("broken", "/api/v2/broken").addSuccess(Schema.Struct({ ok: Schema.Boolean })))
  .add(
    HttpApiEndpoint.post("login", "/api/v2/users/login")
      .addSuccess(Schema.Struct({ ok: Schema.Boolean }))
      .annotate(Limiter, "login")
  )
  .add(HttpApiEndpoint.get("outside", "/outside").addSuccess(Schema.Struct({ ok: Schema.Boolean })))
  .add(HttpApiEndpoint.post("token", "/oauth2/tokens").addSuccess(Schema.Struct({ ok: Schema.Boolean })))
  .add(HttpApiEndpoint.del("remove", "/api/v2/things/:thing").setPath(Path({ thing: Schema.String })))

class Api extends HttpApi.make("pipeline")
  .add(things)
  .addError(refusals("Invalid", "TooLarge", "RequestTimeout", "TooManyRequests", "InternalError")) {}

const ok = () => Effect.succeed({ ok: true })
const actor = () => Effect.map(CurrentActor, ({ userId }) => ({ id: userId }))

const handlers = Handlers.group(things, (handlers) =>
  handlers
    .handle("list", () => Effect.succeed(["a"]))
    .handle("add", ({ payload }) => Effect.succeed(payload))
    .handle("one", ({ path }) => {
      if (path.thing === "missing") return Effect.fail(new NotFound())
      if (path.thing === "forbidden") return Effect.fail(new Forbidden({ message: "No.", detail: "Never." }))
      return Effect.succeed(path)
    })
    .handle("byId", ({ path }) => Effect.succeed(path))
    .handle("search", ({ urlParams }) => Effect.succeed(urlParams))
    .handle("me", actor)
    .handle("act", actor)
    .handle("greet", () => Effect.map(Caller, (caller) => ({ known: Option.isSome(caller) })))
    .handle("seen", () => Effect.map(CurrentRequest, ({ id, ip, path }) => ({ id, ip, path })))
    .handle("html", () => Effect.succeed({ text: "<b>&\u2028" }))
    .handle("broken", () => Effect.die(new Error("the secret cause")))
    .handle("login", ok)
    .handle("outside", ok)
    .handle("token", () => Effect.succeed(HttpServerResponse.unsafeJson({ ok: true })))
    .handle("remove", () => Effect.void)
)

const start = (options?: Options) => serve(Api, handlers, options)
const get = (path: string, headers: Record<string, string> = {}, options?: Options) =>
  Effect.flatMap(start(options), ({ url }) => request(url + path, { headers }))

describe("every response", () => {
  it.scopedLive("names the request and the version, and is not to be sniffed", () =>
    Effect.gen(function* () {
      const { headers, json } = yield* get("/api/v2/seen")
      expect(headers.get("x-service-request-id")).toMatch(/^[0-9a-f-]{36}$/)
      expect(json()).toMatchObject({ id: headers.get("x-service-request-id"), ip: "127.0.0.1" })
      expect(headers.get("x-service-build-version")).toBe("v1.2.3")
      expect(headers.get("x-content-type-options")).toBe("nosniff")
      expect(headers.get("vary")).toBe("Origin, Cookie")
      expect(headers.get("strict-transport-security")).toBeNull()
    })
  )

  it.scopedLive("is JSON that is safe in a page, ended by a line feed", () =>
    Effect.gen(function* () {
      const { headers, text: body } = yield* get("/api/v2/html")
      expect(headers.get("content-type")).toBe("application/json; charset=utf-8")
      expect(body).toBe('{"text":"\\u003cb\\u003e\\u0026\\u2028"}\n')
    })
  )

  it.scopedLive("without content has none", () =>
    Effect.gen(function* () {
      const { url } = yield* start()
      const { headers, status, text: body } = yield* request(`${url}/api/v2/things/a`, { method: "DELETE" })
      expect([status, body, headers.get("content-type")]).toEqual([204, "", null])
    })
  )
})

describe("refusals", () => {
  it.scopedLive("carry message, detail and nothing empty", () =>
    Effect.gen(function* () {
      const missing = yield* get("/api/v2/things/missing")
      expect([missing.status, Object.keys(Object(missing.json()))]).toEqual([404, ["message"]])
      const forbidden = yield* get("/api/v2/things/forbidden")
      expect([forbidden.status, forbidden.json()]).toEqual([403, { message: "No.", detail: "Never." }])
    })
  )

  it.scopedLive("a defect answers without its cause, which is logged under the request's id", () =>
    Effect.gen(function* () {
      const logged: Array<{ readonly text: string; readonly id: unknown }> = []
      const logger = Logger.make<unknown, void>(({ annotations, cause, message }) => {
        logged.push({ text: `${String(message)} ${String(cause)}`, id: [...annotations].find(([key]) => key === "request_id")?.[1] })
      })
      const { headers, status, text: body } = yield* get("/api/v2/broken", {}, { logger })
      expect(status).toBe(500)
      expect(body).not.toContain("secret")
      expect(JSON.parse(body)).toMatchObject({ message: expect.any(String) })
      expect(logged).toEqual([{ text: expect.stringContaining("the secret cause"), id: headers.get("x-service-request-id") }])
    })
  )

  it.scopedLive("an unknown route is JSON, also for nobody", () =>
    Effect.gen(function* () {
      for (const path of ["/api/v2/nothing", "/api/experimental/x", "/api", "/", "/nothing.html"]) {
        const { headers, json, status } = yield* get(path)
        expect([path, status, headers.get("content-type")]).toEqual([path, 404, "application/json; charset=utf-8"])
        expect(json()).toEqual({ message: "Route not found." })
      }
    })
  )

  it.scopedLive.each(["DELETE", "HEAD", "OPTIONS", "PATCH"])("%s where there is none names the methods there are", (method) =>
    Effect.gen(function* () {
      const { url } = yield* start()
      const { headers, status, text: body } = yield* request(`${url}/api/v2/things`, { method })
      expect([status, headers.get("allow")]).toEqual([405, "GET, POST"])
      expect(body.trimEnd()).toBe(method === "HEAD" ? "" : JSON.stringify({ message: "The path does not have this method." }))
      expect((yield* request(`${url}/api/v2/nothing`, { method })).status).toBe(404)
    })
  )
})

describe("paths", () => {
  it.scopedLive("slashes repeat without meaning", () =>
    Effect.gen(function* () {
      expect((yield* get("//api///v2/things")).json()).toEqual(["a"])
      expect((yield* get("/api/v2//things//a")).json()).toEqual({ thing: "a" })
    })
  )

  it.scopedLive("a slash at the end belongs to collections only", () =>
    Effect.gen(function* () {
      expect((yield* get("/api/v2/things/")).json()).toEqual(["a"])
      expect((yield* get("/api/v2/things/a/")).status).toBe(404)
      expect((yield* get("/api/v2/seen/")).status).toBe(404)
    })
  )

  it.scopedLive("parameters are decoded once", () =>
    Effect.gen(function* () {
      for (const thing of ["a b", "a/b", "a%2Fb", "a;b", "ü€😀", "a?b#c", "%"]) {
        const { json } = yield* get(`/api/v2/things/${encodeURIComponent(thing)}`)
        expect(json()).toEqual({ thing })
      }
    })
  )

  it.scopedLive("what is encoded without need means the same", () =>
    Effect.gen(function* () {
      expect((yield* get("/%61pi/v2/thing%73")).json()).toEqual(["a"])
      expect((yield* get("/api/v2/%73een")).json()).toMatchObject({ path: "/api/v2/seen" })
      expect((yield* get("/api/v2/things/%61%2Fb%252f%7E%7f")).json()).toEqual({ thing: "a/b%2f~\x7f" })
    })
  )

  it.scopedLive("letters matter", () => Effect.map(get("/API/v2/things"), ({ status }) => expect(status).toBe(404)))

  it.scopedLive.each(["%zz", "%", "%%361", "%c3", "%ff", "%e0%80%80", "a%00b"])("%s is not a path", (segment) =>
    Effect.gen(function* () {
      const { port } = yield* start()
      const received = yield* exchange(port, `GET /api/v2/things/${segment} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, /\n$/)
      expect(received).toMatch(/^HTTP\/1\.1 400 /)
      expect(received).toContain("application/json")
    })
  )

  it.scopedLive("an id that is not a UUID is refused", () =>
    Effect.gen(function* () {
      for (const id of ["x", "home"]) {
        const { json, status } = yield* get(`/api/v2/ids/${id}`)
        expect([status, json()]).toEqual([400, { message: 'Invalid path parameter "id".', detail: "must be a valid UUID" }])
      }
    })
  )

  it.scopedLive("the name of an operation of other versions in place of an id is an unknown route", () =>
    Effect.gen(function* () {
      const { json, status } = yield* get("/api/v2/ids/connection")
      expect([status, json()]).toEqual([404, { message: "Route not found." }])
    })
  )
})

describe("queries", () => {
  it.scopedLive("what is empty or not given has its default, and what is unknown is ignored", () =>
    Effect.gen(function* () {
      for (const query of ["", "?", "?q=&limit=&offset=&after_id=&deep=&ids=", "?unknown=1&q", "?follow"]) {
        const { json } = yield* get(`/api/v2/search${query}`)
        expect(json()).toEqual({ limit: 0, offset: 0, q: "", deep: false, ids: [] })
      }
    })
  )

  it.scopedLive("lists are repeated, separated by commas, or both", () =>
    Effect.gen(function* () {
      const [a, b, c] = ["a", "b", "c"].map((digit) => `018f0000-0000-7000-8000-00000000000${digit}`)
      const { json } = yield* get(`/api/v2/search?ids=${a},${b}&ids=${c}&limit=25&q=a+b%20c`)
      expect(json()).toMatchObject({ ids: [a, b, c], limit: 25, q: "a b c" })
    })
  )

  it.scopedLive.each(["1", "t", "T", "TRUE", "true", "True"])("%s is true", (written) =>
    Effect.map(get(`/api/v2/search?deep=${written}`), ({ json }) => expect(json()).toMatchObject({ deep: true }))
  )

  it.scopedLive("every wrong parameter is named", () =>
    Effect.gen(function* () {
      const { json, status } = yield* get("/api/v2/search?limit=-1&offset=2147483648&after_id=x&deep=yes&ids=a&q=a&q=b")
      expect(status).toBe(400)
      expect(json()).toMatchObject({ message: "Query parameters have invalid values." })
      const { validations }: { readonly validations: ReadonlyArray<{ readonly field: string }> } = Object(json())
      expect(validations.map(({ field }) => field).toSorted()).toEqual(["after_id", "deep", "ids", "limit", "offset", "q"])
    })
  )
})

describe("credentials", () => {
  const challenge =
    /^Bearer realm="service", error="invalid_token", error_description="[^"]+", resource_metadata="http:\/\/atelier\.test\/\.well-known\/oauth-protected-resource"$/

  // Without a credential there is no error to tell of (RFC 6750 §3.1)
  const bareChallenge = /^Bearer realm="service", resource_metadata="http:\/\/atelier\.test\/\.well-known\/oauth-protected-resource"$/

  it.scopedLive("none and a wrong one are challenged, before anything else is looked at", () =>
    Effect.gen(function* () {
      for (const headers of [
        {},
        { "Service-Session-Token": "wrong-token" },
        { "Service-Session-Token": "018f0000-0000-7000-8000-000000000001" }
      ]) {
        const { headers: answered, json, status } = yield* get("/api/v2/me", headers as Record<string, string>)
        expect([status, json()]).toMatchObject([401, { message: expect.any(String) }])
        expect(answered.get("www-authenticate")).toMatch(Object.keys(headers).length === 0 ? bareChallenge : challenge)
      }
    })
  )

  it.scopedLive("are taken from cookie, query, header and bearer token, and from access_token where the deployment says so", () =>
    Effect.gen(function* () {
      const { url } = yield* start({ takesAccessTokenQuery: true })
      const tries: ReadonlyArray<readonly [string, Record<string, string>]> = [
        ["", { cookie: `service_session_token=${memberToken}` }],
        [`?service_session_token=${memberToken}`, {}],
        ["", { "Service-Session-Token": memberToken }],
        ["", { authorization: `bearer  ${memberToken} ` }],
        [`?access_token=${memberToken}`, {}]
      ]
      for (const [query, headers] of tries) {
        expect((yield* request(`${url}/api/v2/me${query}`, { headers })).json()).toEqual({ id: memberId })
      }
      expect((yield* get(`/api/v2/me?access_token=${memberToken}`)).status).toBe(401)
    })
  )

  it.scopedLive("a wrong cookie is not rescued by a right header", () =>
    Effect.map(get("/api/v2/me", { cookie: "service_session_token=wrong-token", "Service-Session-Token": memberToken }), ({ status }) =>
      expect(status).toBe(401)
    )
  )

  it.scopedLive("a stale one does not hurt on public routes", () =>
    Effect.gen(function* () {
      const stale = { "Service-Session-Token": "stale-token" }
      expect((yield* get("/api/v2/things", stale)).status).toBe(200)
      expect((yield* get("/api/v2/greet", stale)).json()).toEqual({ known: false })
      expect((yield* get("/api/v2/greet", { "Service-Session-Token": memberToken })).json()).toEqual({ known: true })
    })
  )

  it.scopedLive("another brand's header works beside the neutral one", () =>
    Effect.gen(function* () {
      const options = { names: namesOf("Coder") }
      expect((yield* get("/api/v2/me", { "Coder-Session-Token": memberToken }, options)).status).toBe(200)
      expect((yield* get("/api/v2/me", { "Service-Session-Token": memberToken }, options)).status).toBe(200)
      expect((yield* get("/api/v2/me", { cookie: `coder_session_token=${memberToken}` }, options)).status).toBe(200)
      const { headers } = yield* get("/api/v2/me", {}, options)
      expect(headers.get("x-coder-build-version")).toBe("v1.2.3")
      expect(headers.get("www-authenticate")).toContain('realm="coder"')
    })
  )

  it.scopedLive("with the host prefix, the plain cookie is ignored and deleted", () =>
    Effect.gen(function* () {
      const options: Options = { cookies: { secure: true, sameSite: "none", hostPrefix: true } }
      expect((yield* get("/api/v2/me", { cookie: `__Host-service_session_token=${memberToken}` }, options)).status).toBe(200)
      const ignored = yield* get("/api/v2/me", { cookie: `service_session_token=${memberToken}` }, options)
      expect(ignored.status).toBe(401)
      expect(ignored.headers.getSetCookie()).toContainEqual(expect.stringMatching(/^service_session_token=; Max-Age=-1; Path=\//))
      expect(ignored.headers.getSetCookie()).toContainEqual(
        expect.stringMatching(/^csrf_token=.*; Path=\/; HttpOnly; Secure; SameSite=None$/)
      )
    })
  )
})

describe("forgery", () => {
  const session = `service_session_token=${memberToken}`
  const act = (headers: Record<string, string>, path = "/api/v2/act") =>
    Effect.flatMap(start(), ({ url }) => request(url + path, { method: "POST", headers }))

  it.scopedLive("a call by cookie alone is refused", () =>
    Effect.gen(function* () {
      const { headers, status } = yield* act({ cookie: session })
      expect([status, headers.get("content-type")]).toEqual([400, "application/json; charset=utf-8"])
      expect((yield* act({ cookie: session, "Service-Session-Token": ownerToken })).text).toContain("cookie wins")
    })
  )

  it.scopedLive("is not hidden by another spelling of the path", () =>
    Effect.gen(function* () {
      for (const path of ["/%61pi/v2/act", "//api/v2/act", "/ap%69/v2/%61%63%74", "/%%361pi/v2/act"]) {
        expect([path, (yield* act({ cookie: session }, path)).status]).toEqual([path, 400])
      }
    })
  )

  it.scopedLive("reading is not checked, nor is what carries no cookie", () =>
    Effect.gen(function* () {
      expect((yield* get("/api/v2/me", { cookie: session })).status).toBe(200)
      expect((yield* act({ "Service-Session-Token": memberToken })).status).toBe(200)
    })
  )

  it.scopedLive("the same token in header or query, a bearer token and the CSRF token pass", () =>
    Effect.gen(function* () {
      const { headers } = yield* get("/api/v2/things")
      const cookie =
        /^csrf_token=([^;]+); Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/.exec(headers.getSetCookie()[0] ?? "")?.[1] ?? ""
      const token = Buffer.from(cookie, "base64")
      expect(token).toHaveLength(32)
      const pad = Buffer.alloc(32, 0xa5)
      const masked = Buffer.concat([pad, Buffer.from(token.map((byte) => byte ^ 0xa5))]).toString("base64")
      const both = `${session}; csrf_token=${cookie}`

      expect((yield* act({ cookie: session, "Service-Session-Token": memberToken })).status).toBe(200)
      expect((yield* act({ cookie: session }, `/api/v2/act?service_session_token=${memberToken}`)).status).toBe(200)
      expect((yield* act({ cookie: session, authorization: "Bearer x" })).status).toBe(200)
      expect((yield* act({ cookie: both, "x-csrf-token": cookie })).status).toBe(200)
      expect((yield* act({ cookie: both, "x-csrf-token": masked })).status).toBe(200)
      expect((yield* act({ cookie: both })).status).toBe(400)
      expect((yield* act({ cookie: both, "x-csrf-token": Buffer.alloc(32).toString("base64") })).status).toBe(400)
      expect((yield* act({ cookie: both, "x-csrf-token": "x" })).status).toBe(400)
    })
  )

  it.scopedLive("paths that browsers do not call with a cookie are not checked, and no others that name them", () =>
    Effect.gen(function* () {
      const { url } = yield* start()
      const post = (path: string) => request(url + path, { method: "POST", headers: { cookie: session } })
      for (const path of [
        "/api/v2/users/first",
        "/api/v2/workspaceagents/me/log-source",
        "/api/v2/workspaceagents/aws-instance-identity",
        "/api/v2/workspaceproxies/me/register",
        "/api/v2/scim/v2/Users",
        "/api/v2/organizations/x/provisionerdaemons/serve",
        "/api/v2/csp/reports"
      ]) {
        expect([path, (yield* post(path)).status]).toEqual([path, 404])
      }
      for (const path of [
        "/api/v2/users/firstborn/keys",
        "/api/v2/users/derp/keys",
        "/api/v2/organizations/derp/templates",
        "/api/v2/workspaceproxies/mean",
        "/api/v2/organizations/x/provisionerdaemonsandmore",
        "/api/v2/users/workspaceagents/keys",
        // A page of an app's own host sends these with the session of the user who opens the app
        "/api/v2/workspaceagents/01978a54-7e1d-7000-8000-000000000001/exec",
        "/api/v2/workspaceagents/01978a54-7e1d-7000-8000-000000000001/processes",
        "/api/v2/workspaceagents/01978a54-7e1d-7000-8000-000000000001/files/move",
        "/api/v2/workspaceagents/aws-instance-identity/exec",
        "/api/v2/workspaceagents/mean/exec",
        "/api/v2/csp/reports/x"
      ]) {
        expect([path, (yield* post(path)).status]).toEqual([path, 400])
      }
    })
  )

  it.scopedLive("a valid token is kept and one of the wrong length replaced", () =>
    Effect.gen(function* () {
      const valid = Buffer.alloc(32, 7).toString("base64")
      expect((yield* get("/api/v2/things", { cookie: `csrf_token=${valid}` })).headers.getSetCookie()).toEqual([])
      expect((yield* get("/api/v2/things", { cookie: "csrf_token=c2hvcnQ=" })).headers.getSetCookie()).toHaveLength(1)
    })
  )
})

describe("other origins", () => {
  const preflight = (path: string, options?: Options, asked = "POST") =>
    Effect.flatMap(start(options), ({ url }) =>
      request(url + path, { method: "OPTIONS", headers: { origin: "https://evil.test", "access-control-request-method": asked } })
    )

  it.scopedLive("may read nothing of the API", () =>
    Effect.gen(function* () {
      const { headers, status, text: body } = yield* preflight("/api/v2/things")
      expect([status, body, headers.get("access-control-allow-origin")]).toEqual([200, "", null])
      expect(headers.get("vary")).toBe("Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
      expect((yield* get("/api/v2/things", { origin: "https://evil.test" })).headers.get("access-control-allow-origin")).toBeNull()
    })
  )

  it.scopedLive("may call the OAuth2 provider, without credentials", () =>
    Effect.gen(function* () {
      const { headers } = yield* preflight("/oauth2/tokens")
      expect(headers.get("access-control-allow-origin")).toBe("*")
      expect(headers.get("access-control-allow-methods")).toContain("DELETE")
      expect(headers.get("access-control-max-age")).toBe("86400")
      expect(headers.get("access-control-allow-credentials")).toBeNull()
      const { url } = yield* start()
      const answered = yield* request(`${url}/oauth2/tokens`, { method: "POST", headers: { origin: "https://evil.test" } })
      expect([answered.status, answered.headers.get("access-control-allow-origin")]).toEqual([200, "*"])
    })
  )

  it.scopedLive("may read the API where the deployment says so", () =>
    Effect.gen(function* () {
      const asked = (method: string) =>
        Effect.map(preflight("/api/v2/things", { cors: { ...settings.cors, allowAll: true } }, method), ({ headers }) => [
          headers.get("access-control-allow-origin"),
          headers.get("access-control-allow-methods")
        ])
      expect([yield* asked("GET"), yield* asked("POST")]).toEqual([
        ["*", "GET"],
        [null, null]
      ])
      const { headers } = yield* get("/api/v2/things", { origin: "https://x.test" }, { cors: { ...settings.cors, allowAll: true } })
      expect(headers.get("access-control-allow-origin")).toBe("*")
    })
  )

  const listing: Options = { cors: { ...settings.cors, origins: new Set(["https://app.test"]) } }
  const leaveOf = ({ headers }: { readonly headers: Headers }) =>
    ["origin", "credentials", "methods", "headers"].map((name) => headers.get(`access-control-allow-${name}`))
  const asks = (url: string, path: string, origin: string, headers = "content-type, service-session-token") =>
    request(url + path, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "DELETE", "access-control-request-headers": headers }
    })

  it.scopedLive("use the API with credentials where the deployment lists them, and no others do", () =>
    Effect.gen(function* () {
      const { url } = yield* start(listing)
      const methods = "GET, HEAD, POST, PUT, PATCH, DELETE"
      const allowed = ["https://app.test", "true", methods, "content-type, service-session-token"]
      expect(leaveOf(yield* asks(url, "/api/v2/things/a", "https://app.test"))).toEqual(allowed)
      expect(leaveOf(yield* asks(url, "/oauth2/tokens", "https://app.test"))).toEqual(allowed)
      expect(leaveOf(yield* asks(url, "/api/v2/things/a", "https://app.test", "a b"))).toEqual(["https://app.test", "true", methods, null])
      for (const origin of ["https://app.test.evil.test", "http://app.test", "https://app.test:8443", "null"])
        expect(leaveOf(yield* asks(url, "/api/v2/things/a", origin))).toEqual([null, null, null, null])
      expect(leaveOf(yield* asks(url, "/login", "https://app.test"))).toEqual([null, null, null, null])

      const read = (path: string) => request(url + path, { headers: { origin: "https://app.test" } })
      const { headers, status } = yield* read("/api/v2/things/missing")
      expect([status, headers.get("access-control-allow-origin"), headers.get("access-control-allow-credentials")]).toEqual([
        404,
        "https://app.test",
        "true"
      ])
      expect(headers.get("vary")).toContain("Origin")
      expect(headers.get("access-control-expose-headers")).toContain("X-Service-Request-Id")
      expect(leaveOf(yield* read("/login")).slice(0, 2)).toEqual([null, null])
      expect(leaveOf(yield* read("/oauth2/authorize")).slice(0, 2)).toEqual(["*", null])
    })
  )
})

describe("the access URL", () => {
  const options: Options = { accessUrl: "http://dev.example.com", redirectToAccessUrl: true }

  it.scopedLive("is where callers of another host are sent, when the deployment says so", () =>
    Effect.gen(function* () {
      const elsewhere = yield* get("/api/v2/things", {}, options)
      expect([elsewhere.status, elsewhere.headers.get("location")]).toEqual([307, "http://dev.example.com"])
      const { port } = yield* start(options)
      const there = yield* exchange(port, "GET /api/v2/things HTTP/1.1\r\nHost: dev.example.com\r\nConnection: close\r\n\r\n")
      expect(there).toMatch(/^HTTP\/1\.1 200 /)
      expect((yield* get("/api/v2/things", { "x-forwarded-host": "dev.example.com" }, options)).status).toBe(200)
    })
  )

  it.scopedLive("is not where other processes are sent", () =>
    Effect.gen(function* () {
      expect((yield* get("/internal/replicas/streams", {}, options)).status).not.toBe(307)
      expect((yield* get("/internal/replicas-of-mine", {}, options)).status).toBe(307)
    })
  )
})

describe("answers that hold secrets", () => {
  it.scopedLive("are stored by no cache", () =>
    Effect.gen(function* () {
      const stored = (path: string) => Effect.map(get(path), ({ headers }) => headers.get("cache-control"))
      const secret = [
        "users/login",
        "users/me/keys",
        "users/me/keys/tokens",
        "organizations/default/provisionerkeys",
        "workspaceproxies",
        "workspaceproxies/me/crypto-keys",
        "workspaceagents/me/gitsshkey",
        "workspaceagents/me/external-auth",
        "workspaceagents/aws-instance-identity",
        "workspaces/me/external-agent/main/credentials"
      ]
      for (const path of secret) expect([path, yield* stored(`/api/v2/${path}`)]).toEqual([path, "no-store"])
      for (const path of ["things", "users/me/keyboards", "workspaceagents/metadata"]) {
        expect([path, yield* stored(`/api/v2/${path}`)]).not.toEqual([path, "no-store"])
      }
    })
  )
})
