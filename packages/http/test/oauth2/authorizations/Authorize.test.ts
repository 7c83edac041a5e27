import { Schema } from "effect"
import fc from "fast-check"
import { expect, it } from "vitest"
import { describeInterface, ownerPassword, type Person, type TestServer } from "../../../../../test/http/server.js"
import { webUrl } from "../../../../../test/records/webUrl.js"
import {
  aClient,
  aVerifier,
  authorizePath,
  authorizeQuery,
  broughtBack,
  callback,
  type Client,
  type Fields,
  refusal
} from "../OAuthClient.js"

const { challenge } = aVerifier()
const html = { accept: "text/html,application/xhtml+xml" }

const ask = (server: TestServer, query: Fields, { token }: Pick<Person, "token">, headers: Fields = {}) =>
  server.call("GET", authorizePath(query), { token, headers })

const consent = (server: TestServer, query: Fields, { token }: Pick<Person, "token">, headers: Fields = {}) =>
  server.call("POST", authorizePath(query), { token, headers })

const field = (page: string, name: string): string => new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? ""

describeInterface("an authorization request", (server) => {
  it("without a session leads to the login and back", async () => {
    const client = await aClient(server())
    const query = authorizeQuery(client, challenge)
    for (const [method, prefix] of [
      ["GET", ""],
      ["POST", ""],
      ["GET", "/api/v2"]
    ] as const) {
      const path = authorizePath(query).slice(1)
      const answer = await server().call(method, `/${prefix}${path}`)
      expect(answer.status).toBe(303)
      const login = new URL(answer.headers.get("location") ?? "", "http://atelier.test")
      expect([login.pathname, login.searchParams.get("redirect")]).toStrictEqual(["/login", `${prefix}${path}`])
      expect(login.searchParams.get("message")).not.toBe("")
    }
  })

  it("shows who asks for what, and where the answer goes", async () => {
    const client = await aClient(server())
    const member = await server().aMember()
    const answer = await ask(server(), authorizeQuery(client, challenge, { scope: "workspace:read" }), member, html)
    expect([answer.status, answer.headers.get("content-type")]).toStrictEqual([200, "text/html; charset=utf-8"])
    const policy = answer.headers.get("content-security-policy") ?? ""
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("form-action 'self' https://client.example;")
    expect(policy).not.toContain("unsafe")
    expect(["x-frame-options", "referrer-policy", "cache-control", "pragma"].map((name) => answer.headers.get(name))).toStrictEqual([
      "DENY",
      "same-origin",
      "no-store",
      "no-cache"
    ])
    for (const shown of ["editor", member.user.username, "client.example", "<li>See your workspaces</li>"])
      expect(answer.text).toContain(shown)
    expect(field(answer.text, "csrf_token")).not.toBe("")
    expect(answer.text).not.toContain("<script")
    const cancel = new URL((/<a [^>]*href="([^"]+)"/.exec(answer.text)?.[1] ?? "").replaceAll("&amp;", "&"))
    expect([
      cancel.origin,
      cancel.searchParams.get("error"),
      cancel.searchParams.get("state"),
      cancel.searchParams.get("iss")
    ]).toStrictEqual(["https://client.example", "access_denied", "some state", "http://atelier.test"])
  })

  it("is answered with a code, the state and the issuer, beside the callback's own query", async () => {
    const client = await aClient(server(), "https://client.example/callback?window=1")
    const answer = await consent(server(), authorizeQuery(client, challenge, { state: "a b&c=d" }), await server().aMember())
    const parameters = broughtBack(answer)
    expect(Object.fromEntries(parameters)).toStrictEqual({
      window: "1",
      code: expect.stringMatching(/^service_[A-Za-z0-9]{10}_[A-Za-z0-9]{40}$/),
      state: "a b&c=d",
      iss: "http://atelier.test"
    })
    expect(answer.headers.get("cache-control")).toBe("no-store")
  })

  it("of a browser needs the token of the form", async () => {
    const client = await aClient(server())
    const { token } = await server().aMember()
    const path = authorizePath(authorizeQuery(client, challenge))
    const session = `service_session_token=${token}`
    const page = await server().call("GET", path, { headers: { cookie: session, ...html } })
    const csrfCookie = /csrf_token=([^;]+)/.exec(page.headers.get("set-cookie") ?? "")?.[0] ?? ""
    const form = (csrf_token: string, more: Fields = {}) =>
      server().call("POST", path, {
        headers: { cookie: `${session}; ${csrfCookie}`, "content-type": "application/x-www-form-urlencoded", ...more },
        body: new URLSearchParams({ csrf_token }).toString()
      })
    const given = field(page.text, "csrf_token")
    const refused = [await form(""), await form(`${given.slice(0, -4)}AAA=`), await form(given, { origin: "https://evil.example" })]
    refused.push(await form(given, { referer: "https://evil.example/page" }))
    // A page that sends no referrer names its origin as null
    for (const hidden of [{}, { "sec-fetch-site": "same-site" }, { "sec-fetch-site": "cross-site" }])
      refused.push(await form(given, { origin: "null", ...hidden }))
    refused.push(await form(given, { "sec-fetch-site": "same-site" }))
    expect(refused.map(({ headers, status }) => [status, headers.get("location")])).toStrictEqual(refused.map(() => [400, null]))
    expect(refused[0]?.headers.get("content-type")).toMatch(/^text\/plain/)
    for (const origin of [{}, { origin: "null", "sec-fetch-site": "same-origin" }, { origin: "http://atelier.test" }]) {
      expect(broughtBack(await form(given, origin)).get("code")).not.toBeNull()
    }
    // The pages of one browser have different masks of one token
    const again = await server().call("GET", path, { headers: { cookie: `${session}; ${csrfCookie}`, ...html } })
    expect(field(again.text, "csrf_token")).not.toBe(given)
    expect(broughtBack(await form(field(again.text, "csrf_token"))).get("code")).not.toBeNull()
  })

  it.each<readonly [string, Fields, string]>([
    ["without a challenge", { code_challenge: "" }, "invalid_request"],
    ["with a short challenge", { code_challenge: "a".repeat(42) }, "invalid_request"],
    ["with the method plain", { code_challenge_method: "plain" }, "invalid_request"],
    ["with an unknown method", { code_challenge_method: "S512" }, "invalid_request"],
    ["without a response type", { response_type: "" }, "invalid_request"],
    ["for a token", { response_type: "token", code_challenge: "" }, "unsupported_response_type"],
    ["for a resource with a fragment", { resource: "http://atelier.test/#a" }, "invalid_request"]
  ])("%s is refused to the client", async (_, fields, error) => {
    const client = await aClient(server())
    const member = await server().aMember()
    const query = authorizeQuery(client, challenge, fields)
    const posted = await consent(server(), query, member)
    expect([...refusal(posted), posted.headers.get("location")]).toStrictEqual([400, error, null])
    if (error === "invalid_request") expect(posted.text).toContain("Invalid query params:")
    const back = broughtBack(await ask(server(), query, member, html))
    expect([back.get("error"), back.get("state"), back.get("iss"), back.get("code")]).toStrictEqual([
      error,
      "some state",
      "http://atelier.test",
      null
    ])
  })

  it("without a challenge method means S256, and ignores unknown parameters", async () => {
    const client = await aClient(server())
    const query = authorizeQuery(client, challenge, { code_challenge_method: "", nonce: "x", prompt: "consent" })
    expect(broughtBack(await consent(server(), query, await server().aMember())).get("code")).not.toBeNull()
  })

  it("is answered in the fragment if it asks so, and in no unknown mode", async () => {
    const client = await aClient(server())
    const member = await server().aMember()
    const inFragment = authorizeQuery(client, challenge, { response_mode: "fragment" })
    const answer = new URL((await consent(server(), inFragment, member)).headers.get("location") ?? "")
    const parameters = new URLSearchParams(answer.hash.slice(1))
    expect([answer.search, parameters.get("state"), parameters.get("code") === null]).toStrictEqual(["", "some state", false])
    const denied = /<a [^>]*href="([^"]+)"/.exec((await ask(server(), inFragment, member, html)).text)?.[1]
    expect(denied).toContain("/callback#error=access_denied")
    const refused = await ask(server(), { ...inFragment, code_challenge: "short" }, member)
    expect(new URL(refused.headers.get("location") ?? "").hash).toContain("error=invalid_request")
    const unknown = await ask(server(), authorizeQuery(client, challenge, { response_mode: "form_post" }), member)
    expect(broughtBack(unknown).get("error")).toBe("invalid_request")
  })

  it("that must show nothing is refused with what it would have to show", async () => {
    const client = await aClient(server())
    const member = await server().aMember()
    const query = authorizeQuery(client, challenge, { prompt: "none" })
    const anonymous = await server().call("GET", authorizePath(query), { headers: html })
    expect(broughtBack(anonymous).get("error")).toBe("login_required")
    expect(broughtBack(await ask(server(), query, member, html)).get("error")).toBe("consent_required")
    expect(refusal(await consent(server(), query, member))).toStrictEqual([400, "consent_required"])
    for (const prompt of ["none login", "create"]) {
      expect(broughtBack(await ask(server(), { ...query, prompt }, member)).get("error")).toBe("invalid_request")
    }
    // An address that is not the client's learns nothing
    const elsewhere = { ...query, redirect_uri: "https://evil.example" }
    expect((await server().call("GET", authorizePath(elsewhere), { headers: html })).headers.get("location")).toMatch(/^\/login/)
  })

  it.each(["login", "select_account consent"])("with the prompt %s needs another sign-in", async (prompt) => {
    const client = await aClient(server())
    const owner = server().owner()
    const query = authorizeQuery(client, challenge, { prompt })
    const first = await ask(server(), query, owner, html)
    const login = new URL(first.headers.get("location") ?? "", "http://atelier.test")
    expect([first.status, login.pathname, login.searchParams.get("prompt")]).toStrictEqual([303, "/login", "login"])
    // The page asks, although the browser has a session
    expect((await server().call("GET", `/${login.pathname}${login.search}`, { token: owner.token, headers: html })).status).toBe(200)
    const back = `/${login.searchParams.get("redirect")}`
    const cookie = first.headers
      .getSetCookie()
      .flatMap((line) => (line.startsWith("oauth_former_session=") ? line.split(";", 1) : []))
      .join()
    const returning = { ...html, cookie }
    expect((await server().call("GET", back, { token: owner.token, headers: returning })).status).toBe(303)
    const body = { email: "owner@example.com", password: ownerPassword }
    const session = (await server().call("POST", "/users/login", { body })).as(Schema.Struct({ session_token: Schema.String }))
    const token = session.session_token
    // An address that names another session is the client's word, and so is another request
    expect((await server().call("GET", `${back}&former_session=x`, { token, headers: html })).status).toBe(303)
    expect((await server().call("GET", `${back}&nonce=x`, { token, headers: returning })).status).toBe(303)
    expect((await server().call("GET", back, { token, headers: returning })).text).toContain("editor")
    expect(broughtBack(await server().call("POST", back, { token, headers: { cookie } })).get("code")).not.toBeNull()
    expect(refusal(await consent(server(), query, owner))[1]).toMatch(/^(?:login|account_selection)_required$/)
  })

  it("with a parameter given twice is refused", async () => {
    const client = await aClient(server())
    const { token } = await server().aMember()
    const path = authorizePath(authorizeQuery(client, challenge))
    expect(refusal(await server().call("POST", `${path}&state=other`, { token }))).toStrictEqual([400, "invalid_request"])
    const target = await server().call("GET", `${path}&redirect_uri=${callback}&redirect_uri=${callback}`, { token })
    expect([target.status, target.headers.get("location")]).toStrictEqual([400, null])
  })

  it("of an unknown client is a page for browsers and an error for programs", async () => {
    const { token } = await server().aMember()
    for (const client_id of ["unknown", "0d4e1d3c-0000-7000-8000-000000000001"]) {
      const query = authorizeQuery({ client_id }, challenge)
      const answer = await ask(server(), query, { token })
      expect([...refusal(answer), answer.headers.get("www-authenticate")]).toStrictEqual([401, "invalid_client", 'Basic realm="service"'])
      const page = await ask(server(), query, { token }, html)
      expect([page.status, page.headers.get("content-type"), page.headers.get("location")]).toStrictEqual([
        401,
        "text/html; charset=utf-8",
        null
      ])
    }
    expect(refusal(await ask(server(), authorizeQuery({ client_id: "" }, challenge), { token }))).toStrictEqual([400, "invalid_request"])
  })
})

describeInterface("the redirect URI", (server) => {
  const locationOf = async (client: Client, redirect_uri: string, person: Person) => {
    const query = authorizeQuery(client, challenge, { redirect_uri })
    const answers = [await ask(server(), query, person, html), await consent(server(), query, person, html)]
    answers.push(await consent(server(), query, person))
    for (const { headers, status } of answers) if (headers.get("location") === null) expect(status).toBeLessThan(500)
    return answers.map(({ headers, status }) => [status, headers.get("location")])
  }

  it.each([
    "https://client.example:8443/callback",
    "https://other.example/callback",
    "https://sub.client.example/callback",
    "http://client.example/callback",
    "https://client.example/callback/nested",
    "https://client.example/",
    "https://client.example/callback/",
    "https://client.example/callback?x=1",
    "https://client.example/callback#part",
    "https://client.example@evil.example/callback",
    "%zz",
    "//client.example/callback",
    "javascript:alert(1)",
    "https://client.example\\@evil.example/callback"
  ])("%s is not that of the client", async (redirect_uri) => {
    const client = await aClient(server())
    expect(await locationOf(client, redirect_uri, server().owner())).toStrictEqual([
      [400, null],
      [400, null],
      [400, null]
    ])
  })

  it("that is broken by its encoding is an error page", async () => {
    const client = await aClient(server())
    const { token } = server().owner()
    const answer = await server().call("GET", `${authorizePath(authorizeQuery(client, challenge))}&redirect_uri=%zz`, { token })
    expect([answer.status, answer.headers.get("location")]).toStrictEqual([400, null])
  })

  it("of a loopback host may have any port", async () => {
    const client = await aClient(server(), "http://127.0.0.1:1234/callback")
    const query = authorizeQuery(client, challenge, { redirect_uri: "http://127.0.0.1:51004/callback" })
    const answer = await consent(server(), query, server().owner())
    expect(answer.headers.get("location")).toMatch(/^http:\/\/127\.0\.0\.1:51004\/callback\?code=/)
    const other = authorizeQuery(client, challenge, { redirect_uri: "http://localhost:1234/callback" })
    expect((await consent(server(), other, server().owner())).status).toBe(400)
  })

  it("leads nowhere but to a registered host, whatever it is", async () => {
    const client = await aClient(server())
    const owner = server().owner()
    const hostile = fc.oneof(
      webUrl,
      fc.string({ maxLength: 60 }),
      fc
        .tuple(fc.constantFrom("https://client.example", callback, "//", "\\\\", "https:", "javascript:"), fc.string({ maxLength: 20 }))
        .map((parts) => parts.join("")),
      fc.tuple(fc.string({ maxLength: 10 }), fc.constant(callback)).map((parts) => parts.join(""))
    )
    await fc.assert(
      fc.asyncProperty(hostile, async (redirect_uri) => {
        for (const [status, location] of await locationOf(client, redirect_uri, owner)) {
          expect(status).not.toBe(500)
          if (typeof location === "string") expect(new URL(location).href).toMatch(/^https:\/\/client\.example\/callback\?/)
        }
      }),
      { numRuns: 60 }
    )
  })
})
