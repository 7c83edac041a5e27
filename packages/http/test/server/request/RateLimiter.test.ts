import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { Clock, Effect, Schema } from "effect"
import * as fc from "fast-check"
import { expect } from "vitest"
import { Limiter } from "../../../src/contract/annotations.js"
import { Authenticated } from "../../../src/contract/authentication.js"
import { refusals } from "../../../src/wire/errors.js"
import { Path } from "../../../src/wire/input.js"
import * as Handlers from "../../../src/handlers/Handlers.js"
import { CurrentRequest } from "../../../src/server/request/CurrentRequest.js"
import { makeWindow, network, RateLimiter } from "../../../src/server/request/RateLimiter.js"
import { memberToken, type Options, ownerToken, request, serve } from "../../TestServer.js"

const minute = 60_000

it.effect("apps have a higher limit of their own for each caller and app", () =>
  Effect.gen(function* () {
    const { take } = yield* RateLimiter
    const visitor = yield* CurrentRequest
    const isLet = (caller: typeof visitor, app: string): boolean => take("apps", caller, app) === undefined
    const first = { ...visitor, ip: "192.0.2.1" }
    let allowed = 0
    while (isLet(first, "one")) allowed++
    expect(allowed).toBe(30_000)
    expect(isLet(first, "two")).toBe(true)
    expect(isLet({ ...visitor, ip: "192.0.2.2" }, "one")).toBe(true)
    expect(take("api", first)).toBeUndefined()
  }).pipe(Effect.provide(RateLimiter.layer({ api: 1, disableAll: false })))
)

describe("the window", () => {
  it("lets `limit` calls through in a minute, and then as many as the last minute leaves", () => {
    const { count: take } = makeWindow(10)
    const allowed = (at: number, calls: number) => Array.from({ length: calls }, () => take("a", at)).filter((one) => one.allowed).length
    expect(allowed(0, 20)).toBe(10)
    expect(allowed(minute - 1, 1)).toBe(0)
    // Half of the first minute's ten still count
    expect(allowed(minute + 30_000, 20)).toBe(5)
    expect(allowed(3 * minute, 20)).toBe(10)
  })

  it("reports the rest and the end of the window", () => {
    const { count: take } = makeWindow(3)
    expect(take("a", 5 * minute + 1)).toEqual({ allowed: true, quota: { limit: 3, remaining: 2, reset: 360 } })
    take("a", 5 * minute + 2)
    expect(take("a", 5 * minute + 3).quota.remaining).toBe(0)
    expect(take("a", 5 * minute + 4)).toEqual({ allowed: false, quota: { limit: 3, remaining: 0, reset: 360 } })
    expect(take("b", 5 * minute + 4).allowed).toBe(true)
  })

  it("never admits more than the limit in one window, for any distribution of calls", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.integer({ min: 0, max: 3 * minute }), { maxLength: 200 }),
        (limit, times) => {
          const { count: take } = makeWindow(limit)
          const perWindow = new Map<number, number>()
          for (const at of times.toSorted((left, right) => left - right)) {
            const window = Math.floor(at / minute)
            if (take("a", at).allowed) perWindow.set(window, (perWindow.get(window) ?? 0) + 1)
          }
          expect(Math.max(0, ...perWindow.values())).toBeLessThanOrEqual(limit)
        }
      )
    )
  })

  it("holds a bounded number of callers", () => {
    const { count: take } = makeWindow(1)
    for (let caller = 0; caller < 60_000; caller++) take(`caller ${caller}`, 0)
    expect(take("caller 59999", 1).allowed).toBe(false)
    expect(take("caller 0", 1).allowed).toBe(true)
  })
})

describe("a caller's network", () => {
  it.each([
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:0DB8:0001:0002::1", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["", ""]
  ])("of %s is %s", (ip, expected) => expect(network(ip)).toBe(expected))
})

const ok = Schema.Struct({ ok: Schema.Boolean })
const things = HttpApiGroup.make("things")
  .add(HttpApiEndpoint.get("list", "/api/v2/things").addSuccess(ok))
  .add(HttpApiEndpoint.get("others", "/api/v2/others").addSuccess(ok))
  .add(HttpApiEndpoint.post("login", "/api/v2/users/login").addSuccess(ok).annotate(Limiter, "login"))
  .add(
    HttpApiEndpoint.put("password", "/api/v2/users/:user/password")
      .setPath(Path({ user: Schema.String }))
      .addSuccess(ok)
      .annotate(Limiter, "login")
  )
  .add(HttpApiEndpoint.post("file", "/api/v2/files").addSuccess(ok).annotate(Limiter, "files"))
  .add(HttpApiEndpoint.get("health", "/healthz").addSuccess(ok))
  .add(HttpApiEndpoint.get("me", "/api/v2/me").addSuccess(ok).middleware(Authenticated))

class Api extends HttpApi.make("limits")
  .add(things)
  .addError(refusals("Invalid", "TooLarge", "RequestTimeout", "TooManyRequests", "InternalError")) {}

const yes = () => Effect.succeed({ ok: true })
const handlers = Handlers.group(things, (handlers) =>
  handlers
    .handle("list", yes)
    .handle("others", yes)
    .handle("login", yes)
    .handle("password", yes)
    .handle("file", yes)
    .handle("health", yes)
    .handle("me", yes)
)

/** A clock that stands still, at ten seconds before a full minute. */
const stillClock: Clock.Clock = Object.assign(Clock.make(), {
  unsafeCurrentTimeMillis: () => 1_800_000_050_000 - (1_800_000_050_000 % minute) + 50_000
})

const start = (options: Options = {}) => serve(Api, handlers, { clock: stillClock, ...options })

describe("over HTTP", () => {
  const one: Options = { rateLimit: { api: 1, disableAll: false } }

  it.scopedLive("each caller has a limit for each path", () =>
    Effect.gen(function* () {
      const { url } = yield* start(one)
      const first = yield* request(`${url}/api/v2/things`)
      expect([first.status, first.headers.get("x-ratelimit-limit"), first.headers.get("x-ratelimit-remaining")]).toEqual([200, "1", "0"])
      expect(Number(first.headers.get("x-ratelimit-reset")) % 60).toBe(0)

      const second = yield* request(`${url}//api/v2///things?a=b`, { method: "POST" })
      expect([second.status, second.headers.get("retry-after")]).toEqual([429, "60"])
      expect(second.json()).toEqual({ message: expect.stringContaining("more than 1 requests in one minute") })

      expect((yield* request(`${url}/api/v2/others`)).status).toBe(200)
      expect((yield* request(`${url}/api/v2/things`, { headers: { "Service-Session-Token": memberToken } })).status).toBe(200)
      expect((yield* request(`${url}/api/v2/things`, { headers: { "Service-Session-Token": memberToken } })).status).toBe(429)
    })
  )

  it.scopedLive("a path counts as one however it is spelt", () =>
    Effect.gen(function* () {
      const { url } = yield* start(one)
      expect((yield* request(`${url}/api/v2/things`)).status).toBe(200)
      for (const path of ["/api/v2/thing%73", "/%61pi/v2/things", "//api/v2//things"]) {
        expect([path, (yield* request(url + path)).status]).toEqual([path, 429])
      }
    })
  )

  it.scopedLive("a caller tries passwords so often, whatever the path calls the user", () =>
    Effect.gen(function* () {
      const { url } = yield* start()
      const tried = (user: string) => request(`${url}/api/v2/users/${user}/password`, { method: "PUT" })
      const names = ["me", "ada", "%61da", "018f0000-0000-7000-8000-00000000000a"]
      const spellings = Array.from({ length: 64 }, (_, index) => `${names[index % 4]}`)
      const statuses = yield* Effect.forEach(spellings, (user) => Effect.map(tried(user), ({ status }) => status))
      expect(statuses).toEqual([...Array<number>(60).fill(200), 429, 429, 429, 429])
      expect((yield* request(`${url}/api/v2/users/login`, { method: "POST" })).status).toBe(200)
    })
  )

  it.scopedLive("outside of the API there is none", () =>
    Effect.gen(function* () {
      const { url } = yield* start(one)
      for (let count = 0; count < 3; count++) {
        const { headers, status } = yield* request(`${url}/healthz`)
        expect([status, headers.get("x-ratelimit-limit")]).toEqual([200, null])
      }
    })
  )

  it.scopedLive("the header of the bypass is for owners", () =>
    Effect.gen(function* () {
      const { url } = yield* start(one)
      const bypass = (token?: string, value = "true") =>
        request(`${url}/api/v2/things`, {
          headers: { "X-Service-Bypass-Ratelimit": value, ...(token === undefined ? {} : { "Service-Session-Token": token }) }
        })
      for (const value of ["true", "1", "T"]) expect((yield* bypass(ownerToken, value)).status).toBe(200)
      const { headers } = yield* bypass(ownerToken)
      expect(["limit", "remaining"].map((name) => headers.get(`x-ratelimit-${name}`))).toEqual(["1", "0"])
      const member = yield* bypass(memberToken, "1")
      expect([member.status, member.headers.get("content-type")]).toEqual([428, "application/json; charset=utf-8"])
      expect((yield* bypass(ownerToken, "yes")).status).toBe(200)
      expect((yield* bypass(ownerToken, "yes")).status).toBe(429)
      expect((yield* bypass()).status).toBe(200)
      expect((yield* bypass()).status).toBe(429)
    })
  )

  it.scopedLive.each([
    ["login", "/api/v2/users/login", 60],
    ["file", "/api/v2/files", 12]
  ] as const)("the %s limiter counts for itself and its headers win", ([, path, limit]) =>
    Effect.gen(function* () {
      const { url } = yield* start()
      for (let count = 1; count <= limit; count++) {
        const { headers, status } = yield* request(url + path, { method: "POST" })
        expect([status, headers.get("x-ratelimit-remaining")]).toEqual([200, String(limit - count)])
      }
      const { headers, status } = yield* request(url + path, { method: "POST" })
      expect([status, headers.get("x-ratelimit-limit"), headers.get("retry-after")]).toEqual([429, String(limit), "60"])
    })
  )

  it.scopedLive("all of them can be switched off", () =>
    Effect.gen(function* () {
      const { url } = yield* start({ rateLimit: { api: 1, disableAll: true } })
      for (let count = 0; count < 20; count++) expect((yield* request(`${url}/api/v2/files`, { method: "POST" })).status).toBe(200)
    })
  )

  it.scopedLive("clients behind a trusted proxy are told apart", () =>
    Effect.gen(function* () {
      const { url } = yield* start({ ...one, trustedProxies: { origins: ["127.0.0.0/8"], headers: ["X-Forwarded-For"] } })
      const from = (address: string) => request(`${url}/api/v2/things`, { headers: { "x-forwarded-for": address } })
      expect((yield* from("192.0.2.1")).status).toBe(200)
      expect((yield* from("192.0.2.2")).status).toBe(200)
      expect((yield* from("192.0.2.1")).status).toBe(429)
    })
  )
})
