import { Background } from "@atelier/core/platform"
import { Effect, Schedule, Schema } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { type Browser, type Page } from "../../../../../test/outside/browser.js"
import { sqlite } from "../../../../../test/store/databases.js"
import { browserOf, callbackOf, origin, sessionOf } from "../../../../../test/outside/hostLogins.js"
import {
  anAccount,
  aSigningKey,
  clientId,
  clientSecret,
  type OidcServer,
  startOidc,
  throughProvider,
  type TokenAnswer
} from "../../../../../test/outside/oidc.js"
import { exchange } from "../../TestServer.js"
import { type ServerOptions, startServer, type TestServer } from "../../../../../test/http/server.js"

const callback = callbackOf("oidc")
const callbackAtOther = "http://other.test:8080/api/v2/users/oidc/callback"
type OidcOptions = Exclude<ServerOptions["options"], undefined>

const ada = {
  email: "ada@example.com",
  email_verified: true,
  name: "Ada Lovelace",
  preferred_username: "ada",
  picture: "https://example.com/a.png"
}

/** A provider where Ada has an account, and the servers of a suite that trust it. */
const aProvider = () => {
  let running: OidcServer | undefined
  let shared: Promise<TestServer> | undefined
  const servers: Array<TestServer> = []
  const provider = (): OidcServer => {
    if (running === undefined) throw new Error("the provider has not started")
    return running
  }
  beforeAll(async () => {
    running = await startOidc({ redirectUris: [callback, callbackAtOther] })
  })
  beforeEach(() => {
    provider().reset()
    provider().accounts.set("ada", anAccount(ada))
  })
  afterAll(async () => {
    for (const server of servers) await server.close()
    await running?.close()
  })
  const serve = async (oidc: OidcOptions, options: ServerOptions = {}): Promise<TestServer> => {
    const server = await startServer(sqlite, {
      ...options,
      options: { oidcClientId: clientId, oidcClientSecret: clientSecret, oidcIssuerUrl: provider().issuer, ...oidc, ...options.options }
    })
    servers.push(server)
    return server
  }
  return {
    provider,
    /** One without further options, which the tests of the suite share. */
    server: (): Promise<TestServer> => (shared ??= serve({})),
    serve
  }
}

/** Goes to the provider and comes back, up to the address that the provider sends the browser to. */
const comeBack = async (browser: Browser, { issuer }: OidcServer, query = ""): Promise<string> =>
  throughProvider(browser, issuer, await browser.visit(`${callback}${query}`))

const logIn = async (
  server: TestServer,
  provider: OidcServer,
  { account = "ada", query = "" } = {}
): Promise<{ page: Page; browser: Browser; me: () => Promise<unknown> }> => {
  const browser = browserOf(server, { "x-account": account })
  const page = await browser.visit(await comeBack(browser, provider, query))
  return { page, browser, me: async () => (await server.call("GET", "/users/me", { token: sessionOf(browser) ?? "" })).body }
}

describe("a login by OpenID Connect", () => {
  const { provider, serve, server: theServer } = aProvider()

  it("starts with a state, a nonce and a code challenge", async () => {
    const server = await theServer()
    const browser = browserOf(server)
    const page = await browser.visit(`${callback}?redirect=${encodeURIComponent("/templates?x=1#y")}`)
    expect(page.status).toBe(307)
    const { hash, origin: where, searchParams } = new URL(page.location ?? "")
    expect([where, hash]).toStrictEqual([provider().issuer, ""])
    const jar = browser.jar(origin)
    expect(Object.fromEntries(searchParams)).toStrictEqual({
      access_type: "offline",
      client_id: clientId,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
      nonce: jar.get("oauth_nonce"),
      redirect_uri: callback,
      response_type: "code",
      scope: "openid profile email",
      state: jar.get("oauth_state")
    })
    expect(jar.get("oauth_state")).toMatch(/^[0-9A-Za-z]{32}$/)
    expect(jar.get("oauth_redirect")).toBe(encodeURIComponent("/templates?x=1#y"))
    for (const cookie of page.cookies.filter((line) => line.startsWith("oauth_") && !line.includes("Max-Age=0"))) {
      expect(cookie).toMatch(/^oauth_[a-z_]+=[^;]+; Path=\/; HttpOnly; SameSite=Lax$/)
    }
    expect(page.headers.get("cache-control")).toBe("no-store")
  })

  it("ends with a session, and without any of the cookies", async () => {
    const server = await theServer()
    const { browser, me, page } = await logIn(server, provider(), { query: "?redirect=/templates" })
    expect([page.status, page.headers.get("location")]).toStrictEqual([307, "/templates"])
    expect(page.cookies.find((line) => line.startsWith("service_session_token="))).toMatch(
      /; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/
    )
    expect([...browser.jar(origin).keys()].filter((name) => name.startsWith("oauth"))).toStrictEqual([])
    expect(await me()).toMatchObject({
      email: ada.email,
      username: "ada",
      name: ada.name,
      avatar_url: ada.picture,
      login_type: "oidc",
      roles: []
    })
  })

  it("is no way out to another site", async () => {
    const server = await theServer()
    const places = {
      "https://evil/x": "/x",
      "//evil": "/evil",
      "/\\evil": "/evil",
      "javascript:alert(1)": "/",
      "": "/",
      "/a?b#c": "/a?b#c"
    }
    for (const [redirect, location] of Object.entries(places)) {
      const { page } = await logIn(server, provider(), { query: `?${new URLSearchParams({ redirect })}` })
      expect([redirect, page.headers.get("location")]).toStrictEqual([redirect, location])
    }
  })

  it("counts as one of the calls that logins are limited by", async () => {
    const server = await serve({}, { options: { dangerousDisableRateLimits: false } })
    expect((await browserOf(server).visit(callback)).headers.get("x-ratelimit-limit")).toBe("60")
    expect((await browserOf(server).visit(`${callback}/`)).status).toBe(307)
  })

  it("is refused without the cookies that it began with", async () => {
    const server = await theServer()
    const browser = browserOf(server, { "x-account": "ada" })
    const back = await comeBack(browser, provider())
    const jar = new Map(browser.jar(origin))
    const without = async (changes: Readonly<Record<string, string | undefined>>, url = back) => {
      const other = browserOf(server)
      for (const [name, value] of Object.entries({ ...Object.fromEntries(jar), ...changes })) {
        if (value !== undefined) other.jar(origin).set(name, value)
      }
      const page = await other.visit(url)
      return [page.status, sessionOf(other)]
    }
    const stateless = new URL(back)
    stateless.searchParams.delete("state")
    expect(await without({}, stateless.href)).toStrictEqual([400, undefined])
    expect(await without({ oauth_state: undefined })).toStrictEqual([401, undefined])
    expect(await without({ oauth_state: "x".repeat(32) })).toStrictEqual([401, undefined])
    const long = new URL(back)
    long.searchParams.set("state", "x".repeat(1_000))
    expect(await without({ oauth_state: "x".repeat(1_000) }, long.href)).toStrictEqual([401, undefined])
    expect(await without({ oauth_pkce_verifier: undefined })).toStrictEqual([400, undefined])
    expect(await without({ oauth_nonce: undefined })).toStrictEqual([400, undefined])
    // None of these has spent the code
    expect((await without({}))[0]).toBe(307)
  })

  it("is refused when repeated with the same cookies", async () => {
    const server = await theServer()
    const browser = browserOf(server, { "x-account": "ada" })
    const back = await comeBack(browser, provider())
    const jar = new Map(browser.jar(origin))
    const twice = await Promise.all(
      [1, 2].map(() => {
        const other = browserOf(server)
        for (const [name, value] of jar) other.jar(origin).set(name, value)
        return other.visit(back)
      })
    )
    expect(twice.map(({ status }) => status).toSorted()).toStrictEqual([307, 401])
    expect(provider().requests.filter((request) => request === "POST /token")).toHaveLength(1)
  })

  it("is refused with a code of another login", async () => {
    const server = await theServer()
    const [one, other] = [browserOf(server, { "x-account": "ada" }), browserOf(server, { "x-account": "ada" })]
    const [mine, theirs] = [new URL(await comeBack(one, provider())), new URL(await comeBack(other, provider()))]
    mine.searchParams.set("code", theirs.searchParams.get("code") ?? "")
    // The code verifier is not the one that the code was given for
    expect((await one.visit(mine.href)).status).toBe(500)
    expect(sessionOf(one)).toBeUndefined()
  })

  it("shows the provider's refusal as text", async () => {
    const server = await theServer()
    const browser = browserOf(server, { "x-account": "ada" })
    const state = new URL(await comeBack(browser, provider())).searchParams.get("state")
    const refusal = `${callback}?error=access_denied&error_description=${encodeURIComponent("no <b>\r\nX: y")}&state=`
    const page = await browser.visit(`${refusal}${state}`)
    expect([page.status, JSON.parse(page.text)]).toStrictEqual([
      400,
      { message: "The provider refused the login: access_denied.", detail: "no <b> X: y" }
    ])
    // A link chooses what it says, and knows no state
    for (const link of [refusal, `${refusal}${"a".repeat(32)}`]) {
      expect(JSON.parse((await browser.visit(link)).text)).toStrictEqual({ message: "The provider refused the login." })
    }
  })

  it("is refused where no provider is configured", async () => {
    const server = await startServer(sqlite)
    expect((await browserOf(server).visit(callback)).status).toBe(400)
    expect((await browserOf(server).visit(callbackOf("github"))).status).toBe(400)
    await server.close()
  })

  it("is offered on the login page and to accounts created for it", async () => {
    const server = await serve({ oidcSignInText: "Example", oidcIconUrl: "https://example.com/icon.svg" })
    expect((await server.call("GET", "/users/authmethods")).body).toMatchObject({
      oidc: { enabled: true, signInText: "Example", iconUrl: "https://example.com/icon.svg" },
      github: { enabled: false, default_provider_configured: false }
    })
    provider().accounts.set("grace", anAccount({ ...ada, email: "grace@example.com" }))
    const body = {
      email: "grace@example.com",
      username: "countess",
      login_type: "oidc",
      organization_ids: ["00000000-0000-0000-0000-000000000000"]
    }
    expect((await server.call("POST", "/users", { token: server.owner().token, body })).status).toBe(201)
    expect(await (await logIn(server, provider(), { account: "grace" })).me()).toMatchObject({ username: "countess", status: "active" })
  })

  it("keeps the browser at the host where it began, if that host is allowed", async () => {
    const server = await serve({ oidcRedirectAllowedHosts: ["OTHER.test"] })
    const port = Number(new URL(server.url).port)
    /** What `fetch` does not let one choose: the host, and with it the cookies. */
    const get = async (host: string, path: string, cookie = "") => {
      const answer = await Effect.runPromise(
        exchange(port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`)
      )
      const header = (name: string) => [...answer.matchAll(new RegExp(`^${name}: (.*)\r$`, "gim"))].map(([, value = ""]) => value)
      return {
        status: answer.slice(9, 12),
        location: header("location")[0] ?? "",
        cookies: header("set-cookie").map((line) => line.split(";")[0])
      }
    }
    const path = new URL(callback).pathname
    for (const host of ["evil.test", "evil.test@other.test", "other.test.evil.test"]) expect((await get(host, path)).status).toBe("400")
    const start = await get("other.test:8080", path)
    expect(new URL(start.location).searchParams.get("redirect_uri")).toBe(callbackAtOther)
    const browser = browserOf(server, { "x-account": "ada" })
    const back = new URL(
      await throughProvider(browser, provider().issuer, { ...(await browser.visit(callback)), location: start.location })
    )
    expect(back.origin).toBe("http://other.test:8080")
    const cookie = start.cookies.join("; ")
    expect((await get("other.test", `${path}${back.search}`, cookie)).status).toBe("400")
    expect((await get("other.test:8080", `${path}${back.search}`, cookie.replace("oauth_redirect_uri", "x"))).status).toBe("400")
    expect((await get("other.test:8080", `${path}${back.search}`, cookie)).status).toBe("307")
  })

  it("stays possible when the provider's document cannot be read anew", async () => {
    const server = await theServer()
    provider().broken.set("/.well-known/openid-configuration", { status: 500, body: "" })
    server.advance("2 hours")
    expect((await logIn(server, provider())).page.status).toBe(307)
  })

  it("is refused for now while the provider has not answered since the start", async () => {
    const document = "/.well-known/openid-configuration"
    provider().broken.set(document, { status: 503, body: "" })
    // No server listens on the port of the second
    for (const server of [await serve({}), await serve({ oidcIssuerUrl: "http://127.0.0.1:2" })]) {
      const refused = await fetch(callback.replace(origin, server.url), { redirect: "manual" })
      expect([refused.status, refused.headers.get("retry-after")]).toStrictEqual([503, "5"])
    }
    const server = await serve({})
    const { background } = await server.run(Effect.map(Background.health, (background) => ({ background })))
    expect(background.find(({ name }) => name === "identity_provider")).toMatchObject({ last_failure: "ProviderFailure" })
    provider().broken.delete(document)
    const served = Effect.tryPromise(async () => expect((await logIn(server, provider())).page.status).toBe(307))
    await Effect.runPromise(Effect.retry(served, Schedule.exponential("50 millis")))
  })

  it("prevents the start if its provider has no usable document", async () => {
    await expect(serve({ oidcIssuerUrl: `${provider().issuer}/nothing` })).rejects.toThrow()
    for (const oidcRedirectUrl of ["nowhere", "javascript:alert(1)"])
      await expect(serve({ oidcRedirectUrl })).rejects.toThrow(/oidcRedirectUrl/)
    provider().broken.set("/.well-known/openid-configuration", {
      status: 200,
      body: JSON.stringify({ issuer: "https://elsewhere.example" })
    })
    await expect(serve({})).rejects.toThrow()
  })
})

describe("what an OpenID Connect provider claims", () => {
  const { provider, serve, server: theServer } = aProvider()
  const claims = (changes: Readonly<Record<string, unknown>>) => provider().accounts.set("ada", anAccount({ ...ada, ...changes }))
  const status = async (server: TestServer) => (await logIn(server, provider())).page.status

  it("has to be a verified address", async () => {
    const server = await theServer()
    for (const email_verified of ["false", false, 0, undefined, null, "maybe", {}]) {
      claims({ email_verified })
      const { page } = await logIn(server, provider())
      expect([page.status, page.headers.get("content-type")]).toStrictEqual([403, "text/html; charset=utf-8"])
    }
    for (const email_verified of ["true", 1, true]) {
      claims({ email_verified })
      expect(await status(server)).toBe(307)
    }
  })

  it("has to be the address that was verified", async () => {
    const server = await theServer()
    const other = { ...ada, email: "somebody.else@example.com", email_verified: undefined }
    provider().accounts.set("ada", { id_token: ada, userinfo: other })
    // The standard lets a provider put claims into both
    provider().answer = async (answer) => ({ ...answer, id_token: await provider().sign({ ...decoded(answer), ...ada }) })
    expect(await status(server)).toBe(403)
    provider().accounts.set("ada", { id_token: ada, userinfo: { ...other, email: "ADA@example.com" } })
    expect(await status(server)).toBe(307)
  })

  it("is trusted without being verified where the operator says so", async () => {
    const server = await serve({ oidcIgnoreEmailVerified: true })
    claims({ email_verified: false })
    expect(await status(server)).toBe(307)
  })

  it("must be an address of the allowed domains", async () => {
    const server = await serve({ oidcEmailDomain: ["secret.example", "@EXAMPLE.com"] })
    expect(await status(server)).toBe(307)
    for (const email of ["ada@sub.example.com", "ada@evilexample.com", "ada@example.com.evil.test"]) {
      claims({ email })
      const { page } = await logIn(server, provider())
      expect(page.status).toBe(403)
      expect(page.text).not.toContain("secret.example")
    }
  })

  it("has to be an address in text; a username that is one will do", async () => {
    const server = await theServer()
    claims({ email: ["ada@example.com"] })
    expect(await status(server)).toBe(400)
    claims({ email: undefined })
    expect(await status(server)).toBe(400)
    provider().accounts.set("grace", anAccount({ ...ada, email: undefined, preferred_username: "countess@example.com" }))
    const { me } = await logIn(server, provider(), { account: "grace" })
    expect(await me()).toMatchObject({ email: "countess@example.com", username: "countess" })
  })

  it("are read from the user info before the ID token", async () => {
    const server = await theServer()
    provider().accounts.set("ada", { id_token: { ...ada, name: "Token" }, userinfo: { ...ada, name: "Info" } })
    const { browser, me } = await logIn(server, provider())
    expect(await me()).toMatchObject({ name: "Info" })
    const answer = await server.call("GET", "/users/oidc-claims", { token: sessionOf(browser) ?? "" })
    expect(answer.body).toMatchObject({ claims: { name: "Info", sub: "ada", iss: provider().issuer } })
  })

  it("are read from the ID token only if the operator ignores the user info", async () => {
    const server = await serve({ oidcIgnoreUserinfo: true })
    provider().accounts.set("ada", { id_token: { ...ada, name: "Token" }, userinfo: {} })
    // The standard lets a provider leave claims out of it
    provider().answer = async (answer) => ({ ...answer, id_token: await provider().sign({ ...decoded(answer), ...ada, name: "Token" }) })
    expect(await (await logIn(server, provider())).me()).toMatchObject({ name: "Token" })
    expect(provider().requests).not.toContain("GET /me")
  })

  it("is under the names that the operator gives", async () => {
    const server = await serve({ oidcEmailField: "mail", oidcUsernameField: "login", oidcNameField: "full" })
    provider().answer = async (answer) => ({
      ...answer,
      id_token: await provider().sign({ ...decoded(answer), mail: "m@example.com", login: "logged", full: "Full", email_verified: true })
    })
    expect(await (await logIn(server, provider())).me()).toMatchObject({ email: "m@example.com", username: "logged", name: "Full" })
  })

  it("apply only with the subject of the ID token", async () => {
    const server = await theServer()
    provider().broken.set("/me", { status: 200, body: JSON.stringify({ ...ada, sub: "eve" }) })
    expect(await status(server)).toBe(500)
    provider().broken.set("/me", { status: 500, body: "" })
    expect(await status(server)).toBe(500)
  })

  it("are read from a signed access token if the operator configures it", async () => {
    const server = await serve({ oidcIgnoreUserinfo: true, oidcAccessTokenClaims: true })
    const answered = (access: Record<string, unknown>, key?: Awaited<ReturnType<typeof aSigningKey>>) => {
      provider().answer = async (answer) => {
        const { aud, exp, iat, iss, sub } = decoded(answer)
        return { ...answer, access_token: await provider().sign({ aud, exp, iat, iss, sub, ...ada, name: "Access", ...access }, key) }
      }
    }
    const { name: _, ...nameless } = ada
    provider().accounts.set("ada", anAccount(nameless))
    answered({})
    expect(await (await logIn(server, provider())).me()).toMatchObject({ name: "Access" })
    answered({ sub: "eve" })
    expect(await status(server)).toBe(400)
    answered({ iss: "https://elsewhere.example" })
    expect(await status(server)).toBe(400)
    answered({}, await aSigningKey("stranger"))
    expect(await status(server)).toBe(400)
    provider().answer = undefined
    expect(await status(server)).toBe(400)
    await expect(serve({ oidcAccessTokenClaims: true })).rejects.toThrow("oidcIgnoreUserinfo")
  })
})

const Claims = Schema.Record({ key: Schema.String, value: Schema.Unknown })

/** The claims of an answer's ID token. */
const decoded = ({ id_token }: TokenAnswer): Record<string, unknown> => ({
  ...Schema.decodeUnknownSync(Schema.parseJson(Claims))(Buffer.from(String(id_token).split(".")[1] ?? "", "base64url").toString())
})

describe("an ID token", () => {
  const { provider, serve, server: theServer } = aProvider()
  const statusWith = async (server: TestServer, answer: OidcServer["answer"]) => {
    provider().answer = answer
    const { browser, page } = await logIn(server, provider())
    expect(sessionOf(browser) === undefined).toBe(page.status !== 307)
    return page.status
  }
  const changed =
    (changes: Record<string, unknown>): OidcServer["answer"] =>
    async (answer) => ({ ...answer, id_token: await provider().sign({ ...decoded(answer), ...changes }) })

  it("is believed when the provider has signed it", async () => {
    expect(await statusWith(await theServer(), changed({}))).toBe(307)
  })

  it("is refused if missing, expired, or of another issuer, audience or nonce", async () => {
    const server = await theServer()
    expect(await statusWith(server, (answer) => ({ ...answer, id_token: undefined }))).toBe(400)
    const hour = 3600
    const now = Math.floor(Date.now() / 1000)
    const wrong: ReadonlyArray<Record<string, unknown>> = [
      { iss: "https://elsewhere.example" },
      { aud: "another client" },
      { aud: [clientId, "another client"], azp: "another client" },
      { nonce: "another nonce" },
      { nonce: undefined },
      { sub: "" },
      { sub: undefined },
      { exp: now - hour },
      { exp: undefined },
      { iat: now + hour, nbf: now + hour }
    ]
    for (const changes of wrong) expect([changes, await statusWith(server, changed(changes))]).toStrictEqual([changes, 400])
  })

  it("is refused with a foreign signature or changed content", async () => {
    const server = await theServer()
    const stranger = await aSigningKey("stranger")
    const impostor = { ...(await aSigningKey("key-0")) }
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
    const forgeries: ReadonlyArray<(answer: TokenAnswer) => Promise<string>> = [
      (answer) => provider().sign(decoded(answer), stranger),
      (answer) => provider().sign(decoded(answer), impostor),
      async (answer) => {
        const [head = "", , signature = ""] = String(answer["id_token"]).split(".")
        return `${head}.${encode({ ...decoded(answer), email: "owner@example.com" })}.${signature}`
      },
      async (answer) => `${encode({ alg: "none" })}.${encode(decoded(answer))}.`,
      async (answer) => `${String(answer["id_token"]).split(".").slice(0, 2).join(".")}.`,
      async () => "no token"
    ]
    for (const [index, forge] of forgeries.entries()) {
      expect([index, await statusWith(server, async (answer) => ({ ...answer, id_token: await forge(answer) }))]).toStrictEqual([
        index,
        400
      ])
    }
  })

  it("is verified with the provider's new keys at once, and refused with an old one", async () => {
    const server = await serve({})
    expect(await statusWith(server, undefined)).toBe(307)
    const fetched = () => provider().requests.filter((request) => request === "GET /jwks").length
    expect([await statusWith(server, undefined), fetched()]).toStrictEqual([307, 1])
    const old = await new Promise<TokenAnswer>((resolve) => {
      void statusWith(server, (answer) => (resolve(answer), answer))
    })
    await provider().rotateKeys()
    expect([await statusWith(server, undefined), fetched()]).toStrictEqual([307, 2])
    expect(await statusWith(server, (answer) => ({ ...answer, id_token: old["id_token"] }))).toBe(400)
  })
})

describe("a provider that answers badly", () => {
  const { provider, server: theServer } = aProvider()

  it("yields bounded refusals that show nothing of what it sent", async () => {
    const server = await theServer()
    const answers = [
      { status: 400, body: JSON.stringify({ error: "invalid_grant", error_description: "no" }) },
      { status: 500, body: "" },
      { status: 302, body: "" },
      { status: 200, body: "x".repeat(2 * 1024 * 1024) }
    ]
    for (const answer of answers) {
      provider().broken.set("/token", answer)
      const { page } = await logIn(server, provider())
      expect(page.status).toBe(500)
      expect(page.text).not.toContain(clientSecret)
    }
  })
})

describe("a provider that takes the client's secret in the form alone", () => {
  it("is given it there", async () => {
    const oidc = await startOidc({ redirectUris: [callback], configuration: { clientAuthMethods: ["client_secret_post"] } })
    oidc.accounts.set("ada", anAccount(ada))
    const server = await startServer(sqlite, {
      empty: true,
      options: { oidcClientId: clientId, oidcClientSecret: clientSecret, oidcIssuerUrl: oidc.issuer }
    })
    const { page } = await logIn(server, oidc)
    expect(page.status).toBe(307)
    await server.close()
    await oidc.close()
  })
})
