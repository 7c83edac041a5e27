import { DeviceAuthorizations } from "@atelier/core/oauth2"
import { Effect, Schema } from "effect"
import * as oauth from "oauth4webapi"
import { expect, it } from "vitest"
import { aBrowser } from "../../../../../test/outside/browser.js"
import { describeServer, type Person, type TestServer } from "../../../../../test/http/server.js"
import { aClient, type Client, discovered, type Fields, overHttp, post, refresh, refusal, statusWith, Tokens } from "../OAuthClient.js"

const grant_type = "urn:ietf:params:oauth:grant-type:device_code"
const page = "http://atelier.test/oauth2/device"

const begin = async (server: TestServer, { client_id, client_secret }: Client, more: Fields = {}) => {
  const as = await discovered(server)
  const authentication = oauth.ClientSecretPost(client_secret)
  const response = await oauth.deviceAuthorizationRequest(as, { client_id }, authentication, new URLSearchParams(more), overHttp(server))
  return oauth.processDeviceAuthorizationResponse(as, { client_id }, response)
}

const poll = (server: TestServer, client: Client, device_code: string) => post(server, "tokens", { grant_type, ...client, device_code })

/** A browser with a session, and what its user does on the page. */
const atThePage = async (server: TestServer, { token }: Person) => {
  const browser = aBrowser({ "http://atelier.test": server.url }, { accept: "text/html" })
  browser.jar("http://atelier.test").set("service_session_token", token)
  const first = await browser.visit(page)
  const csrf = /name="csrf_token" value="([^"]*)"/.exec(first.text)?.[1] ?? ""
  return (fields: Fields) =>
    browser.visit(page, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ csrf_token: csrf, ...fields })
    })
}

describeServer("a device without a browser", (server) => {
  it("gets tokens once its user has typed its code and allowed it", async () => {
    const client = await aClient(server())
    const member = await server().aMember()
    const device = await begin(server(), client, { scope: "workspace:read user:read" })
    expect(device.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
    expect(device).toMatchObject({
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${device.user_code}`,
      expires_in: 600,
      interval: 5
    })
    expect(refusal(await poll(server(), client, device.device_code))).toStrictEqual([400, "authorization_pending"])

    const send = await atThePage(server(), member)
    const typed = device.user_code.toLowerCase().replace("-", " ")
    const asked = await send({ user_code: typed })
    for (const shown of ["editor", member.user.username, "<li>See your workspaces</li>", "device of your own"])
      expect(asked.text).toContain(shown)
    expect(asked.text).not.toContain("<script")
    expect((await send({ user_code: typed, decision: "allow" })).text).toContain("The device is connected")
    expect((await send({ user_code: typed, decision: "allow" })).status).toBe(400)

    server().advance("6 seconds")
    const answers = await Promise.all(Array.from({ length: 8 }, () => poll(server(), client, device.device_code)))
    const issued = answers.filter(({ status }) => status === 200)
    expect(issued).toHaveLength(1)
    const tokens = (issued[0] ?? answers[0])?.as(Tokens)
    expect(await statusWith(server(), tokens?.access_token ?? "")).toBe(200)
    expect((await refresh(server(), client, tokens?.refresh_token ?? "")).body).toMatchObject({ scope: "workspace:read user:read" })
    expect(refusal(await poll(server(), client, device.device_code))).toStrictEqual([400, "invalid_grant"])
  })

  it("asks less often when it has asked too often", async () => {
    const client = await aClient(server())
    const { device_code } = await begin(server(), client)
    const error = async () => refusal(await poll(server(), client, device_code))[1]
    expect([await error(), await error()]).toStrictEqual(["authorization_pending", "slow_down"])
    server().advance("6 seconds")
    expect(await error()).toBe("slow_down")
    server().advance("16 seconds")
    expect(await error()).toBe("authorization_pending")
  })

  it("is told that its user has denied it, or that its code has expired", async () => {
    const client = await aClient(server())
    const [denied, expired] = [await begin(server(), client), await begin(server(), client)]
    const send = await atThePage(server(), server().owner())
    expect((await send({ user_code: denied.user_code, decision: "deny" })).text).toContain("The device is not connected")
    expect(refusal(await poll(server(), client, denied.device_code))).toStrictEqual([400, "access_denied"])
    server().advance("11 minutes")
    expect((await send({ user_code: expired.user_code, decision: "allow" })).status).toBe(400)
    expect(refusal(await poll(server(), client, expired.device_code))).toStrictEqual([400, "expired_token"])
    server().advance("2 hours")
    await server().run(Effect.flatMap(DeviceAuthorizations, ({ purge }) => purge.run))
    expect(refusal(await poll(server(), client, expired.device_code))).toStrictEqual([400, "invalid_grant"])
  })

  it("loses a permission that ends with the session it was given in", async () => {
    const client = await aClient(server())
    const member = await server().aMember()
    const { device_code, user_code } = await begin(server(), client)
    await (
      await atThePage(server(), member)
    )({ user_code, decision: "allow" })
    await server().call("POST", "/users/logout", { token: member.token })
    expect(refusal(await poll(server(), client, device_code))).toStrictEqual([400, "invalid_grant"])
  })

  it("loses a permission whose user disconnects the app before it is used", async () => {
    const client = await aClient(server())
    const [member, other] = [await server().aMember(), await server().aMember()]
    const devices = [await begin(server(), client), await begin(server(), client)]
    for (const [index, person] of [member, other].entries()) {
      const send = await atThePage(server(), person)
      await send({ user_code: devices[index]?.user_code ?? "", decision: "allow" })
    }
    const path = `//oauth2/tokens?client_id=${client.client_id}`
    expect((await server().call("DELETE", path, { token: member.token })).status).toBe(204)
    const polls = await Promise.all(devices.map(({ device_code }) => poll(server(), client, device_code)))
    expect(polls.map(({ status }) => status)).toStrictEqual([400, 200])
    expect(polls[0] === undefined ? [] : refusal(polls[0])).toStrictEqual([400, "invalid_grant"])
  })

  it("is connected by a user's own form alone", async () => {
    const client = await aClient(server())
    const { user_code } = await begin(server(), client)
    const anonymous = await server().call("GET", `//oauth2/device?user_code=${user_code}`, { headers: { accept: "text/html" } })
    const login = new URL(anonymous.headers.get("location") ?? "", "http://atelier.test")
    expect([anonymous.status, login.searchParams.get("redirect")]).toStrictEqual([303, `/oauth2/device?user_code=${user_code}`])
    const send = await atThePage(server(), server().owner())
    expect((await send({ user_code, decision: "allow", csrf_token: "" })).status).toBe(400)
    const unknown = (await send({ user_code: "BBBB-BBBB" })).text
    expect(unknown).toMatch(/<input id="user_code" [^>]*aria-invalid="true" aria-describedby="user_code-fault" autofocus>/)
    // One button of the page is the main one
    expect((await send({ user_code })).text.match(/<button type="submit"/g)).toHaveLength(1)
    const scoped = await server().call("POST", "/users/me/keys/tokens", { token: server().owner().token, body: { scopes: ["user:read"] } })
    const { key } = scoped.as(Schema.Struct({ key: Schema.String }))
    const narrow = await atThePage(server(), { ...server().owner(), token: key })
    expect((await narrow({ user_code, decision: "allow" })).status).toBe(403)
    // Saying no gives nothing away
    expect((await narrow({ user_code, decision: "deny" })).text).toContain("The device is not connected")
  })

  it("needs a client that has registered for it", async () => {
    const register = async (grant_types: ReadonlyArray<string>) => {
      const body = {
        grant_types,
        token_endpoint_auth_method: "none",
        redirect_uris: grant_types.includes("authorization_code") ? ["http://127.0.0.1/cb"] : []
      }
      return (await server().call("POST", "//oauth2/register", { body })).as(Schema.Struct({ client_id: Schema.String }))
    }
    const other = await register(["authorization_code"])
    expect(refusal(await post(server(), "device_authorization", other))).toStrictEqual([400, "unauthorized_client"])
    expect((await post(server(), "device_authorization", await register([grant_type, "refresh_token"]))).status).toBe(200)
    const { client_id } = await aClient(server())
    expect(refusal(await post(server(), "device_authorization", { client_id }))).toStrictEqual([401, "invalid_client"])
  })
})
