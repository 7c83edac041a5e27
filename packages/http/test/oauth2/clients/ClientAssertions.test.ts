import { UsedTokens } from "@atelier/core/oauth2"
import { Effect, Schema } from "effect"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { randomUUID } from "node:crypto"
import * as oauth from "oauth4webapi"
import { beforeAll, expect, it } from "vitest"
import { describeServer, type TestServer } from "../../../../../test/http/server.js"
import { aClient, aCode, callback, discovered, overHttp, post, refusal, statusWith, Tokens } from "../OAuthClient.js"

const token_endpoint_auth_method = "private_key_jwt"
const client_assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
const Registered = Schema.Struct({ client_id: Schema.String })

let key: CryptoKeyPair
let jwks: object

beforeAll(async () => {
  key = (await generateKeyPair("ES256", { extractable: true })) as CryptoKeyPair
  jwks = { keys: [{ ...(await exportJWK(key.publicKey)), kid: "one", alg: "ES256" }] }
})

const register = (server: TestServer, more: object) =>
  server.call("POST", "//oauth2/register", { body: { redirect_uris: [callback], token_endpoint_auth_method, ...more } })

const assertion = (client_id: string, claims: Readonly<Record<string, unknown>> = {}, signer = key.privateKey) => {
  const now = Math.floor(Date.now() / 1000)
  const all = { iss: client_id, sub: client_id, aud: "http://atelier.test", jti: randomUUID(), iat: now, exp: now + 60, ...claims }
  return new SignJWT(all).setProtectedHeader({ alg: "ES256", kid: "one" }).sign(signer)
}

/** How the server answers a client that authenticates with an assertion: 400 where it is admitted. */
const answerTo = async (server: TestServer, client_id: string, client_assertion: string) =>
  refusal(
    await post(server, "tokens", { grant_type: "refresh_token", refresh_token: "none", client_id, client_assertion_type, client_assertion })
  )

const admitted = [400, "invalid_grant"]
const refused = [401, "invalid_client"]

describeServer("a client with a key", (server) => {
  it("gets and renews tokens without a secret", async () => {
    const registered = await register(server(), { jwks })
    expect(registered.status).toBe(201)
    expect(Object.keys(registered.body as object)).not.toContain("client_secret")
    const { client_id } = registered.as(Registered)
    const as = await discovered(server())
    const authentication = oauth.PrivateKeyJwt({ key: key.privateKey, kid: "one" })
    const { code, code_verifier } = await aCode(server(), { client_id }, await server().aMember(), { redirect_uri: callback })
    const parameters = new URLSearchParams({ code, iss: "http://atelier.test", state: "some state" })
    const validated = oauth.validateAuthResponse(as, { client_id }, parameters, "some state")
    const response = await oauth.authorizationCodeGrantRequest(
      as,
      { client_id },
      authentication,
      validated,
      callback,
      code_verifier,
      overHttp(server())
    )
    const tokens = await oauth.processAuthorizationCodeResponse(as, { client_id }, response)
    expect(await statusWith(server(), tokens.access_token)).toBe(200)
    const renewed = await oauth.refreshTokenGrantRequest(as, { client_id }, authentication, tokens.refresh_token ?? "", overHttp(server()))
    expect(await renewed.json()).toMatchObject({ token_type: "Bearer" })
    const { code: other, code_verifier: verifier } = await aCode(server(), { client_id }, await server().aMember())
    const without = await post(server(), "tokens", { grant_type: "authorization_code", client_id, code: other, code_verifier: verifier })
    expect(refusal(without)).toStrictEqual([400, "invalid_request"])
    expect(Schema.is(Tokens)(without.body)).toBe(false)
  })

  it("is admitted once by an assertion, whichever of many requests comes first", async () => {
    const { client_id } = (await register(server(), { jwks })).as(Registered)
    const text = await assertion(client_id)
    const answers = await Promise.all(Array.from({ length: 8 }, () => answerTo(server(), client_id, text)))
    expect(answers.filter(([status]) => status === 400)).toStrictEqual([admitted])
    expect(answers.filter(([status]) => status !== 400)).toStrictEqual(Array.from({ length: 7 }, () => refused))
    server().advance("1 hour")
    await server().run(Effect.flatMap(UsedTokens, ({ purge }) => purge.run))
  })

  it("is refused for an assertion that is not quite its own", async () => {
    const { client_id } = (await register(server(), { jwks })).as(Registered)
    const now = Math.floor(Date.now() / 1000)
    const stranger = (await generateKeyPair("ES256")) as CryptoKeyPair
    const other = await aClient(server())
    // The tests before have moved the server's clock
    const ahead = 3600
    const wrong = [
      await assertion(client_id, { aud: "https://elsewhere.example", exp: now + ahead + 60 }),
      await assertion(client_id, { iss: other.client_id, exp: now + ahead + 60 }),
      await assertion(client_id, { sub: other.client_id, exp: now + ahead + 60 }),
      await assertion(client_id, { exp: now - 3600 }),
      await assertion(client_id, { exp: now + ahead + 7200 }),
      await assertion(client_id, { jti: undefined, exp: now + ahead + 60 }),
      await assertion(client_id, { exp: now + ahead + 60 }, stranger.privateKey),
      "not.a.token"
    ]
    for (const text of wrong) expect(await answerTo(server(), client_id, text)).toStrictEqual(refused)
    expect(await answerTo(server(), client_id, await assertion(client_id, { exp: now + ahead + 60 }))).toStrictEqual(admitted)
    expect(await answerTo(server(), other.client_id, await assertion(other.client_id, { exp: now + ahead + 60 }))).toStrictEqual(refused)
  })

  it("authenticates in one way", async () => {
    const { client_id } = (await register(server(), { jwks })).as(Registered)
    const client_assertion = await assertion(client_id)
    const fields = { grant_type: "refresh_token", refresh_token: "none", client_id, client_assertion }
    const both = await post(server(), "tokens", { ...fields, client_assertion_type, client_secret: "secret" })
    expect(refusal(both)).toStrictEqual([400, "invalid_request"])
    expect(refusal(await post(server(), "tokens", { ...fields, client_assertion_type: "urn:other" }))).toStrictEqual([
      400,
      "invalid_request"
    ])
  })

  it("registers public keys, or an address of them that the service may call", async () => {
    const privateKey = { keys: [await exportJWK(key.privateKey)] }
    const wrong = [
      {},
      { jwks: {} },
      { jwks: privateKey },
      { jwks_uri: "http://client.example/keys" },
      { jwks, jwks_uri: "https://client.example/keys" }
    ]
    for (const more of wrong) expect(refusal(await register(server(), more))).toStrictEqual([400, "invalid_client_metadata"])
    // An address of the machine itself is never called
    const { client_id } = (await register(server(), { jwks_uri: "https://127.0.0.1:1/keys" })).as(Registered)
    expect(await answerTo(server(), client_id, await assertion(client_id))).toStrictEqual(refused)
  })
})
