/** Asks the token endpoint of a provider, in the form that its type understands. deployment.md §10. */
import { ExternalAuthFailure, type ExternalAuthProvider, ExternalAuthRefused, type ExternalAuthTokenSet } from "@atelier/core/externalAuth"
import { Timestamp } from "@atelier/core/platform"
import { Effect, Either, Redacted, Schema } from "effect"
import * as client from "openid-client"
import { boundedFetch } from "../logins/boundedFetch.js"
import { reasonOf } from "../logins/OidcFailures.js"
import { providerText } from "../logins/providerText.js"

/** The longest lifetime that is stored, in seconds: ten years. */
const longestLifetime = 315_360_000

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

/** Codes that tell that a request would be refused again. */
const permanent: ReadonlySet<string> = new Set([
  "bad_refresh_token",
  "invalid_grant",
  "unauthorized_client",
  "unsupported_grant_type",
  "incorrect_client_credentials",
  "invalid_client"
])

const JsonObject = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
/** Reads the object of a JSON text. */
export const decodeObject = Schema.decodeEither(JsonObject)

/** A provider that did not answer as it should. */
export const failure = (message: string, detail: string, isTransient: boolean): ExternalAuthFailure =>
  new ExternalAuthFailure({ message, detail: providerText(detail), isTransient })

/** An answer of the token endpoint. Providers write it as a form, with a status of its own or with a type of token of their own. */
interface TokenAnswer {
  readonly status: number
  readonly members: Readonly<Record<string, unknown>>
}

const membersOf = (text: string, contentType: string): Readonly<Record<string, unknown>> =>
  /^application\/x-www-form-urlencoded/i.test(contentType)
    ? Object.fromEntries(new URLSearchParams(text))
    : Either.getOrElse(decodeObject(text), () => ({}))

/** The answer in the form of RFC 6749 §5, which the library reads. What it would check of an ID token is of no use here. */
const standardAnswer = ({ members, status }: TokenAnswer): Response => {
  const { access_token, error, error_description, expires_in, refresh_token } = members
  const json = (code: number, body: object): Response =>
    new Response(JSON.stringify(body), { status: code, headers: { "content-type": "application/json" } })
  if (typeof error === "string" && error !== "") {
    const described = typeof error_description === "string" ? { error_description } : {}
    return json(status >= 400 ? status : 400, { error, ...described })
  }
  if (typeof access_token !== "string" || status < 200 || status > 299) return json(status < 400 ? 502 : status, {})
  const lifetime = Number(expires_in)
  return json(200, {
    access_token,
    token_type: "bearer",
    ...(typeof refresh_token === "string" ? { refresh_token } : {}),
    ...(Number.isFinite(lifetime) && lifetime > 0 ? { expires_in: Math.min(lifetime, longestLifetime) } : {})
  })
}

/** Makes what asks the token endpoint of a provider. `message` tells the user that the request failed. */
export const tokenGrants = (provider: ExternalAuthProvider) => {
  const { client_id, client_secret, type } = provider

  const authentication: client.ClientAuth =
    type === "azure-devops"
      ? (_, __, body) => {
          body.set("client_assertion_type", assertionType)
          body.set("client_assertion", client_secret)
        }
      : type === "jfrog"
        ? (_, __, ___, headers) => headers.set("authorization", `Bearer ${client_secret}`)
        : client_secret === ""
          ? client.None()
          : client.ClientSecretPost(client_secret)

  const configurationOf = (answered: (answer: TokenAnswer) => void, auth: client.ClientAuth): client.Configuration => {
    const issuer = new URL(provider.token_url || provider.auth_url).origin
    const configuration = new client.Configuration(
      { issuer, authorization_endpoint: provider.auth_url, token_endpoint: provider.token_url },
      client_id,
      undefined,
      auth
    )
    // An operator decides where providers are, also within a private network
    client.allowInsecureRequests(configuration)
    configuration[client.customFetch] = async (url, { body, headers, method, signal }) => {
      const asked = new Headers(headers)
      asked.set("accept", "application/json")
      const response = await boundedFetch(url, { headers: asked, method, signal, body: body instanceof URLSearchParams ? body : null })
      const answer = { status: response.status, members: membersOf(await response.text(), response.headers.get("content-type") ?? "") }
      answered(answer)
      return standardAnswer(answer)
    }
    return configuration
  }

  /** Asks the token endpoint. */
  return (
    message: string,
    ask: (configuration: client.Configuration) => Promise<client.TokenEndpointResponse>
  ): Effect.Effect<ExternalAuthTokenSet, ExternalAuthFailure | ExternalAuthRefused> =>
    Effect.gen(function* () {
      let answer: TokenAnswer | undefined
      const attempt = (auth: client.ClientAuth) =>
        Effect.tryPromise({
          try: () =>
            ask(
              configurationOf((each) => {
                answer = each
              }, auth)
            ),
          catch: (error): ExternalAuthFailure | ExternalAuthRefused => {
            if (error instanceof client.ResponseBodyError) {
              const detail = providerText(error.error_description ?? "")
              // A proxy's 403 or 408 says nothing about the grant
              return permanent.has(error.error) || error.status === 400 || error.status === 401
                ? new ExternalAuthRefused({ code: providerText(error.error), detail })
                : failure(message, reasonOf(error), true)
            }
            const isAnswered = answer !== undefined && answer.status < 429
            return failure(message, answer === undefined ? reasonOf(error) : `status ${answer.status}`, !isAnswered)
          }
        })
      const isSecret = client_secret !== "" && type !== "azure-devops" && type !== "jfrog"
      const given = yield* Effect.catchIf(
        attempt(authentication),
        (error) => isSecret && error._tag === "ExternalAuthRefused" && error.code === "invalid_client",
        // The client's secret was not looked at in the form: RFC 6749 §2.3.1 asks servers to take it in the head
        () => attempt(client.ClientSecretBasic(client_secret))
      )
      const now = yield* Timestamp.now
      const { members = {} } = answer ?? {}
      return {
        access_token: Redacted.make(given.access_token),
        refresh_token: Redacted.make(given.refresh_token ?? ""),
        expires_at: given.expires_in === undefined ? null : Timestamp.plus(now, `${given.expires_in} seconds`),
        extra:
          provider.extra_token_keys.length === 0
            ? null
            : Object.fromEntries(provider.extra_token_keys.map((key) => [key, members[key] ?? null]))
      }
    })
}
