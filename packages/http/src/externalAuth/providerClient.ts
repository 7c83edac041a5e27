/** The requests to providers of tokens for workspaces, each in the form that its type of provider understands. deployment.md §10. */
import {
  type ExternalAuthClient,
  type ExternalAuthInstallation,
  type ExternalAuthProvider,
  type ExternalAuthUser
} from "@atelier/core/externalAuth"
import { Effect, Either, Redacted, Schema } from "effect"
import * as client from "openid-client"
import { boundedFetch, type BoundedRequest } from "../logins/boundedFetch.js"
import { reasonOf } from "../logins/OidcFailures.js"
import { decodeObject, failure, tokenGrants } from "./tokenGrants.js"

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

/** Azure DevOps identifies the client by an assertion, and exchanges codes as assertions. */
const assertionGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
/** The service of Azure DevOps, which tokens of its Entra form are for. */
const azureDevOps = "499b84ac-1321-427f-aa17-267ca6975798"

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

const userOf = ({ avatar_url, html_url, id = 0, login = "", name }: typeof Account.Type): ExternalAuthUser => ({
  id,
  login,
  name: name ?? "",
  avatar_url: avatar_url ?? "",
  profile_url: html_url ?? ""
})

/** Makes what asks a provider about a user, with the user's token. */
const userRequests = ({ type }: ExternalAuthProvider) => {
  return (url: string, request: BoundedRequest, token?: Redacted.Redacted<string>) =>
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
}

/** Makes the function that asks a provider whether a token is good. */
const validation = (provider: ExternalAuthProvider, ask: ReturnType<typeof userRequests>) => {
  const { type } = provider

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

  return type === "github" ? validatePatiently : validate
}

/** Creates the client of a provider. */
export const providerClient = (provider: ExternalAuthProvider): ExternalAuthClient => {
  const { client_id, client_secret, type } = provider

  const granted = tokenGrants(provider)
  const ask = userRequests(provider)
  const scope = provider.scopes.join(" ")
  const resource: Readonly<Record<string, string>> = type === "azure-devops-entra" ? { resource: azureDevOps } : {}
  const withPkce = provider.code_challenge_methods_supported.includes("S256")

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
    validate: validation(provider, ask),
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
