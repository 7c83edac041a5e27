import { Schema } from "effect"
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from "jose"
import { createHash, randomUUID } from "node:crypto"
import * as oauth from "oauth4webapi"
import { beforeAll, expect, it } from "vitest"
import { describeServer, type TestServer } from "../../../../../test/http/server.js"
import { aClient, aCode, callback, type Client, discovered, type Fields, overHttp, post, redeem, refusal } from "../OAuthClient.js"

const Bound = Schema.Struct({ access_token: Schema.String, refresh_token: Schema.String, token_type: Schema.Literal("DPoP") })
const base = "http://atelier.test"

let key: CryptoKeyPair
let other: CryptoKeyPair

beforeAll(async () => {
  key = (await generateKeyPair("ES256", { extractable: true })) as CryptoKeyPair
  other = (await generateKeyPair("ES256", { extractable: true })) as CryptoKeyPair
})

const proof = async (claims: Readonly<Record<string, unknown>>, pair = key, typ = "dpop+jwt") =>
  new SignJWT({ jti: randomUUID(), iat: Math.floor(Date.now() / 1000), ...claims })
    .setProtectedHeader({ alg: "ES256", typ, jwk: await exportJWK(pair.publicKey) })
    .sign(pair.privateKey)

const atTokens = { htm: "POST", htu: `${base}/oauth2/tokens` }
const forCall = (token: string) => ({
  htm: "GET",
  htu: `${base}/api/v2/users/me`,
  ath: createHash("sha256").update(token).digest("base64url")
})

/** Tokens that are bound to the key. */
const boundTokens = async (server: TestServer, client: Client, more: Fields = {}) => {
  const code = await aCode(server, client, server.owner(), more)
  const fields = { grant_type: "authorization_code", ...client, ...code }
  const answer = await post(server, "tokens", fields, { dpop: await proof(atTokens) })
  return answer.as(Bound)
}

const call = (server: TestServer, headers: Fields) => server.call("GET", "/users/me", { headers })

describeServer("a token that is bound to a key", (server) => {
  it("is issued, used and renewed by the holder of the key", async () => {
    const client = await aClient(server())
    const { client_id } = client
    const as = await discovered(server())
    const DPoP = oauth.DPoP({}, key)
    const authentication = oauth.ClientSecretPost(client.client_secret)
    const jkt = await calculateJwkThumbprint(await exportJWK(key.publicKey))
    const { code, code_verifier } = await aCode(server(), client, server().owner(), { redirect_uri: callback, dpop_jkt: jkt })
    const validated = oauth.validateAuthResponse(
      as,
      { client_id },
      new URLSearchParams({ code, iss: base, state: "some state" }),
      "some state"
    )
    const options = { DPoP, ...overHttp(server()) }
    const response = await oauth.authorizationCodeGrantRequest(
      as,
      { client_id },
      authentication,
      validated,
      callback,
      code_verifier,
      options
    )
    const tokens = await oauth.processAuthorizationCodeResponse(as, { client_id }, response)
    expect(tokens.token_type).toBe("dpop")
    const me = new URL(`${base}/api/v2/users/me?x=1`)
    expect((await oauth.protectedResourceRequest(tokens.access_token, "GET", me, undefined, undefined, options)).status).toBe(200)
    const { body } = await post(server(), "introspect", { ...client, token: tokens.access_token })
    expect(body).toMatchObject({ token_type: "DPoP", cnf: { jkt } })
    const renewed = await oauth.refreshTokenGrantRequest(as, { client_id }, authentication, tokens.refresh_token ?? "", options)
    expect((await oauth.processRefreshTokenResponse(as, { client_id }, renewed)).token_type).toBe("dpop")
  })

  it("is refused without a proof for this very call", async () => {
    const { access_token } = await boundTokens(server(), await aClient(server()))
    const authorization = `DPoP ${access_token}`
    const right = forCall(access_token)
    const now = Math.floor(Date.now() / 1000)
    const wrong: ReadonlyArray<Fields> = [
      { authorization: `Bearer ${access_token}` },
      { "service-session-token": access_token },
      { authorization },
      { authorization, dpop: "a.b.c" },
      { authorization, dpop: await proof({ ...right, htm: "POST" }) },
      { authorization, dpop: await proof({ ...right, htu: `${base}/api/v2/users` }) },
      { authorization, dpop: await proof({ ...right, htu: "https://elsewhere.example/api/v2/users/me" }) },
      { authorization, dpop: await proof({ ...right, ath: undefined }) },
      { authorization, dpop: await proof({ ...right, ath: "other" }) },
      { authorization, dpop: await proof({ ...right, iat: now - 600 }) },
      { authorization, dpop: await proof({ ...right, iat: now + 600 }) },
      { authorization, dpop: await proof({ ...right, jti: undefined }) },
      { authorization, dpop: await proof(right, other) },
      { authorization, dpop: await proof(right, key, "JWT") }
    ]
    const answers = await Promise.all(wrong.map((headers) => call(server(), headers)))
    expect(answers.map(({ status }) => status)).toStrictEqual(wrong.map(() => 401))
    expect(answers[2]?.headers.get("www-authenticate")).toMatch(/^DPoP .*error="invalid_dpop_proof".*algs="/)
    expect((await call(server(), { authorization, dpop: await proof(right) })).status).toBe(200)
  })

  it("takes each proof once, whichever of many requests comes first", async () => {
    const { access_token } = await boundTokens(server(), await aClient(server()))
    const headers = { authorization: `DPoP ${access_token}`, dpop: await proof(forCall(access_token)) }
    const answers = await Promise.all(Array.from({ length: 8 }, () => call(server(), headers)))
    expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([200, 401, 401, 401, 401, 401, 401, 401])
  })

  it("alone uses a proof up: a caller without a token leaves nothing behind", async () => {
    const { access_token } = await boundTokens(server(), await aClient(server()))
    const jti = randomUUID()
    const invented = `${access_token.slice(0, -1)}${access_token.endsWith("a") ? "b" : "a"}`
    const without = { authorization: `DPoP ${invented}`, dpop: await proof({ ...forCall(invented), jti }) }
    expect((await call(server(), without)).status).toBe(401)
    const headers = { authorization: `DPoP ${access_token}`, dpop: await proof({ ...forCall(access_token), jti }) }
    expect((await call(server(), headers)).status).toBe(200)
  })

  it("is not made of one without a key, nor without the key that the request named", async () => {
    const client = await aClient(server())
    const bearer = (await redeem(server(), client, await aCode(server(), client, server().owner()))).as(
      Schema.Struct({ access_token: Schema.String })
    )
    const dpop = await proof(forCall(bearer.access_token))
    expect((await call(server(), { authorization: `DPoP ${bearer.access_token}`, dpop })).status).toBe(401)
    const jkt = await calculateJwkThumbprint(await exportJWK(key.publicKey))
    const fields = { grant_type: "authorization_code", ...client, ...(await aCode(server(), client, server().owner(), { dpop_jkt: jkt })) }
    expect(refusal(await post(server(), "tokens", fields))).toStrictEqual([400, "invalid_grant"])
    expect(refusal(await post(server(), "tokens", fields, { dpop: await proof(atTokens, other) }))).toStrictEqual([400, "invalid_grant"])
    expect(refusal(await post(server(), "tokens", fields, { dpop: "wrong" }))).toStrictEqual([400, "invalid_dpop_proof"])
    expect((await post(server(), "tokens", fields, { dpop: await proof(atTokens) })).status).toBe(200)
  })

  it("is renewed with the key that a public client began with", async () => {
    const body = { redirect_uris: [callback], token_endpoint_auth_method: "none", dpop_bound_access_tokens: true }
    const { client_id } = (await server().call("POST", "//oauth2/register", { body })).as(Schema.Struct({ client_id: Schema.String }))
    const fields = { grant_type: "authorization_code", client_id, ...(await aCode(server(), { client_id }, server().owner())) }
    expect(refusal(await post(server(), "tokens", fields))).toStrictEqual([400, "invalid_dpop_proof"])
    const { refresh_token } = (await post(server(), "tokens", fields, { dpop: await proof(atTokens) })).as(Bound)
    const again = { grant_type: "refresh_token", client_id, refresh_token }
    expect(refusal(await post(server(), "tokens", again, { dpop: await proof(atTokens, other) }))).toStrictEqual([400, "invalid_grant"])
    expect((await post(server(), "tokens", again, { dpop: await proof(atTokens) })).status).toBe(200)
  })
})
