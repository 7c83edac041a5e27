/** The requests to providers of tokens for workspaces, each in the form that its type of provider understands. deployment.md §10. */
import {
  type ExternalAuthClient,
  ExternalAuthFailure,
  type ExternalAuthInstallation,
  type ExternalAuthProvider,
  ExternalAuthRefused,
  type ExternalAuthTokenSet,
  type ExternalAuthUser
} from "@atelier/core/externalAuth"
import { Timestamp } from "@atelier/core/platform"
import { Effect, Either, Redacted, Schema } from "effect"
import * as client from "openid-client"
import { boundedFetch, type BoundedRequest } from "../logins/boundedFetch.js"
import { reasonOf } from "../logins/OidcFailures.js"
import { providerText } from "../logins/providerText.js"

/** The longest lifetime that is stored, in seconds: ten years. */
const longestLifetime = 315_360_000

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

/** Azure DevOps identifies the client by an assertion, and exchanges codes as assertions. */
const assertionGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

/** The service of Azure DevOps, which tokens of its Entra form are for. */
const azureDevOps = "499b84ac-1321-427f-aa17-267ca6975798"

/** Codes that tell that a request would be refused again. */
const permanent: ReadonlySet<string> = new Set([
  "bad_refresh_token",
  "invalid_grant",
  "unauthorized_client",
  "unsupported_grant_type",
  "incorrect_client_credentials",
  "invalid_client"
])

const Account = Schema.Struct({
  id: Schema.optional(Schema.Number),
  login: Schema.optional(Schema.String),
  name: Schema.optional(Schema.NullOr(Schema.String)),
  avatar_url: Schema.optional(Schema.NullOr(Schema.String)),
  html_url: Schema.optional(Schema.NullOr(Schema.String))
})

const Installations = Schema.Struct({
  installations: Schema.Array(Schema.Struct({ id: Schema.Number, html_url: Schema.optional(Schema.String), account: Account }))
})

const Device = Schema.Struct({
  device_code: Schema.NonEmptyString,
  user_code: Schema.NonEmptyString,
  verification_uri: Schema.NonEmptyString,
  expires_in: Schema.Number,
  interval: Schema.optionalWith(Schema.Number, { default: () => 5 })
})

const JsonObject = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
const decodeObject = Schema.decodeEither(JsonObject)

const userOf = ({ avatar_url, html_url, id = 0, login = "", name }: typeof Account.Type): ExternalAuthUser => ({
  id,
  login,
  name: name ?? "",
  avatar_url: avatar_url ?? "",
  profile_url: html_url ?? ""
})

const failure = (message: string, detail: string, isTransient: boolean): ExternalAuthFailure =>
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

/** Creates the client of a provider. */
export const providerClient = (provider: ExternalAuthProvider): ExternalAuthClient => {
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
  const granted = (
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

  const scope = provider.scopes.join(" ")
  const resource: Readonly<Record<string, string>> = type === "azure-devops-entra" ? { resource: azureDevOps } : {}
  const withPkce = provider.code_challenge_methods_supported.includes("S256")

  /** A request about a user, with the user's token. */
  const ask = (url: string, request: BoundedRequest, token?: Redacted.Redacted<string>) =>
    Effect.tryPromise({
      try: async () => {
        const headers = new Headers(request.headers)
        headers.set("accept", type === "github" ? "application/vnd.github+json" : "application/json")
        if (token !== undefined) headers.set("authorization", `Bearer ${Redacted.value(token)}`)
        const response = await boundedFetch(url, { ...request, headers })
        return { status: response.status, headers: response.headers, text: await response.text() }
      },
      catch: (error) => failure("The provider could not be asked.", reasonOf(error), true)
    })

  const validate = (token: Redacted.Redacted<string>) =>
    Effect.gen(function* () {
      if (provider.validate_url === "") return { isValid: true, user: null }
      const { headers, status, text } = yield* ask(provider.validate_url, {}, token)
      if (status === 200) {
        const account = type === "github" ? Schema.decodeOption(Schema.parseJson(Account))(text) : undefined
        return { isValid: true, user: account?._tag === "Some" ? userOf(account.value) : null }
      }
      const isLimited = status === 429 || (status === 403 && [...headers.keys()].some((name) => /^(x-)?ratelimit|^retry-after$/.test(name)))
      if (isLimited) return { isValid: true, user: null }
      if (status === 401 || status === 403) return { isValid: false, user: null }
      return yield* failure("The provider did not validate the token.", `status ${status}`, true)
    })

  /** Asks again for a second: a new token is not known at once everywhere at GitHub. */
  const validatePatiently = (token: Redacted.Redacted<string>) =>
    Effect.gen(function* () {
      for (let attempt = 0; attempt < 3; attempt++) {
        const standing = yield* validate(token)
        if (standing.isValid) return standing
        yield* Effect.sleep("300 millis")
      }
      return yield* validate(token)
    })

  return {
    provider,
    authorizationUrl: ({ code_challenge, redirect_uri, state }) => {
      const url = new URL(provider.auth_url)
      const parameters: Readonly<Record<string, string>> = {
        access_type: "offline",
        client_id,
        ...(withPkce ? { code_challenge, code_challenge_method: "S256" } : {}),
        redirect_uri,
        ...resource,
        response_type: type === "azure-devops" ? "Assertion" : "code",
        ...(scope === "" ? {} : { scope }),
        state
      }
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
      return url.href
    },
    exchange: ({ code, code_verifier, redirect_uri }) =>
      granted("The provider refused the code.", (configuration) => {
        if (type === "azure-devops") {
          return client.genericGrantRequest(configuration, assertionGrant, { assertion: code, redirect_uri })
        }
        // The state has been compared
        const returned = new URL(redirect_uri)
        returned.searchParams.set("code", code)
        const verifier = Redacted.value(code_verifier)
        return client.authorizationCodeGrant(
          configuration,
          returned,
          withPkce && verifier !== "" ? { pkceCodeVerifier: verifier } : {},
          resource
        )
      }),
    startDevice: Effect.gen(function* () {
      const message = "The provider did not begin the device flow."
      // The client authenticates as at the token endpoint (RFC 8628 §3.1)
      const form = new URLSearchParams({
        client_id,
        ...(client_secret === "" ? {} : { client_secret }),
        ...(scope === "" ? {} : { scope })
      })
      const { status, text } = yield* ask(provider.device_code_url, { method: "POST", body: form })
      const answer = Schema.decodeEither(Schema.parseJson(Device))(text)
      if (status === 200 && Either.isRight(answer)) return answer.right
      const refused = Either.getOrElse(decodeObject(text), (): Readonly<Record<string, unknown>> => ({}))["error"]
      return yield* failure(message, typeof refused === "string" ? refused : `status ${status}`, status >= 429)
    }),
    exchangeDevice: (device_code) =>
      granted("The provider refused the code.", (configuration) => client.genericGrantRequest(configuration, deviceGrant, { device_code })),
    refresh: (refreshToken) =>
      granted("The provider did not renew the token.", (configuration) =>
        type === "azure-devops"
          ? client.genericGrantRequest(configuration, "refresh_token", { assertion: Redacted.value(refreshToken) })
          : client.refreshTokenGrant(configuration, Redacted.value(refreshToken), {
              ...resource,
              ...(type === "azure-devops-entra" && scope !== "" ? { scope } : {})
            })
      ),
    validate: type === "github" ? validatePatiently : validate,
    installations: (token) =>
      Effect.gen(function* () {
        if (provider.app_installations_url === "" || type !== "github") return undefined
        const { status, text } = yield* ask(provider.app_installations_url, {}, token)
        if (status !== 200) return undefined
        const answer = Schema.decodeEither(Schema.parseJson(Installations))(text)
        if (Either.isLeft(answer)) return yield* failure("The provider did not list the installations.", "", false)
        return answer.right.installations.map(({ account, html_url = "", id }): ExternalAuthInstallation => ({
          id,
          account: userOf(account),
          configure_url: html_url
        }))
      }),
    revoke: ({ access_token, refresh_token }) =>
      Effect.gen(function* () {
        if (provider.revoke_url === "") return false
        const isGitHub = type === "github"
        const [token, hint] =
          Redacted.value(refresh_token) === "" ? ([access_token, "access_token"] as const) : ([refresh_token, "refresh_token"] as const)
        const { status } = yield* isGitHub
          ? ask(provider.revoke_url, {
              method: "DELETE",
              headers: {
                authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString("base64")}`,
                "content-type": "application/json"
              },
              body: JSON.stringify({ access_token: Redacted.value(access_token) })
            })
          : ask(provider.revoke_url, {
              method: "POST",
              body: new URLSearchParams({ client_id, client_secret, token: Redacted.value(token), token_type_hint: hint })
            })
        if (status === (isGitHub ? 204 : 200)) return true
        return yield* failure("The provider did not revoke the token.", `status ${status}`, false)
      })
  }
}
