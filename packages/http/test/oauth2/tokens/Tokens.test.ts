import { OAuth2Clients, OAuth2Tokens } from "@atelier/core/oauth2"
import { Uuid } from "@atelier/core/platform"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { describeInterface, describeServer, describeServerOnEach, ownerPassword } from "../../../../../test/http/server.js"
import {
  aClient,
  aCode,
  aVerifier,
  authorizePath,
  authorizeQuery,
  broughtBack,
  callback,
  post,
  redeem,
  refresh,
  refusal,
  someTokens,
  statusWith,
  Tokens
} from "../OAuthClient.js"

const basic = ({ client_id, client_secret }: { readonly client_id: string; readonly client_secret: string }) => ({
  authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString("base64")}`
})

describeServerOnEach("an authorization code", (server, once) => {
  once("is redeemed once for a token that acts as the user", async () => {
    const member = await server().aMember()
    const client = await aClient(server())
    const { code, code_verifier } = await aCode(server(), client, member)
    expect(code).toMatch(/^service_[A-Za-z0-9]{10}_[A-Za-z0-9]{40}$/)
    const answer = await redeem(server(), client, { code, code_verifier })
    const tokens = answer.as(Tokens)
    expect([answer.status, answer.headers.get("cache-control"), answer.headers.get("pragma")]).toStrictEqual([200, "no-store", "no-cache"])
    expect(tokens.expires_in).toBeGreaterThan(86_000)
    expect(tokens.expires_in).toBeLessThanOrEqual(86_400)
    expect(Date.parse(tokens.expiry)).toBeGreaterThan(Date.now())

    const me = await server().call("GET", "/users/me", { token: tokens.access_token })
    expect(me.body).toMatchObject({ id: member.user.id })
    expect(await statusWith(server(), tokens.access_token)).toBe(200)
    const used = await server().call("GET", `/oauth2-provider/apps?user_id=${member.user.id}`, { token: member.token })
    expect(used.body).toMatchObject([{ id: client.client_id }])
    expect((await server().call("GET", "/users/me/keys/tokens", { token: member.token })).body).toStrictEqual([])
  })

  once("that comes again ends what was issued with it", async () => {
    const client = await aClient(server())
    const member = await server().aMember()
    const code = await aCode(server(), client, member)
    const tokens = (await redeem(server(), client, code)).as(Tokens)
    expect(refusal(await redeem(server(), client, code))).toStrictEqual([400, "invalid_grant"])
    expect(await statusWith(server(), tokens.access_token)).toBe(401)
    expect(refusal(await refresh(server(), client, tokens.refresh_token))).toStrictEqual([400, "invalid_grant"])
  })

  it("is redeemed by one of 50 clients at once, and the others end the grant", async () => {
    const client = await aClient(server())
    const code = await aCode(server(), client, await server().aMember())
    const answers = await Promise.all(Array.from({ length: 50 }, () => redeem(server(), client, code)))
    const succeeded = answers.filter(({ status }) => status === 200)
    expect(succeeded).toHaveLength(1)
    expect(new Set(answers.filter(({ status }) => status !== 200).map((answer) => refusal(answer).join(" ")))).toStrictEqual(
      new Set(["400 invalid_grant"])
    )
    for (const answer of succeeded) expect(await statusWith(server(), answer.as(Tokens).access_token)).toBe(401)
  })

  once("is refused when the client's secret is deleted after the client has shown it", async () => {
    const client = await aClient(server())
    const code = await aCode(server(), client, await server().aMember())
    const redeemed = server().run(
      Effect.gen(function* () {
        const [clients, tokens] = yield* Effect.all([OAuth2Clients, OAuth2Tokens])
        const app = yield* clients.get(client.client_id)
        const deleted = { app, secretId: Uuid.Uuid.make(randomUUID()), isProven: true }
        return yield* Effect.flip(tokens.redeem(deleted, { ...code, redirect_uri: undefined, resource: [] }, {}))
      })
    )
    expect((await redeemed).error).toBe("invalid_grant")
    expect((await redeem(server(), client, code)).status).toBe(200)
  })

  once("needs its verifier, and is spent by a wrong one", async () => {
    const client = await aClient(server())
    const member = await server().aMember()
    const { code, code_verifier } = await aCode(server(), client, member)
    expect(refusal(await redeem(server(), client, { code, code_verifier: "short-text" }))).toStrictEqual([400, "invalid_request"])
    expect(refusal(await redeem(server(), client, { code }))).toStrictEqual([400, "invalid_request"])
    expect(refusal(await redeem(server(), client, { code, code_verifier: aVerifier().verifier }))).toStrictEqual([400, "invalid_grant"])
    expect(refusal(await redeem(server(), client, { code, code_verifier }))).toStrictEqual([400, "invalid_grant"])
  })

  once("expires after ten minutes", async () => {
    const client = await aClient(server())
    const code = await aCode(server(), client, await server().aMember())
    server().advance("11 minutes")
    expect(refusal(await redeem(server(), client, code))).toStrictEqual([400, "invalid_grant"])
  })

  once("belongs to its client", async () => {
    const [client, other] = [await aClient(server()), await aClient(server())]
    const code = await aCode(server(), client, await server().aMember())
    expect(refusal(await redeem(server(), other, code))).toStrictEqual([400, "invalid_grant"])
    const mixed = { client_id: client.client_id, client_secret: other.client_secret }
    expect(refusal(await redeem(server(), mixed, code))).toStrictEqual([401, "invalid_client"])
    expect((await redeem(server(), client, code)).status).toBe(200)
  })

  once("is redeemed with the redirect URI of its request", async () => {
    const client = await aClient(server())
    const member = await server().aMember()
    const code = await aCode(server(), client, member, { redirect_uri: callback })
    expect(refusal(await redeem(server(), client, code))).toStrictEqual([400, "invalid_grant"])
    const elsewhere = { ...code, redirect_uri: "https://client.example/other" }
    expect(refusal(await redeem(server(), client, elsewhere))).toStrictEqual([400, "invalid_request"])
    expect((await redeem(server(), client, { ...code, redirect_uri: callback })).status).toBe(200)
    const without = await aCode(server(), client, member)
    expect((await redeem(server(), client, { ...without, redirect_uri: callback })).status).toBe(200)
  })

  once("ends with the session that the user consented with", async () => {
    const client = await aClient(server())
    const member = await server().aMember()
    const code = await aCode(server(), client, member)
    expect((await server().call("POST", "/users/logout", { token: member.token })).status).toBe(200)
    expect(refusal(await redeem(server(), client, code))).toStrictEqual([400, "invalid_grant"])
  })

  once("of a suspended user is not redeemed", async () => {
    const client = await aClient(server())
    const member = await server().aMember()
    const code = await aCode(server(), client, member)
    const { token } = server().owner()
    await server().call("PUT", `/users/${member.user.id}/status/suspend`, { token })
    expect(refusal(await redeem(server(), client, code))).toStrictEqual([400, "invalid_grant"])
  })

  once.each(["1234_4321", "notservice_1234_4321", "service_1234", "service__1234", "service_1234_4321"])("%s is none", async (wrong) => {
    const client = await aClient(server())
    const code = await aCode(server(), client, await server().aMember())
    expect(refusal(await redeem(server(), client, { ...code, code: wrong }))).toStrictEqual([400, "invalid_grant"])
    const { client_id } = client
    expect(refusal(await redeem(server(), { client_id, client_secret: wrong }, code))).toStrictEqual([401, "invalid_client"])
  })
})

describeInterface("a token request", (server) => {
  it.each(["", "foobar", "password", "client_credentials", "implicit"])("of the grant type %j is refused", async (grant_type) => {
    const client = await aClient(server())
    expect(refusal(await post(server(), "tokens", { ...client, grant_type }))).toStrictEqual([400, "unsupported_grant_type"])
  })

  it("names its client by HTTP Basic, encoded as a form or not", async () => {
    const client = await aClient(server())
    const member = await server().aMember()
    const grant_type = "authorization_code"
    const plain = await post(server(), "tokens", { grant_type, ...(await aCode(server(), client, member)) }, basic(client))
    expect(plain.status).toBe(200)
    const { client_id, client_secret } = client
    const encoded = { client_id: client_id.replaceAll("-", "%2D"), client_secret: client_secret.replaceAll("_", "%5F") }
    const code = await aCode(server(), client, member)
    expect((await post(server(), "tokens", { grant_type, ...code }, basic(encoded))).status).toBe(200)
    const named = await post(server(), "tokens", { grant_type, client_id, ...(await aCode(server(), client, member)) }, basic(client))
    expect(named.status).toBe(200)
  })

  it("with two ways to authenticate is refused, even if they agree", async () => {
    const client = await aClient(server())
    const code = await aCode(server(), client, await server().aMember())
    for (const path of ["tokens", "revoke"]) {
      const fields = { grant_type: "authorization_code", ...code, token: "any" }
      const both = await post(server(), path, { ...fields, ...client }, basic(client))
      const differing = await post(server(), path, { ...fields, ...client, client_secret: "other" }, basic(client))
      expect([refusal(both), refusal(differing)]).toStrictEqual([
        [400, "invalid_request"],
        [400, "invalid_request"]
      ])
    }
    expect((await redeem(server(), client, code)).status).toBe(200)
  })

  it("without a known client is refused with a challenge", async () => {
    const grant_type = "authorization_code"
    expect(refusal(await post(server(), "tokens", { grant_type }))).toStrictEqual([400, "invalid_request"])
    for (const client_id of ["nothing", "0d4e1d3c-0000-7000-8000-000000000001"]) {
      const answer = await post(server(), "tokens", { grant_type, client_id })
      expect([...refusal(answer), answer.headers.get("www-authenticate")]).toStrictEqual([401, "invalid_client", 'Basic realm="service"'])
    }
  })

  it("reads no credentials from the query", async () => {
    const client = await aClient(server())
    const answer = await post(server(), `tokens?${new URLSearchParams({ ...client })}`, { grant_type: "refresh_token" })
    expect(refusal(answer)).toStrictEqual([400, "invalid_request"])
  })

  it("in another form is refused as the protocol says", async () => {
    const client = await aClient(server())
    const form = new URLSearchParams({ ...client, grant_type: "refresh_token" }).toString()
    const answers = [
      await post(server(), "tokens", JSON.stringify({ ...client, grant_type: "refresh_token" }), { "content-type": "application/json" }),
      await post(server(), "tokens", `${form}&refresh_token=a&refresh_token=b`),
      await post(server(), "tokens", form)
    ]
    expect(answers.map(refusal)).toStrictEqual(answers.map(() => [400, "invalid_request"]))
    expect(refusal(await post(server(), "tokens", `${form}&refresh_token=${"a".repeat(70_000)}`))).toStrictEqual([413, "invalid_request"])
    const wrongMethod = await server().call("GET", "//oauth2/tokens")
    expect([...refusal(wrongMethod), wrongMethod.headers.get("allow")]).toStrictEqual([405, "invalid_request", "DELETE, POST"])
  })

  it("ignores parameters that it does not know", async () => {
    const client = await aClient(server())
    const code = await aCode(server(), client, await server().aMember(), { prompt: "consent" })
    expect((await redeem(server(), client, { ...code, audience: "x" })).status).toBe(200)
  })
})

describeServerOnEach("a refresh token", (server, once) => {
  once("is replaced together with the access token", async () => {
    const client = await aClient(server())
    const first = await someTokens(server(), client, await server().aMember())
    // The header of a session, even an ended one, changes nothing
    const answer = await post(
      server(),
      "tokens",
      { grant_type: "refresh_token", ...client, refresh_token: first.refresh_token },
      { "Service-Session-Token": "ended" }
    )
    const next = answer.as(Tokens)
    expect([await statusWith(server(), first.access_token), await statusWith(server(), next.access_token)]).toStrictEqual([401, 200])
    expect(refusal(await refresh(server(), client, first.refresh_token))).toStrictEqual([400, "invalid_grant"])
    // Another window of the same editor may have refreshed in the same instant
    expect(await statusWith(server(), next.access_token)).toBe(200)
  })

  once("that comes again after a minute ends the grant", async () => {
    const client = await aClient(server())
    const first = await someTokens(server(), client, await server().aMember())
    const next = (await refresh(server(), client, first.refresh_token)).as(Tokens)
    server().advance("2 minutes")
    expect(refusal(await refresh(server(), client, first.refresh_token))).toStrictEqual([400, "invalid_grant"])
    expect(await statusWith(server(), next.access_token)).toBe(401)
    expect(refusal(await refresh(server(), client, next.refresh_token))).toStrictEqual([400, "invalid_grant"])
  })

  it("is replaced once by 50 requests at once", async () => {
    const client = await aClient(server())
    const { refresh_token } = await someTokens(server(), client, await server().aMember())
    const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(server(), client, refresh_token)))
    const succeeded = answers.filter(({ status }) => status === 200)
    expect(succeeded).toHaveLength(1)
    expect(new Set(answers.map(({ status }) => status))).toStrictEqual(new Set([200, 400]))
    for (const answer of succeeded) expect(await statusWith(server(), answer.as(Tokens).access_token)).toBe(200)
  })

  once("needs the secret of its client", async () => {
    const [client, other] = [await aClient(server()), await aClient(server())]
    const { refresh_token } = await someTokens(server(), client, await server().aMember())
    const { client_id } = client
    expect(refusal(await refresh(server(), { client_id }, refresh_token))).toStrictEqual([401, "invalid_client"])
    expect(refusal(await refresh(server(), other, refresh_token))).toStrictEqual([400, "invalid_grant"])
    expect((await refresh(server(), client, refresh_token)).status).toBe(200)
  })
})

describeServer("an app's permission", (server) => {
  it("may be given several times, and each ends by itself", async () => {
    const client = await aClient(server())
    const member = await server().aMember()
    const [laptop, desktop] = [await someTokens(server(), client, member), await someTokens(server(), client, member)]
    expect((await post(server(), "revoke", { client_id: client.client_id, token: laptop.refresh_token })).status).toBe(200)
    expect([await statusWith(server(), laptop.access_token), await statusWith(server(), desktop.access_token)]).toStrictEqual([401, 200])
    const revoked = await post(server(), "revoke", { ...client, token: desktop.access_token, token_type_hint: "access_token" })
    expect([revoked.status, revoked.text]).toStrictEqual([200, ""])
    expect(refusal(await refresh(server(), client, desktop.refresh_token))).toStrictEqual([400, "invalid_grant"])
  })

  it("is revoked by its own client alone", async () => {
    const [client, other] = [await aClient(server()), await aClient(server())]
    const tokens = await someTokens(server(), client, await server().aMember())
    for (const token of [tokens.refresh_token, tokens.access_token, "unknown", "service_a_b", "abcdefghij-abcdefghijabcdefghijab"]) {
      expect((await post(server(), "revoke", { ...other, token })).status).toBe(200)
    }
    expect(await statusWith(server(), tokens.access_token)).toBe(200)
    expect(refusal(await post(server(), "revoke", { ...client }))).toStrictEqual([400, "invalid_request"])
    const wrong = { client_id: client.client_id, client_secret: other.client_secret, token: tokens.access_token }
    expect(refusal(await post(server(), "revoke", wrong))).toStrictEqual([401, "invalid_client"])
    expect((await server().call("GET", "//oauth2/revoke")).status).toBe(405)
  })

  it("ends with its app, its secret and a disconnection by the user", async () => {
    const { token } = server().owner()
    const member = await server().aMember()
    const appsOf = async () =>
      (await server().call("GET", `/oauth2-provider/apps?user_id=${member.user.id}`, { token: member.token })).as(
        Schema.Array(Schema.Unknown)
      )
    const deleteSecret = async (id: string) => {
      const [secret] = (await server().call("GET", `/oauth2-provider/apps/${id}/secrets`, { token })).as(
        Schema.Array(Schema.Struct({ id: Schema.String }))
      )
      return server().call("DELETE", `/oauth2-provider/apps/${id}/secrets/${secret?.id}`, { token })
    }
    const ends = [
      (id: string) => server().call("DELETE", `/oauth2-provider/apps/${id}`, { token }),
      deleteSecret,
      (id: string) => server().call("DELETE", `//oauth2/tokens?client_id=${id}`, { token: member.token }),
      (id: string) => server().call("DELETE", `//api/v2/oauth2/tokens?client_id=${id}`, { token: member.token })
    ]
    for (const end of ends) {
      const client = await aClient(server())
      const { access_token } = await someTokens(server(), client, member)
      expect(await appsOf()).toHaveLength(1)
      expect((await end(client.client_id)).status).toBe(204)
      expect([await statusWith(server(), access_token), await appsOf()]).toStrictEqual([401, []])
    }
  })

  it("is disconnected only by a signed-in user", async () => {
    const { client_id } = await aClient(server())
    const anonymous = await server().call("DELETE", `//oauth2/tokens?client_id=${client_id}`)
    expect([anonymous.status, anonymous.headers.get("www-authenticate")]).toStrictEqual([
      401,
      'Bearer realm="service", resource_metadata="http://atelier.test/.well-known/oauth-protected-resource"'
    ])
    const { token } = server().owner()
    expect(refusal(await server().call("DELETE", "//oauth2/tokens?client_id=unknown", { token }))).toStrictEqual([401, "invalid_client"])
    expect((await server().call("DELETE", `//oauth2/tokens?client_id=${client_id}`, { token })).status).toBe(204)
    const forged = await server().call("DELETE", `//oauth2/tokens?client_id=${client_id}`, {
      headers: { cookie: `service_session_token=${token}` }
    })
    expect(forged.status).toBe(400)
  })

  it("gives no credentials and no rights, although its user may", async () => {
    const client = await aClient(server())
    const owner = server().owner()
    const { access_token } = await someTokens(server(), client, owner, { scope: "coder:all" })
    const member = await server().aMember()
    const me = await server().call("GET", "/users/me", { token: owner.token })
    const [organization] = me.as(Schema.Struct({ organization_ids: Schema.Array(Schema.String) })).organization_ids
    const user = { email: "new@example.com", username: "new-user", password: ownerPassword, organization_ids: [organization] }
    const calls: ReadonlyArray<readonly ["POST" | "PUT" | "PATCH", string, unknown]> = [
      ["POST", "/users", user],
      ["PUT", `/users/${member.user.id}/roles`, { roles: ["owner"] }],
      ["PUT", `/users/${member.user.id}/status/suspend`, undefined],
      ["PUT", `/users/${member.user.id}/password`, { password: "AnotherSecurePassword!" }],
      ["PUT", "/users/me/password", { old_password: ownerPassword, password: "AnotherSecurePassword!" }],
      ["PUT", "/users/me/profile", { username: "owner", name: "Changed" }],
      ["PUT", "/users/me/gitsshkey", undefined],
      ["POST", "/users/me/convert-login", { password: ownerPassword, to_type: "github" }],
      ["POST", "/users/me/keys", undefined],
      ["POST", "/users/me/keys/tokens", {}],
      ["POST", "/users/me/secrets", { name: "SECRET", value: "value", env_name: "SECRET" }],
      ["PUT", `/organizations/${organization}/members/${member.user.id}/roles`, { roles: ["organization-admin"] }],
      ["PATCH", `/organizations/${organization}`, { description: "Changed" }],
      ["POST", `/oauth2-provider/apps`, { name: "another", callback_url: "https://client.example" }],
      ["POST", `/oauth2-provider/apps/${client.client_id}/secrets`, undefined],
      ["PUT", `/oauth2-provider/settings`, { dynamic_client_registration_enabled: true }],
      ["POST", "/organizations", { name: "another" }],
      ["POST", `/organizations/${organization}/provisionerkeys`, { name: "key" }],
      ["POST", `/organizations/${organization}/groups`, { name: "group" }],
      ["POST", "/workspaceproxies", { name: "proxy" }],
      ["POST", "/licenses", { license: "text" }]
    ]
    for (const [method, path, body] of calls) {
      const { status } = await server().call(method, path, { token: access_token, ...(body === undefined ? {} : { body }) })
      expect([method, path, [403, 404].includes(status)]).toStrictEqual([method, path, true])
    }
    const { challenge } = aVerifier()
    const consent = await server().call("POST", authorizePath(authorizeQuery(client, challenge)), { token: access_token })
    expect(refusal(consent)).toStrictEqual([403, "access_denied"])
    // What else its user may do stays
    expect((await server().call("GET", `/users/${member.user.id}`, { token: access_token })).status).toBe(200)
  })

  it("makes keys with a scope that names them, and none with more than its own scopes", async () => {
    const client = await aClient(server())
    const scope = "api_key:create user:read workspace:read"
    const { access_token: token } = await someTokens(server(), client, await server().aMember(), { scope })
    const keyWith = (scopes: ReadonlyArray<string>, token_name: string) =>
      server().call("POST", "/users/me/keys/tokens", { token, body: { scopes, token_name } })
    expect((await keyWith(["workspace:read"], "narrow")).status).toBe(201)
    expect((await keyWith(["coder:all"], "wide")).status).toBe(403)
    expect((await keyWith(["workspace:update"], "other")).status).toBe(403)
  })

  it("sees and changes nothing else with the scopes of a request without any", async () => {
    const client = await aClient(server())
    const member = await server().aMember()
    const answer = await redeem(server(), client, await aCode(server(), client, member))
    expect(answer.body).toMatchObject({ scope: "organization:read template:read user:read workspace:read" })
    const { access_token: token } = answer.as(Tokens)
    const statuses = [
      (await server().call("GET", "/users/me", { token })).status,
      (await server().call("GET", "/workspaces?q=owner:me", { token })).status,
      (await server().call("GET", "/users/me/gitsshkey", { token })).status,
      (await server().call("PUT", "/users/me/appearance", { token, body: { theme_preference: "dark", terminal_font: "" } })).status
    ]
    expect(statuses).toStrictEqual([200, 200, 404, 404])
  })

  it("lasts as long as its refresh token, whatever becomes of expired keys", async () => {
    const client = await aClient(server())
    const { access_token, refresh_token } = await someTokens(server(), client, await server().aMember())
    server().advance("20 days")
    expect(await statusWith(server(), access_token)).toBe(401)
    const next = (await refresh(server(), client, refresh_token)).as(Tokens)
    expect(await statusWith(server(), next.access_token)).toBe(200)
    server().advance("31 days")
    expect(refusal(await refresh(server(), client, next.refresh_token))).toStrictEqual([400, "invalid_grant"])
  })
})

describeInterface("the audit log", (server) => {
  it("has every step of a permission, and no part of a secret", async () => {
    const client = await aClient(server())
    const member = await server().aMember()
    const { user } = member
    const code = await aCode(server(), client, member)
    const first = (await redeem(server(), client, code)).as(Tokens)
    const next = (await refresh(server(), client, first.refresh_token)).as(Tokens)
    await post(server(), "revoke", { ...client, token: next.access_token })
    await server().call("DELETE", `//oauth2/tokens?client_id=${client.client_id}`, { token: member.token })
    const all = await server().run(auditEntries({ user_id: user.id }))
    const entries = all.filter(({ additional_fields }) => "event" in additional_fields)
    expect(
      entries.map(({ action, additional_fields, resource_type, status_code }) => [
        action,
        resource_type,
        additional_fields["event"],
        status_code
      ])
    ).toStrictEqual([
      ["write", "oauth2_provider_app", "consent", 200],
      ["create", "api_key", "redeem", 200],
      ["write", "api_key", "rotate", 200],
      ["delete", "api_key", "revoke", 200],
      ["delete", "api_key", "disconnect", 200]
    ])
    const text = JSON.stringify(all)
    const secrets = [client.client_secret, code.code, first.access_token, first.refresh_token, next.access_token, next.refresh_token]
    for (const secret of secrets) for (const part of secret.split(/[_-]/).slice(-1)) expect(text).not.toContain(part)
  })
})

describeInterface("the audience of a token", (server) => {
  it.each([
    ["http://atelier.test", "http://atelier.test", 200],
    ["http://ATELIER.test:80/", "http://atelier.test", 200],
    ["http://atelier.test/api/v2/users", "http://atelier.test/api/v2/users/", 200],
    ["http://atelier.test", undefined, 400],
    [undefined, "http://atelier.test", 400],
    ["http://atelier.test", "http://atelier.test/other", 400]
  ])("asked for as %s and then as %s is answered with %i", async (asked, redeemed, status) => {
    const client = await aClient(server())
    const code = await aCode(server(), client, await server().aMember(), asked === undefined ? {} : { resource: asked })
    const answer = await redeem(server(), client, { ...code, ...(redeemed === undefined ? {} : { resource: redeemed }) })
    expect(answer.status).toBe(status)
    if (status !== 200) return expect(refusal(answer)).toStrictEqual([400, "invalid_target"])
    const { access_token, refresh_token } = answer.as(Tokens)
    expect(await statusWith(server(), access_token)).toBe(200)
    const other = await refresh(server(), client, refresh_token, { resource: "http://atelier.test/else" })
    expect(refusal(other)).toStrictEqual([400, "invalid_target"])
    const next = (await refresh(server(), client, refresh_token)).as(Tokens)
    expect(await statusWith(server(), next.access_token)).toBe(200)
  })

  it("that is a part of the deployment keeps the token out of all others", async () => {
    const client = await aClient(server())
    const resource = "http://atelier.test/api/v2/organizations"
    const { access_token: token } = await someTokens(server(), client, await server().aMember(), { resource })
    const statuses = [
      (await server().call("GET", "/organizations", { token })).status,
      (await server().call("GET", "/organizations/default", { token })).status,
      (await server().call("GET", "/users/me", { token })).status,
      (await server().call("GET", "/organizations/../users/me", { token })).status
    ]
    expect(statuses).toStrictEqual([200, 200, 401, 401])
  })

  it("is another server where the deployment has moved since", async () => {
    const client = await aClient(server())
    const resource = "http://atelier.test"
    const { access_token } = await someTokens(server(), client, await server().aMember(), { resource })
    const moved = JSON.stringify(["https://former.example"])
    await server().run(
      Effect.gen(function* () {
        const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
        yield* sql`UPDATE api_keys SET audience = ${moved} WHERE id = ${access_token.slice(0, 10)}`
      })
    )
    const answer = await server().call("GET", "/users/me", { headers: { authorization: `Bearer ${access_token}` } })
    expect([answer.status, answer.text.includes("audience")]).toStrictEqual([401, true])
    expect(answer.headers.get("www-authenticate")).toContain('error="invalid_token"')
  })

  it("is this deployment", async () => {
    const client = await aClient(server())
    const { challenge } = aVerifier()
    const query = authorizeQuery(client, challenge, { resource: "https://elsewhere.example" })
    const { token } = server().owner()
    expect(refusal(await server().call("POST", authorizePath(query), { token }))).toStrictEqual([400, "invalid_target"])
    expect(broughtBack(await server().call("GET", authorizePath(query), { token })).get("error")).toBe("invalid_target")
  })
})

describeInterface("the scopes that an app asks for", (server) => {
  it("bound the access token", async () => {
    const client = await aClient(server())
    const member = await server().aMember()
    const code = await aCode(server(), client, member, { scope: "workspace:read user:read" })
    const answer = await redeem(server(), client, code)
    expect(answer.body).toMatchObject({ scope: "workspace:read user:read" })
    const { access_token } = answer.as(Tokens)
    expect(await statusWith(server(), access_token)).toBe(200)
    expect((await server().call("GET", `/users/me/gitsshkey`, { token: access_token })).status).not.toBe(200)
    const { challenge } = aVerifier()
    const unknown = await server().call("POST", authorizePath(authorizeQuery(client, challenge, { scope: "nonsense" })), {
      token: member.token
    })
    expect(refusal(unknown)).toStrictEqual([400, "invalid_scope"])
  })

  it("become fewer with a refresh, and never more", async () => {
    const client = await aClient(server())
    const first = await someTokens(server(), client, await server().aMember(), { scope: "workspace:* user:read" })
    for (const scope of ["coder:all", "workspace:read template:read", "nonsense"]) {
      expect(refusal(await refresh(server(), client, first.refresh_token, { scope }))).toStrictEqual([400, "invalid_scope"])
    }
    const fewer = await refresh(server(), client, first.refresh_token, { scope: "workspace:read" })
    expect([fewer.status, fewer.body]).toMatchObject([200, { scope: "workspace:read" }])
    const tokens = fewer.as(Tokens)
    expect(await statusWith(server(), tokens.access_token)).toBe(404)
    // The grant keeps what the user consented to
    const whole = await refresh(server(), client, tokens.refresh_token)
    expect(whole.body).toMatchObject({ scope: "workspace:* user:read" })
    expect(await statusWith(server(), whole.as(Tokens).access_token)).toBe(200)
  })
})

describeInterface(
  "a deployment for an ecosystem whose editors need more than they ask for",
  (server) => {
    it("gives an app that asks for scopes the ordinary rights of its user", async () => {
      const client = await aClient(server())
      const asked = { scope: "workspace:read" }
      const answer = await redeem(server(), client, await aCode(server(), client, server().owner(), asked))
      expect(Object.keys(answer.body as object)).not.toContain("scope")
      const { access_token, refresh_token } = answer.as(Tokens)
      const headers = { authorization: `Bearer ${access_token}` }
      expect((await server().call("GET", "/users/me/gitsshkey", { headers })).status).toBe(200)
      expect((await server().call("POST", "/users/me/keys", { headers })).status).toBe(403)
      const next = (await refresh(server(), client, refresh_token, asked)).as(Tokens)
      expect(
        (await server().call("GET", "/users/me/gitsshkey", { headers: { authorization: `Bearer ${next.access_token}` } })).status
      ).toBe(200)
    })
  },
  { options: { narrowOauth2Scopes: false } }
)
