import * as oauth from "oauth4webapi"
import { expect, it } from "vitest"
import { describeServer, type TestServer } from "../../../../../test/http/server.js"
import { aClient, type Client, discovered, overHttp, post, refresh, refusal, someTokens, Tokens } from "../OAuthClient.js"

const introspect = async (server: TestServer, { client_id, client_secret }: Client, token: string) => {
  const as = await discovered(server)
  const response = await oauth.introspectionRequest(as, { client_id }, oauth.ClientSecretBasic(client_secret), token, overHttp(server))
  return oauth.processIntrospectionResponse(as, { client_id }, response)
}

describeServer("introspection", (server) => {
  it("tells a client about its good tokens", async () => {
    const client = await aClient(server())
    const member = await server().aMember()
    const scope = "workspace:read user:read"
    const { access_token, refresh_token } = await someTokens(server(), client, member, { scope, resource: "http://atelier.test" })
    const now = Math.floor(Date.now() / 1000)
    const common = { active: true, scope, client_id: client.client_id, username: member.user.username, sub: member.user.id }
    const about = await introspect(server(), client, access_token)
    expect(about).toMatchObject({ ...common, token_type: "Bearer", aud: ["http://atelier.test"], iss: "http://atelier.test" })
    expect(Math.abs((about.exp ?? 0) - now - 86_400)).toBeLessThan(60)
    const refreshing = await introspect(server(), client, refresh_token)
    expect(refreshing).toMatchObject(common)
    expect(refreshing.exp).toBeGreaterThan(now + 29 * 86_400)
  })

  it("says nothing of other tokens but that they are not active", async () => {
    const [client, other] = [await aClient(server()), await aClient(server())]
    const member = await server().aMember()
    const tokens = await someTokens(server(), client, member)
    const next = (await refresh(server(), client, tokens.refresh_token)).as(Tokens)
    const ended = [tokens.access_token, tokens.refresh_token, member.token, `${next.access_token.slice(0, -1)}!`, "unknown", "service_a_b"]
    for (const token of ended) expect(await introspect(server(), client, token)).toStrictEqual({ active: false })
    for (const token of [next.access_token, next.refresh_token])
      expect(await introspect(server(), other, token)).toStrictEqual({ active: false })
    expect(await introspect(server(), client, next.access_token)).toMatchObject({ active: true })
    await server().call("PUT", `/users/${member.user.id}/status/suspend`, { token: server().owner().token })
    expect(await introspect(server(), client, next.access_token)).toStrictEqual({ active: false })
  })

  it("needs a client that proves who it is", async () => {
    const client = await aClient(server())
    const { access_token: token } = await someTokens(server(), client, await server().aMember())
    const { client_id } = client
    const registered = await server().call("POST", "//oauth2/register", {
      body: { redirect_uris: ["http://127.0.0.1/cb"], token_endpoint_auth_method: "none" }
    })
    const isPublic = (registered.body as { client_id: string }).client_id
    for (const fields of [
      { client_id, token },
      { client_id, client_secret: "wrong", token },
      { client_id: isPublic, token }
    ]) {
      expect(refusal(await post(server(), "introspect", fields))).toStrictEqual([401, "invalid_client"])
    }
    expect(refusal(await post(server(), "introspect", { ...client }))).toStrictEqual([400, "invalid_request"])
  })
})
