import { ClientRegistrations } from "@atelier/core/oauth2"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { describeInterface, describeServer, type TestServer } from "../../../../../test/http/server.js"
import { aClient, aCode, type Fields, post, redeem, refresh, refusal, statusWith, Tokens } from "../OAuthClient.js"

const Registered = Schema.Struct({
  client_id: Schema.String,
  client_secret: Schema.optional(Schema.String),
  registration_access_token: Schema.String,
  registration_client_uri: Schema.String
})

const redirect_uris = ["https://client.example/callback"]

const register = (server: TestServer, body: unknown) => server.call("POST", "//oauth2/register", { body })

const aRegistration = async (server: TestServer, more: object = {}) => {
  const answer = await register(server, { redirect_uris, ...more })
  expect(answer.status, answer.text).toBe(201)
  return answer.as(Registered)
}

const manage = (server: TestServer, method: "GET" | "PUT" | "DELETE", client_id: string, token: string | undefined, body?: unknown) =>
  server.call(method, `//oauth2/clients/${client_id}`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body })
  })

describeInterface("a client", (server) => {
  it("registers itself and is given what it left out", async () => {
    const answer = await register(server(), { redirect_uris })
    const { client_id, client_secret, registration_access_token } = answer.as(Registered)
    expect([answer.status, answer.headers.get("cache-control"), answer.body]).toStrictEqual([
      201,
      "no-store",
      {
        client_id,
        client_id_issued_at: expect.any(Number),
        client_name: "Dynamically Registered Client",
        client_secret: expect.stringMatching(/^service_[A-Za-z0-9]{10}_[A-Za-z0-9]{40}$/),
        client_secret_expires_at: 0,
        redirect_uris,
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "client_secret_basic",
        registration_access_token: expect.stringMatching(/^[A-Za-z0-9]{40}$/),
        registration_client_uri: `http://atelier.test/oauth2/clients/${client_id}`
      }
    ])
    const entries = await server().run(auditEntries({ resource_type: "oauth2_provider_app" }))
    const text = JSON.stringify(entries)
    expect(entries.map(({ action }) => action)).toContain("register")
    for (const secret of [client_secret?.slice(-40), registration_access_token]) expect(text).not.toContain(secret)
  })

  it("keeps its metadata, and changes and deletes itself", async () => {
    const metadata = {
      client_name: "Editor",
      client_uri: "https://client.example",
      logo_uri: "https://client.example/logo.png",
      tos_uri: "https://client.example/tos",
      policy_uri: "https://client.example/policy",
      jwks: { keys: [] },
      contacts: ["a@example.com"],
      scope: "workspace:read",
      software_id: "editor",
      software_version: "1"
    }
    const { client_id, registration_access_token: token } = await aRegistration(server(), {
      ...metadata,
      software_statement: "e30.e30.",
      unknown: "member"
    })
    const read = await manage(server(), "GET", client_id, token)
    expect(read.body).toMatchObject({ ...metadata, registration_access_token: token })
    for (const hidden of ["client_secret", "software_statement", "unknown"]) expect(read.body).not.toHaveProperty(hidden)

    const put = await manage(server(), "PUT", client_id, token, { client_id, redirect_uris: ["https://client.example/other"] })
    expect([put.status, put.body]).toMatchObject([
      200,
      {
        client_name: "Dynamically Registered Client",
        redirect_uris: ["https://client.example/other"],
        grant_types: expect.any(Array),
        registration_access_token: token
      }
    ])
    expect(put.body).not.toHaveProperty("logo_uri")
    expect((await manage(server(), "DELETE", client_id, token)).status).toBe(204)
    expect(refusal(await manage(server(), "GET", client_id, token))).toStrictEqual([401, "invalid_token"])
  })

  it("without a secret is redeemed with its verifier alone", async () => {
    const member = await server().aMember()
    const {
      client_id,
      client_secret,
      registration_access_token: token
    } = await aRegistration(server(), {
      token_endpoint_auth_method: "none"
    })
    expect(client_secret).toBeUndefined()
    const tokens = (await redeem(server(), { client_id }, await aCode(server(), { client_id }, member))).as(Tokens)
    const next = await refresh(server(), { client_id }, tokens.refresh_token)
    expect(await statusWith(server(), next.as(Tokens).access_token)).toBe(200)
    const withSecret = { token_endpoint_auth_method: "client_secret_post", redirect_uris }
    expect(refusal(await manage(server(), "PUT", client_id, token, withSecret))).toStrictEqual([400, "invalid_client_metadata"])
    expect(refusal(await manage(server(), "PUT", client_id, token, { redirect_uris }))).toStrictEqual([400, "invalid_client_metadata"])
    const confidential = await aRegistration(server())
    const change = (token_endpoint_auth_method: string) =>
      manage(server(), "PUT", confidential.client_id, confidential.registration_access_token, { token_endpoint_auth_method, redirect_uris })
    expect(refusal(await change("none"))).toStrictEqual([400, "invalid_client_metadata"])
    expect((await change("client_secret_post")).status).toBe(200)
  })

  it("is deleted with its tokens", async () => {
    const { client_id, client_secret = "", registration_access_token } = await aRegistration(server())
    const client = { client_id, client_secret }
    const { access_token } = (await redeem(server(), client, await aCode(server(), client, await server().aMember()))).as(Tokens)
    expect(await statusWith(server(), access_token)).toBe(200)
    await manage(server(), "DELETE", client_id, registration_access_token)
    expect(await statusWith(server(), access_token)).toBe(401)
    const { token } = server().owner()
    expect((await server().call("GET", `/oauth2-provider/apps/${client_id}`, { token })).status).toBe(404)
  })

  it("needs its own registration access token", async () => {
    const [one, other] = [await aRegistration(server()), await aRegistration(server())]
    const admin = await aClient(server())
    const token = one.registration_access_token
    const refusals = [
      await manage(server(), "GET", one.client_id, undefined),
      await manage(server(), "GET", one.client_id, ""),
      await manage(server(), "GET", one.client_id, "wrong"),
      await manage(server(), "GET", one.client_id, `Bearer ${token}`),
      await manage(server(), "GET", other.client_id, token),
      await manage(server(), "GET", "0d4e1d3c-0000-7000-8000-000000000001", token)
    ]
    expect(refusals.map((answer) => [...refusal(answer), answer.headers.get("www-authenticate")])).toStrictEqual(
      refusals.map(() => [401, "invalid_token", 'Bearer realm="service", error="invalid_token"'])
    )
    expect(refusal(await manage(server(), "GET", admin.client_id, token))).toStrictEqual([403, "invalid_token"])
    expect(refusal(await manage(server(), "GET", "nothing", token))).toStrictEqual([400, "invalid_client_id"])
  })

  it.each<readonly [string, unknown]>([
    ["without redirect URIs", { redirect_uris: [] }],
    ["with a relative URI", { redirect_uris: ["/callback"] }],
    ["with a fragment", { redirect_uris: ["https://client.example/#"] }],
    ["with an http URI", { redirect_uris: ["http://example.com"] }],
    ["with a script", { redirect_uris: ["JavaScript:alert(1)"] }],
    ["with data", { redirect_uris: ["data:text/html,x"] }],
    ["with a wildcard", { redirect_uris: ["https://*.example.com/"] }],
    ["with a user name", { redirect_uris: ["https://user:pass@example.com/"] }],
    ["with a port that is none", { redirect_uris: ["https://example.com:65536/"] }],
    ["with refresh tokens alone", { grant_types: ["refresh_token"] }],
    ["for passwords", { grant_types: ["authorization_code", "password"] }],
    ["for tokens", { response_types: ["token"] }],
    ["with signed assertions", { token_endpoint_auth_method: "private_key_jwt" }],
    ["with an ftp page", { client_uri: "ftp://example.com" }],
    ["with a long logo", { logo_uri: `https://example.com/${"l".repeat(256)}` }],
    ["with control characters", { client_name: "a\u0000b" }],
    ["with both kinds of keys", { jwks: { keys: [] }, jwks_uri: "https://example.com/jwks" }],
    ["with a list for a name", { client_name: ["a"] }]
  ])("%s is not registered", async (_, metadata) => {
    const answer = await register(server(), { redirect_uris, ...(metadata as Fields) })
    expect(refusal(answer)).toStrictEqual([400, "invalid_client_metadata"])
  })

  it.each([
    ["none", "vscode://vendor.editor/callback", 201],
    ["none", "com.example.app:/callback", 201],
    ["none", "urn:ietf:wg:oauth:2.0:oob", 201],
    ["none", "http://127.0.0.1:1234/callback", 201],
    ["none", "http://[::1]/callback", 201],
    ["none", "mailto:a@example.com", 400],
    ["none", "http://a.localhost/", 400],
    ["client_secret_post", "http://a.localhost/", 201],
    ["client_secret_post", "mailto:a@example.com", 201],
    ["client_secret_post", "urn:example:other", 400]
  ])("of the method %s with %s is answered with %i", async (token_endpoint_auth_method, uri, status) => {
    expect((await register(server(), { token_endpoint_auth_method, redirect_uris: [uri] })).status).toBe(status)
  })

  it.each(["", "{", "[]", "null", '"text"', "[".repeat(5000)])("whose metadata is %j is not registered", async (body) => {
    expect(refusal(await register(server(), body))).toStrictEqual([400, "invalid_client_metadata"])
  })

  it("with a long name has the beginning of it and a hash", async () => {
    const answer = await register(server(), { redirect_uris, client_name: "n".repeat(100) })
    const { client_name } = answer.as(Schema.Struct({ client_name: Schema.String }))
    expect(client_name).toMatch(/^n{55}-[0-9a-f]{8}$/)
    const wide = await register(server(), { redirect_uris, client_name: "ü".repeat(100) })
    expect(wide.as(Schema.Struct({ client_name: Schema.String })).client_name).toMatch(/^ü{27}-[0-9a-f]{8}$/)
  })

  it("has its callback changed by an administrator", async () => {
    const { client_id, registration_access_token } = await aRegistration(server())
    const { token } = server().owner()
    const callback_url = "https://client.example/moved"
    await server().call("PUT", `/oauth2-provider/apps/${client_id}`, { token, body: { name: "moved", callback_url } })
    expect((await manage(server(), "GET", client_id, registration_access_token)).body).toMatchObject({ redirect_uris: [callback_url] })
  })

  it("that an editor registers signs in, refreshes with its ended token and signs out", async () => {
    const redirect_uri = "vscode://coder.coder-remote/oauth/callback"
    const { client_id, client_secret = "" } = await aRegistration(server(), {
      redirect_uris: [redirect_uri],
      grant_types: ["authorization_code"],
      response_types: ["code"],
      client_name: "Editor",
      token_endpoint_auth_method: "client_secret_post"
    })
    const client = { client_id, client_secret }
    const code = await aCode(server(), client, await server().aMember(), { redirect_uri, scope: "workspace:read template:read user:read" })
    const tokens = (await redeem(server(), client, { ...code, redirect_uri })).as(Tokens)
    server().advance("2 days")
    const headers = { "Service-Session-Token": tokens.access_token }
    const fields = { grant_type: "refresh_token", ...client, refresh_token: tokens.refresh_token }
    const next = (await post(server(), "tokens", fields, headers)).as(Tokens)
    expect((await server().call("GET", "/users/me", { token: next.access_token })).status).toBe(200)
    const revocation = { ...client, token: next.refresh_token, token_type_hint: "refresh_token" }
    expect((await post(server(), "revoke", revocation, headers)).status).toBe(200)
    expect(await statusWith(server(), next.access_token)).toBe(401)
  })

  it("without a user is forgotten after a month, and one with a user is kept", async () => {
    const unused = await aRegistration(server())
    const used = await aRegistration(server())
    await aCode(server(), used, await server().aMember())
    server().advance("31 days")
    await server().run(Effect.flatMap(ClientRegistrations, ({ purge }) => purge.run))
    expect((await manage(server(), "GET", unused.client_id, unused.registration_access_token)).status).toBe(401)
    expect((await manage(server(), "GET", used.client_id, used.registration_access_token)).status).toBe(200)
  })
})

describeServer("a client that registered before registration was switched off", (server) => {
  it("goes on, and no other registers", async () => {
    const { client_id, client_secret = "", registration_access_token } = await aRegistration(server())
    const { token } = server().owner()
    await server().call("PUT", "/oauth2-provider/settings", { token, body: { dynamic_client_registration_enabled: false } })
    expect(refusal(await register(server(), { redirect_uris }))).toStrictEqual([403, "invalid_request"])
    const client = { client_id, client_secret }
    expect((await redeem(server(), client, await aCode(server(), client, server().owner()))).status).toBe(200)
    expect((await manage(server(), "GET", client_id, registration_access_token)).status).toBe(200)
    expect((await manage(server(), "DELETE", client_id, registration_access_token)).status).toBe(204)
  })
})

describeInterface(
  "the endpoints of clients",
  (server) => {
    it("have limits per address, also for callers who are signed in", async () => {
      const { token } = server().owner()
      const answers = []
      for (let count = 0; count < 122; count++) {
        answers.push(await server().call("POST", "//oauth2/register", { body: {}, token: count % 2 === 0 ? token : "other" }))
      }
      const limited = answers.filter(({ status }) => status === 429)
      expect(limited.length).toBeGreaterThan(0)
      expect(limited.map(refusal)).toStrictEqual(limited.map(() => [429, "temporarily_unavailable"]))
      expect(limited[0]?.headers.get("retry-after")).toBe("60")
    })
  },
  { options: { apiRateLimit: -1, dangerousDisableRateLimits: false } }
)
