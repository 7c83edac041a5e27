/** What tests of the authorization server do as a client and as the user's browser. */
import { createHash, randomBytes } from "node:crypto"
import * as oauth from "oauth4webapi"
import { expect } from "vitest"
import { Schema } from "effect"
import type { Answer, Person, TestServer } from "../../../../test/http/server.js"

export const callback = "https://client.example/callback"

export const Tokens = Schema.Struct({
  access_token: Schema.String,
  token_type: Schema.Literal("Bearer"),
  expires_in: Schema.Number,
  refresh_token: Schema.String,
  expiry: Schema.String
})
export type Tokens = typeof Tokens.Type

export const OAuthFailure = Schema.Struct({ error: Schema.String, error_description: Schema.optional(Schema.String) })

export interface Client {
  readonly client_id: string
  readonly client_secret: string
}

/** A code verifier with its challenge (RFC 7636). */
export const aVerifier = () => {
  const verifier = randomBytes(32).toString("base64url")
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") }
}

/** An app that an administrator made, with a secret. */
export const aClient = async (server: TestServer, callback_url = callback): Promise<Client> => {
  const { token } = server.owner()
  const app = await server.call("POST", "/oauth2-provider/apps", { token, body: { name: "editor", callback_url } })
  const { id } = app.as(Schema.Struct({ id: Schema.String }))
  const secret = await server.call("POST", `/oauth2-provider/apps/${id}/secrets`, { token })
  return { client_id: id, client_secret: secret.as(Schema.Struct({ client_secret_full: Schema.String })).client_secret_full }
}

export type Fields = Readonly<Record<string, string>>

/** Sends a form. */
export const post = (server: TestServer, path: string, fields: Fields | string, headers: Fields = {}): Promise<Answer> =>
  server.call("POST", `//oauth2/${path}`, {
    body: typeof fields === "string" ? fields : new URLSearchParams(fields).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers }
  })

export const authorizePath = (query: Fields): string => `//oauth2/authorize?${new URLSearchParams(query)}`

/** A complete authorization request. */
export const authorizeQuery = ({ client_id }: Pick<Client, "client_id">, challenge: string, more: Fields = {}): Fields => ({
  response_type: "code",
  client_id,
  state: "some state",
  code_challenge: challenge,
  code_challenge_method: "S256",
  ...more
})

/** The parameters that the browser brings back to the client. */
export const broughtBack = (answer: Answer): URLSearchParams => {
  expect([answer.status, answer.text]).toStrictEqual([302, ""])
  return new URL(answer.headers.get("location") ?? "").searchParams
}

/** A code that the user consented to, with its verifier. */
export const aCode = async (server: TestServer, client: Pick<Client, "client_id">, person: Person, more: Fields = {}) => {
  const { challenge, verifier } = aVerifier()
  const answer = await server.call("POST", authorizePath(authorizeQuery(client, challenge, more)), { token: person.token })
  const code = broughtBack(answer).get("code")
  if (code === null) throw new Error(`no code: ${answer.headers.get("location")}`)
  return { code, code_verifier: verifier }
}

export const redeem = (server: TestServer, client: Partial<Client>, fields: Fields): Promise<Answer> =>
  post(server, "tokens", { grant_type: "authorization_code", ...client, ...fields })

export const refresh = (server: TestServer, client: Partial<Client>, refresh_token: string, more: Fields = {}): Promise<Answer> =>
  post(server, "tokens", { grant_type: "refresh_token", ...client, refresh_token, ...more })

/** Tokens that a user gave a client. */
export const someTokens = async (server: TestServer, client: Client, person: Person, more: Fields = {}): Promise<Tokens> => {
  const resource = more["resource"]
  const answer = await redeem(server, client, {
    ...(await aCode(server, client, person, more)),
    ...(resource === undefined ? {} : { resource }),
    ...(more["redirect_uri"] === undefined ? {} : { redirect_uri: more["redirect_uri"] })
  })
  expect([answer.status, answer.status === 200 || answer.text]).toStrictEqual([200, true])
  return answer.as(Tokens)
}

/** The status that the API answers a token with. */
export const statusWith = async (server: TestServer, token: string): Promise<number> =>
  (await server.call("GET", "/users/me", { headers: { authorization: `Bearer ${token}` } })).status

/** The status and the error of an answer. */
export const refusal = (answer: Answer): readonly [number, string] => [answer.status, answer.as(OAuthFailure).error]

/** Lets a client reach a server, whose access URL is no address of its own. */
export const overHttp = ({ url }: TestServer) => ({
  [oauth.allowInsecureRequests]: true,
  [oauth.customFetch]: (to: string, { body, headers, method, redirect, signal }: oauth.CustomFetchOptions<string, unknown>) =>
    fetch(to.replace("http://atelier.test", url), {
      headers,
      method,
      redirect,
      ...(body === undefined ? {} : { body: body as URLSearchParams }),
      ...(signal === undefined ? {} : { signal })
    })
})

/** The metadata of the server, as a client reads it. */
export const discovered = async (server: TestServer): Promise<oauth.AuthorizationServer> => {
  const issuer = new URL("http://atelier.test")
  return oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...overHttp(server) }))
}
