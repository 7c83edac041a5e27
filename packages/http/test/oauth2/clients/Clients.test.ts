/** The authorization server with clients of other authors: each discovers, registers, authorizes, exchanges, calls, refreshes and revokes. */
import { auth, type OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js"
import type { OAuthClientInformationMixed, OAuthClientMetadata, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js"
import * as oauth from "oauth4webapi"
import * as openid from "openid-client"
import { describe, expect, it } from "vitest"
import { describeInterface, describeServer, type Person, type TestServer } from "../../../../../test/http/server.js"

const redirect_uri = "https://client.example/callback"

/** A `fetch` that finds the deployment's address at the test's server. */
const fetchAt =
  ({ url: at }: TestServer) =>
  (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input)
    return fetch(`${at}${pathname}${search}`, init)
  }

/** The user consents; answers where the browser is sent. `Chromium.test.ts` does so in a browser. */
const consentAt = async (server: TestServer, { token }: Person, authorization: URL): Promise<URL> => {
  const answer = await fetchAt(server)(authorization, {
    method: "POST",
    redirect: "manual",
    headers: { "Service-Session-Token": token }
  })
  return new URL(answer.headers.get("location") ?? "")
}

/** The user that a token acts for; undefined for a token that is refused. */
const userOf = async (server: TestServer, base: string, token: string): Promise<unknown> => {
  const answer = await fetchAt(server)(`${base}/api/v2/users/me`, { headers: { authorization: `Bearer ${token}` } })
  const user: unknown = await answer.json()
  return answer.status === 200 && typeof user === "object" && user !== null && "id" in user ? user.id : undefined
}

const flows = (base: string) => (server: () => TestServer) => {
  it("works with openid-client", async () => {
    const member = await server().aMember()
    const metadata = { redirect_uris: [redirect_uri], client_name: "openid-client" }
    const config = await openid.dynamicClientRegistration(new URL(base), metadata, undefined, {
      algorithm: "oauth2",
      [openid.customFetch]: (url, init) => fetchAt(server())(url, init as RequestInit)
    })
    const [pkceCodeVerifier, expectedState] = [openid.randomPKCECodeVerifier(), openid.randomState()]
    const authorization = openid.buildAuthorizationUrl(config, {
      redirect_uri,
      state: expectedState,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: "S256"
    })
    const back = await consentAt(server(), member, authorization)
    const tokens = await openid.authorizationCodeGrant(config, back, { pkceCodeVerifier, expectedState })
    expect(await userOf(server(), base, tokens.access_token)).toBe(member.user.id)
    const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? "")
    expect(await userOf(server(), base, tokens.access_token)).toBeUndefined()
    expect(await userOf(server(), base, next.access_token)).toBe(member.user.id)
    await openid.tokenRevocation(config, next.refresh_token ?? "")
    expect(await userOf(server(), base, next.access_token)).toBeUndefined()
  })

  it("works with oauth4webapi", async () => {
    const member = await server().aMember()
    const options = { [oauth.customFetch]: (url: string, init: object) => fetchAt(server())(url, init as RequestInit) }
    const issuer = new URL(base)
    const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...options }))
    const registered = await oauth.processDynamicClientRegistrationResponse(
      await oauth.dynamicClientRegistrationRequest(as, { redirect_uris: [redirect_uri] }, options)
    )
    const client: oauth.Client = { client_id: registered.client_id }
    const clientAuth = oauth.ClientSecretBasic(String(registered["client_secret"]))
    const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()]
    const authorization = new URL(as.authorization_endpoint ?? "")
    authorization.search = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri,
      response_type: "code",
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256"
    }).toString()
    const back = oauth.validateAuthResponse(as, client, await consentAt(server(), member, authorization), state)
    const tokens = await oauth.processAuthorizationCodeResponse(
      as,
      client,
      await oauth.authorizationCodeGrantRequest(as, client, clientAuth, back, redirect_uri, verifier, options)
    )
    expect(await userOf(server(), base, tokens.access_token)).toBe(member.user.id)
    const next = await oauth.processRefreshTokenResponse(
      as,
      client,
      await oauth.refreshTokenGrantRequest(as, client, clientAuth, tokens.refresh_token ?? "", options)
    )
    expect(await userOf(server(), base, next.access_token)).toBe(member.user.id)
    await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, clientAuth, next.access_token, options))
    expect(await userOf(server(), base, next.access_token)).toBeUndefined()
  })

  it.each(["none", "client_secret_post"])("works with the Model Context Protocol's client by the method %s", async (method) => {
    const member = await server().aMember()
    const kept: { client?: OAuthClientInformationMixed; tokens?: OAuthTokens; verifier?: string; authorization?: URL } = {}
    const clientMetadata: OAuthClientMetadata = {
      redirect_uris: [redirect_uri],
      client_name: "MCP client",
      token_endpoint_auth_method: method
    }
    const provider: OAuthClientProvider = {
      redirectUrl: redirect_uri,
      clientMetadata,
      state: () => "a state",
      clientInformation: () => kept.client,
      saveClientInformation: (client) => void (kept.client = client),
      tokens: () => kept.tokens,
      saveTokens: (tokens) => void (kept.tokens = tokens),
      redirectToAuthorization: (url) => void (kept.authorization = url),
      saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
      codeVerifier: () => kept.verifier ?? ""
    }
    const options = { serverUrl: `${base}/api/v2`, fetchFn: fetchAt(server()) }
    expect(await auth(provider, options)).toBe("REDIRECT")
    if (kept.authorization === undefined) throw new Error("the client asks for no authorization")
    expect(kept.authorization.searchParams.get("resource")).toBe(`${base}/api/v2`)
    const back = await consentAt(server(), member, kept.authorization)
    const authorizationCode = back.searchParams.get("code") ?? ""
    expect(await auth(provider, { ...options, authorizationCode })).toBe("AUTHORIZED")
    const first = kept.tokens?.access_token ?? ""
    expect(await userOf(server(), base, first)).toBe(member.user.id)
    // With a refresh token the client renews instead of asking the user again
    expect(await auth(provider, options)).toBe("AUTHORIZED")
    const next = kept.tokens?.access_token ?? ""
    expect([await userOf(server(), base, first), await userOf(server(), base, next)]).toStrictEqual([undefined, member.user.id])
    const form = new URLSearchParams({ client_id: kept.client?.client_id ?? "", token: next })
    expect((await fetchAt(server())(`${base}/oauth2/revoke`, { method: "POST", body: form })).status).toBe(200)
    expect(await userOf(server(), base, next)).toBeUndefined()
  })
}

describe("at the root", () => {
  const base = "https://atelier.test"
  describeServer("the authorization server", flows(base), { accessUrl: base })
})

describe("below a prefix", () => {
  const base = "https://atelier.test/dev/atelier"
  describeInterface("the authorization server", flows(base), { accessUrl: base })
})
