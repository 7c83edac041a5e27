/** What holds for every operation, asked of the whole service. identity.md §1. */
import { HttpApi } from "@effect/platform"
import { ApiKeyRepository, UserRepository } from "@atelier/core/identity"
import { Clock, Context, Effect } from "effect"
import { describe, expect, it } from "vitest"
import { describeInterface, type TestServer } from "../../../../test/http/server.js"
import { Limiter } from "../../src/contract/annotations.js"
import { Contract } from "../../src/contract/Contract.js"
import { exchange } from "../TestServer.js"

/** Limits of a minute need one that does not end. */
const stillClock = (): Clock.Clock => {
  const live = Clock.make()
  const now = Math.floor(Date.now() / 60_000) * 60_000 + 1_000
  return {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: () => now,
    unsafeCurrentTimeNanos: () => live.unsafeCurrentTimeNanos(),
    currentTimeMillis: Effect.succeed(now),
    currentTimeNanos: live.currentTimeNanos,
    sleep: (duration) => live.sleep(duration)
  }
}

const someId = "018f0000-0000-7000-8000-000000000001"

const options = (server: TestServer, path: string, headers: Record<string, string> = {}) =>
  fetch(`${server.url}${path}`, { method: "OPTIONS", headers })

describeInterface("every answer of the service", (server) => {
  it("has the common headers of every answer", async () => {
    const { token } = await server().aMember()
    const answers = await Promise.all([
      server().call("GET", "/users/me", { token, headers: { "accept-encoding": "gzip, br" } }),
      server().call("GET", "/users/me"),
      server().call("GET", "/users/nobody", { token }),
      server().call("GET", "/nowhere"),
      server().call("PUT", "/buildinfo"),
      server().call("POST", "/users/login", { body: "{" }),
      server().call("POST", "/users/login", { body: "x".repeat(4 * 1024 * 1024 + 1) }),
      server().call("POST", "/users/me/keys", { headers: { cookie: `service_session_token=${token}` } }),
      server().call("GET", "//healthz")
    ])
    expect(answers.map(({ status }) => status)).toStrictEqual([200, 401, 404, 404, 405, 400, 413, 400, 200])
    for (const { headers } of answers) {
      expect(headers.get("x-service-request-id")).toMatch(/^[0-9a-f-]{36}$/)
      expect(headers.get("x-service-build-version")).toMatch(/^v\d/)
      expect(headers.get("x-content-type-options")).toBe("nosniff")
      expect(headers.get("vary")).toBe("Origin, Cookie")
      expect(headers.get("set-cookie")).toMatch(/^csrf_token=/)
      for (const name of ["content-encoding", "strict-transport-security", "content-security-policy", "x-powered-by"]) {
        expect(headers.get(name)).toBeNull()
      }
    }
    expect(new Set(answers.map(({ headers }) => headers.get("x-service-request-id"))).size).toBe(answers.length)
  })

  it("counts as a use of its credential, on public routes too", async () => {
    const { token, user } = await server().aMember({ status: "dormant" })
    expect((await server().call("GET", "/auth/scopes", { token: `${token.slice(0, 11)}${"x".repeat(22)}` })).status).toBe(200)
    const stored = () =>
      server().run(
        Effect.all({
          key: Effect.flatMap(ApiKeyRepository, ({ byId }) => Effect.flatten(byId(token.slice(0, 10)))),
          user: Effect.flatMap(UserRepository, ({ byId }) => Effect.flatten(byId(user.id)))
        })
      )
    const before = await stored()
    expect([before.key.last_used, before.user.status]).toStrictEqual(["1970-01-01T00:00:00.000Z", "dormant"])
    expect((await server().call("GET", "/auth/scopes", { token })).status).toBe(200)
    const after = await stored()
    expect([after.key.last_used > after.key.created_at, after.user.status, after.user.last_seen_at]).toStrictEqual([
      true,
      "active",
      after.key.last_used
    ])
  })
})

describeInterface("a query of which every parameter has to be known", (server) => {
  it.each([
    `/users/me/autofill-parameters?template_id=${someId}`,
    "/organizations/default/provisionerjobs?limit=1",
    "/organizations/default/provisionerdaemons?limit=1"
  ])("may carry the credential: %s", async (path) => {
    const { token } = server().owner()
    const credential = `service_session_token=${token}`
    expect(await server().call("GET", `${path}&${credential}`)).toMatchObject({ status: 200 })
    // A parameter that another credential overrides does not reach the operation either
    expect(await server().call("GET", `${path}&${credential}`, { headers: { cookie: credential } })).toMatchObject({ status: 200 })
    const refused = await server().call("GET", `${path}&${credential}&session_token=${token}`)
    expect(refused).toMatchObject({ status: 400, body: { validations: [{ field: "session_token" }] } })
  })
})

describeInterface("a malformed request", (server) => {
  it.each([
    ["PATCH", `/templates/${someId}/versions`, "{}", 404],
    ["PATCH", `/templates/${someId}/versions`, "{", 404],
    ["PATCH", "/templates/x/versions", "{", 400],
    ["GET", `/templates/${someId}/versions?limit=x`, undefined, 404],
    ["POST", `/workspaces/${someId}/builds`, "{}", 404],
    ["PUT", "/users/nobody/profile", "{", 404],
    ["PUT", "/users/me/profile", "{", 400],
    ["GET", "/organizations/nowhere/provisionerjobs/x", undefined, 404],
    ["GET", "/organizations/default/provisionerjobs/x", undefined, 400],
    ["POST", "/organizations/nowhere/groups", "{", 404],
    ["PATCH", `/tasks/me/${someId}/input`, "{}", 404],
    ["POST", "/tasks/nobody", "{}", 404],
    ["PUT", "/organizations/default/members/nobody/roles", "{", 404]
  ] as const)("is refused after what its path does not find: %s %s %s", async (method, path, body, status) => {
    const answer = await server().call(method, path, { token: server().owner().token, ...(body === undefined ? {} : { body }) })
    expect(answer.status).toBe(status)
  })
})

describeInterface("paths and methods", (server) => {
  // A user may be called "first" or "login": both are paths of users too
  it.each([
    ["HEAD", "/users/first", "DELETE, GET, POST"],
    ["HEAD", "/users/me", "DELETE, GET"],
    ["PUT", "/users/first", "DELETE, GET, POST"],
    ["DELETE", "/auth/scopes", "GET"],
    ["GET", `/users/me/keys/abcdefghij/expire`, "PUT"],
    ["PATCH", "/users/login", "DELETE, GET, POST"],
    // Templates have ids, and "examples" is not an id
    ["PUT", "/templates/examples", "GET"],
    ["PUT", "/templates/nonsense", "DELETE, GET, PATCH"]
  ] as const)("%s %s is refused with the methods there are", async (method, path, allow) => {
    const answer = await server().call(method, path, server().owner())
    const body = method === "HEAD" ? undefined : { message: expect.any(String) }
    expect([answer.status, answer.headers.get("allow"), answer.body]).toStrictEqual([405, allow, body])
  })

  it.each([
    ["GET", "/nowhere", 404],
    ["GET", "//api/experimental/nowhere", 404],
    ["GET", "//scim/v2/nowhere", 404],
    ["GET", "/deployment/nowhere", 401],
    ["GET", "/deployment", 401],
    ["GET", "/organizations/default/nowhere", 401],
    ["POST", "/deployment/config", 401],
    ["DELETE", "/auth/scopes", 405],
    // A user may be called "login"
    ["PATCH", "/users/login", 401],
    ["PUT", "/users", 405],
    ["POST", "/workspaceagents/me/nowhere", 401],
    ["GET", `/workspaceagents/${someId}/nowhere`, 401],
    ["PATCH", "/workspaceagents/aws-instance-identity", 401],
    ["GET", "/workspaceproxies/me/nowhere", 404],
    ["GET", "/debug/nowhere", 401]
  ] as const)("%s %s without a session is %i", async (method, path, status) => {
    const answer = await server().call(method, path)
    expect([answer.status, answer.headers.has("allow")]).toStrictEqual([status, status === 405])
  })

  it("are told below /debug to readers of debug information alone", async () => {
    const { token } = await server().aMember()
    const answers = [
      await server().call("GET", "/debug/nowhere", { token }),
      await server().call("POST", "/debug/health", { token }),
      await server().call("GET", "/debug/nowhere", server().owner()),
      await server().call("POST", "/debug/health", server().owner())
    ]
    expect(answers.map(({ status }) => status)).toStrictEqual([403, 403, 404, 405])
  })

  it("OPTIONS is refused so too unless it asks before a call from another site", async () => {
    const plain = await options(server(), "/api/v2/buildinfo", { origin: "https://evil.test" })
    expect([plain.status, plain.headers.get("allow"), await plain.json()]).toStrictEqual([405, "GET", { message: expect.any(String) }])
    expect((await options(server(), "/api/v2/nowhere")).status).toBe(404)
  })

  it.each([
    ["GET", "/users/", 200],
    ["GET", "/users/me/", 200],
    ["POST", "/users/me/keys/", 201],
    ["GET", "/users/me/keys/tokens/", 200],
    ["GET", "/users/me/keys/{key}/", 200],
    ["PUT", "/users/me/password/", 400],
    ["GET", "/users/me/secrets/", 200],
    ["GET", "/users/me/organizations/", 200],
    ["GET", "/users/me/quiet-hours/", 200],
    ["POST", "/users/login/", 404],
    ["GET", "/users/first/", 404],
    ["PUT", "/users/me/profile/", 404],
    ["GET", "/auth/scopes/", 404],
    ["GET", "/users/authmethods/", 404],
    ["PUT", "/users/me/keys/{key}/expire/", 404],
    ["POST", "/users/logout/", 404]
  ] as const)("%s %s is answered %i: a slash at the end belongs to collections and trees", async (method, path, status) => {
    const { token } = await server().aMember()
    const answer = await server().call(method, path.replace("{key}", token.slice(0, 10)), {
      token,
      ...(method === "GET" ? {} : { body: {} })
    })
    expect(answer.status).toBe(status)
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8")
  })

  it("slashes count once, and dots are no way around", async () => {
    const { token } = await server().aMember()
    const status = async (path: string) => {
      const { port } = new URL(server().url)
      const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nService-Session-Token: ${token}\r\n\r\n`
      return (await Effect.runPromise(exchange(Number(port), head))).slice(9, 12)
    }
    expect(await status("//api///v2//users//me")).toBe("200")
    expect(await status("/api/v2/./users/me")).toBe("404")
    expect(await status("/api/v2/users/x/../me")).toBe("404")
    expect(await status("/api/v2/users/%2e%2e/users/me")).toBe("404")
  })

  it("paths show nothing about which users exist", async () => {
    const member = await server().aMember()
    for (const user of [server().owner().user.id, "owner", "nobody", someId]) {
      expect((await server().call("GET", `/users/${user}`)).status).toBe(401)
      expect((await server().call("PUT", `/users/${user}/profile`, { body: "{" })).status).toBe(401)
    }
    const refused = await Promise.all(
      [server().owner().user.id, "owner", "nobody", someId, "a b", "x@y.z"].map((user) =>
        server().call("GET", `/users/${encodeURIComponent(user)}`, { token: member.token })
      )
    )
    expect(new Set(refused.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(refused[0]?.status).toBe(404)
  })
})

describeInterface("calls from other sites", (server) => {
  const preflight = (path: string) =>
    options(server(), path, { origin: "https://evil.test", "access-control-request-method": "PUT", cookie: "service_session_token=x" })

  it("are asked about with 200 and nothing else, wherever they go", async () => {
    for (const path of ["/api/v2/users/me/password", "/api/v2/users/me", "/api/v2/nowhere", "/healthz", "/"]) {
      const answer = await preflight(path)
      expect([path, answer.status, await answer.text()]).toStrictEqual([path, 200, ""])
      expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control-"))).toStrictEqual([])
      expect(answer.headers.get("vary")).toBe("Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
      expect([answer.headers.get("x-ratelimit-limit"), answer.headers.get("www-authenticate")]).toStrictEqual([null, null])
    }
  })

  it.each([
    "/oauth2/tokens",
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-protected-resource",
    "/api/experimental/mcp/http"
  ])("may be made to %s, without credentials", async (path) => {
    const { headers } = await preflight(path)
    const listed = (name: string) => headers.get(`access-control-allow-${name}`)?.split(", ").toSorted()
    expect(listed("origin")).toStrictEqual(["*"])
    expect(listed("methods")).toStrictEqual(expect.arrayContaining(["DELETE", "GET", "OPTIONS", "POST"]))
    expect(listed("headers")).toStrictEqual(
      ["Content-Type", "Accept", "Authorization", "DPoP", "x-api-key", "Mcp-Session-Id", "MCP-Protocol-Version", "Last-Event-ID"].toSorted()
    )
    expect([headers.get("access-control-max-age"), headers.get("access-control-allow-credentials")]).toStrictEqual(["86400", null])
  })
})

describeInterface("forged calls", (server) => {
  it("are refused for every unsafe method, before objects are looked up", async () => {
    const { token } = await server().aMember()
    const cookie = `service_session_token=${token}`
    for (const [method, path] of [
      ["POST", "/users/me/keys"],
      ["PUT", "/users/me/profile"],
      ["PATCH", `/users/me/secrets/${someId}`],
      ["DELETE", "/users/me"],
      ["POST", "/nowhere"]
    ] as const) {
      const { body, status } = await server().call(method, path, { headers: { cookie } })
      expect([path, status, body]).toMatchObject([path, 400, { message: expect.stringContaining("cookie") }])
    }
    expect((await server().call("GET", "/users/me", { token })).status).toBe(200)
  })

  it("are not those of provisioner daemons, nor of clients that know the session", async () => {
    const { token } = await server().aMember()
    const cookie = `service_session_token=${token}`
    const post = async (headers: Record<string, string>, query = "") =>
      (await server().call("POST", `/users/me/keys${query}`, { headers: { cookie, ...headers } })).status
    expect(await post({ "service-provisioner-daemon-psk": "x" })).toBe(201)
    expect(await post({ "service-provisioner-daemon-key": "x" })).toBe(201)
    expect(await post({ authorization: "Bearer x" })).toBe(201)
    expect(await post({ authorization: "Basic x" })).toBe(400)
    expect(await post({ "service-session-token": token })).toBe(201)
    expect(await post({ "service-session-token": `${token}x` })).toBe(400)
    expect(await post({}, `?service_session_token=${token}`)).toBe(201)
    expect(await post({}, "?service_session_token=x")).toBe(400)
  })
})

describeInterface(
  "the limits of rates",
  (server) => {
    it("are shared by the spellings of a path, also with a slash behind it", async () => {
      const { token } = await server().aMember()
      const left = async (path: string) => Number((await server().call("GET", path, { token })).headers.get("x-ratelimit-remaining"))
      const first = await left("/users")
      expect(await left("/users/")).toBe(first - 1)
      expect(await left("//api//v2//users?limit=1")).toBe(first - 2)
      expect(await left("/users/me")).toBe(first)
    })

    it("of logins end with the 61st from one address, and not for owners who say so", async () => {
      const status = async (token?: string) =>
        server().call("POST", "/users/validate-password", {
          body: { password: "x" },
          headers: { "x-service-bypass-ratelimit": "true" },
          ...(token === undefined ? {} : { token })
        })
      const statuses: Array<number> = []
      for (let count = 0; count < 60; count++) statuses.push((await status()).status)
      expect(new Set(statuses)).toStrictEqual(new Set([200]))
      const { headers, status: refused } = await status()
      const said = ["retry-after", "x-ratelimit-limit", "x-ratelimit-remaining"].map((name) => headers.get(name))
      expect([refused, ...said]).toStrictEqual([429, "60", "60", "0"])
      expect((await status(server().owner().token)).status).toBe(200)
      const member = await status((await server().aMember()).token)
      expect([member.status, member.body]).toStrictEqual([428, { message: "Only owners may bypass the rate limit." }])
    })

    it("count per user with a valid credential, and per address otherwise", async () => {
      const { token } = await server().aMember()
      const left = async (sent?: string) =>
        (await server().call("GET", "/auth/scopes", sent === undefined ? {} : { token: sent })).headers.get("x-ratelimit-remaining")
      expect(await left(token)).toBe("511")
      expect(await left()).toBe("511")
      expect(await left(`${token.slice(0, 11)}${"x".repeat(22)}`)).toBe("510")
      expect(await left(token)).toBe("510")
    })
  },
  { options: { dangerousDisableRateLimits: false }, clock: stillClock() }
)

describe("the limiter of logins", () => {
  it("counts only attempts with passwords and codes", () => {
    const limited: Array<string> = []
    HttpApi.reflect(Contract, {
      onGroup: () => {},
      onEndpoint: ({ endpoint: { annotations, method, path } }) => {
        if (Context.get(annotations, Limiter) === "login") limited.push(`${method} ${path.replace("/api/v2/", "")}`)
      }
    })
    expect(limited.toSorted()).toStrictEqual([
      "GET users/oauth2/github/callback",
      "GET users/oauth2/github/device",
      "GET users/oidc/callback",
      // Which the specification leaves out: it takes a password too
      "POST users/:user/convert-login",
      "POST users/login",
      "POST users/otp/change-password",
      "POST users/otp/request",
      "POST users/validate-password",
      "PUT users/:user/password"
    ])
  })
})

const warned: { texts: ReadonlyArray<string>; answer: () => ReadonlyArray<string> } = { texts: [], answer: () => warned.texts }

describeInterface(
  "the warnings of a license",
  (server) => {
    it("are sent to readers of the deployment's configuration, one line each", async () => {
      const header = async (token?: string, path = "/users/me") =>
        (await server().call("GET", path, token === undefined ? {} : { token })).headers.get("x-service-entitlements-warning")
      const { token } = server().owner()
      warned.texts = []
      expect(await header(token)).toBeNull()
      expect((await server().call("GET", "/users/me", { token })).headers.get("x-authz-checks")).toBeNull()
      warned.texts = ["Your license expires in 3 days.", "Too many users:\r\nX-Injected: 1 \u{1f600}", ""]
      expect(await header(token)).toBe("Your license expires in 3 days., Too many users: X-Injected: 1")
      expect(await header((await server().aMember()).token)).toBeNull()
      expect(await header(undefined, "/users/first")).toBeNull()
      const { port } = new URL(server().url)
      const head = `GET /api/v2/users/me HTTP/1.1\r\nHost: x\r\nService-Session-Token: ${token}\r\n\r\n`
      const lines = (await Effect.runPromise(exchange(Number(port), head))).split("\r\n")
      expect(lines.filter((line) => /^x-service-entitlements-warning:/i.test(line))).toHaveLength(2)
    })

    it("do not prevent answers if the host fails", async () => {
      const { token } = server().owner()
      const fail = (): never => {
        throw new Error("the license server is away")
      }
      for (const answer of [
        fail,
        (): ReadonlyArray<string> => JSON.parse('{"a":1}'),
        () => JSON.parse('[{"a":1},null]'),
        () => JSON.parse("null")
      ]) {
        warned.answer = answer
        const { headers, status } = await server().call("GET", "/users/me", { token })
        expect([status, headers.get("x-service-entitlements-warning")]).toStrictEqual([200, null])
      }
      warned.texts = ["It is back."]
      warned.answer = () => warned.texts
      const { headers } = await server().call("GET", "/users/me", { token })
      expect(headers.get("x-service-entitlements-warning")).toBe("It is back.")
    })
  },
  { entitlements: { has: () => false, warnings: () => warned.answer() } }
)

describeInterface(
  "the permission checks behind a response",
  (server) => {
    const checks = async (path: string, token?: string) =>
      (await server().call("GET", path, token === undefined ? {} : { token })).headers.get("x-authz-checks")

    it("are listed where the deployment says so", async () => {
      const { token, user } = await server().aMember()
      const other = await server().aMember()
      expect(await checks("/users/me", token)).toContain(`owner:${user.id}::id:${user.id}::user.read=true`)
      expect(await checks(`/users/${other.user.id}`, token)).toBe(`owner:${other.user.id}::id:${other.user.id}::user.read=false`)
      expect(await checks("/users/first")).toBe("nil")
      expect(await checks("/nowhere")).toBe("nil")
    })
  },
  { options: { enableAuthzRecordings: true } }
)
