import { PushedRequests } from "@atelier/core/oauth2"
import { Effect } from "effect"
import * as oauth from "oauth4webapi"
import { expect, it } from "vitest"
import { describeServer, type TestServer } from "../../../../../test/http/server.js"
import { aClient, aVerifier, broughtBack, type Client, discovered, type Fields, overHttp, post, redeem, refusal } from "../OAuthClient.js"

const { challenge, verifier } = aVerifier()

const asking = { response_type: "code", state: "some state", code_challenge: challenge, code_challenge_method: "S256" }

const pushed = async (server: TestServer, { client_id, client_secret }: Client, more: Fields = {}) => {
  const as = await discovered(server)
  const parameters = new URLSearchParams({ ...asking, ...more })
  const authentication = oauth.ClientSecretPost(client_secret)
  const response = await oauth.pushedAuthorizationRequest(as, { client_id }, authentication, parameters, overHttp(server))
  return oauth.processPushedAuthorizationResponse(as, { client_id }, response)
}

const addressOf = ({ client_id }: Pick<Client, "client_id">, request_uri: string) =>
  `//oauth2/authorize?${new URLSearchParams({ client_id, request_uri })}`

describeServer("a pushed authorization request", (server) => {
  it("is consented to once, with nothing in the address", async () => {
    const client = await aClient(server())
    const { token } = await server().aMember()
    const { expires_in, request_uri } = await pushed(server(), client, { scope: "workspace:read" })
    expect([expires_in, request_uri.startsWith("urn:ietf:params:oauth:request_uri:")]).toStrictEqual([600, true])
    const address = addressOf(client, request_uri)
    const page = await server().call("GET", `${address}&scope=coder:all&state=other`, { token, headers: { accept: "text/html" } })
    expect([page.status, page.text.match(/<li>[^<]*/g)]).toStrictEqual([200, ["<li>See your workspaces"]])
    const answers = await Promise.all(Array.from({ length: 8 }, () => server().call("POST", address, { token })))
    const [consented, ...others] = answers.toSorted((one, other) => one.status - other.status)
    expect(others.map(refusal)).toStrictEqual(others.map(() => [400, "invalid_request_uri"]))
    const parameters = broughtBack(consented ?? page)
    expect(parameters.get("state")).toBe("some state")
    const answer = await redeem(server(), client, { code: parameters.get("code") ?? "", code_verifier: verifier })
    expect(answer.body).toMatchObject({ scope: "workspace:read" })
  })

  it("belongs to its client, and expires", async () => {
    const [client, other] = [await aClient(server()), await aClient(server())]
    const { token } = server().owner()
    const { request_uri } = await pushed(server(), client)
    const wrong = [addressOf(other, request_uri), addressOf(client, `${request_uri}x`), addressOf(client, "https://client.example/request")]
    for (const address of wrong) expect(refusal(await server().call("GET", address, { token }))).toStrictEqual([400, "invalid_request_uri"])
    server().advance("11 minutes")
    expect(refusal(await server().call("GET", addressOf(client, request_uri), { token }))).toStrictEqual([400, "invalid_request_uri"])
    await server().run(Effect.flatMap(PushedRequests, ({ purge }) => purge.run))
  })

  it("is refused as the authorization endpoint would refuse it", async () => {
    const client = await aClient(server())
    const refusals = [
      [{ ...client, ...asking, code_challenge: "short" }, 400, "invalid_request"],
      [{ ...client, ...asking, redirect_uri: "https://evil.example" }, 400, "invalid_request"],
      [{ ...client, ...asking, scope: "nonsense" }, 400, "invalid_scope"],
      [{ ...client, ...asking, resource: "https://elsewhere.example" }, 400, "invalid_target"],
      [{ ...client, ...asking, request_uri: "urn:x" }, 400, "invalid_request"],
      [{ ...client, ...asking, request: "a.b.c" }, 400, "request_not_supported"],
      [{ client_id: client.client_id, ...asking }, 401, "invalid_client"]
    ] as const
    for (const [fields, status, error] of refusals) expect(refusal(await post(server(), "par", fields))).toStrictEqual([status, error])
  })

  it("is all that a client may send that has registered so", async () => {
    const registered = await server().call("POST", "//oauth2/register", {
      body: { redirect_uris: ["https://client.example/callback"], require_pushed_authorization_requests: true }
    })
    const client = registered.body as Client
    expect(registered.body).toMatchObject({ require_pushed_authorization_requests: true })
    const { token } = server().owner()
    const direct = `//oauth2/authorize?${new URLSearchParams({ client_id: client.client_id, ...asking })}`
    expect(refusal(await server().call("POST", direct, { token }))).toStrictEqual([400, "invalid_request"])
    const { request_uri } = await pushed(server(), client)
    expect(broughtBack(await server().call("POST", addressOf(client, request_uri), { token })).get("code")).not.toBeNull()
  })
})
