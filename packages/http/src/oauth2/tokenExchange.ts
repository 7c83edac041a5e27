import { allScope } from "@atelier/core/access"
import { deviceGrant, invalidRequest, type IssuedTokens, type OAuth2Clients, type OAuth2Tokens, OAuthError } from "@atelier/core/oauth2"
import { Timestamp } from "@atelier/core/platform"
import { Clock, Effect, Redacted } from "effect"
import { callInfo } from "../server/request/CurrentRequest.js"
import { json } from "../server/codec/respond.js"
import { type ProtocolAnswers, required, type Response } from "./answering.js"
import type { assertionCheck } from "./clientAssertion.js"
import { authenticateClient } from "./clientCredentials.js"
import { readForm } from "../server/request/form.js"
import type { KeyProof } from "./keyProof.js"

/** Parameters that a token request may give once. */
const tokenParameters = [
  "grant_type",
  "client_id",
  "client_secret",
  "code",
  "redirect_uri",
  "refresh_token",
  "device_code",
  "code_verifier",
  "scope"
]

const tokenView = ({ access_token, expires_at, isBound, refresh_token, scopes }: IssuedTokens, now: number): Response =>
  json(200, {
    access_token: Redacted.value(access_token),
    token_type: isBound ? "DPoP" : "Bearer",
    expires_in: Math.max(0, Math.floor((Timestamp.toMillis(expires_at) - now) / 1000)),
    refresh_token: Redacted.value(refresh_token),
    expiry: expires_at,
    // Full access has no name that clients would find their scopes in. P-17
    ...(scopes.includes(allScope) ? {} : { scope: scopes.join(" ") })
  })

interface Needs extends Pick<KeyProof, "provenKey"> {
  readonly answering: ProtocolAnswers["answering"]
  readonly limited: ProtocolAnswers["limited"]
  readonly clients: OAuth2Clients["Type"]
  readonly check: ReturnType<typeof assertionCheck>
  readonly tokens: OAuth2Tokens["Type"]
}

/** The token endpoint: one request for each type of grant. */
export const tokenExchange = ({ answering, limited, clients, check, provenKey, tokens }: Needs) => {
  const exchange = answering(
    limited("tokens", (request, { path }) =>
      Effect.gen(function* () {
        const form = yield* readForm(request)
        const client = yield* authenticateClient(clients, check, request, form)
        const info = yield* callInfo
        const resource = form.all("resource")
        const repeated = form.repeated(tokenParameters)
        if (repeated.length > 0) return yield* invalidRequest(`The parameter ${repeated[0]} must be given once.`)
        const grantType = form.get("grant_type")
        const dpopKey = yield* provenKey(request, path, client.app)
        if (grantType === "authorization_code") {
          const code = yield* required(form.get("code"), "code")
          if (client.app.client_type === "confidential" && !client.hasProof)
            return yield* invalidRequest("The parameter client_secret is required.")
          const code_verifier = yield* required(form.get("code_verifier"), "code_verifier")
          const authenticated = yield* client.authenticated
          const issued = yield* tokens.redeem(
            authenticated,
            { code, redirect_uri: form.get("redirect_uri"), code_verifier, resource, dpopKey },
            info
          )
          return tokenView(issued, yield* Clock.currentTimeMillis)
        }
        if (grantType === "refresh_token") {
          const refresh_token = yield* required(form.get("refresh_token"), "refresh_token")
          const issued = yield* tokens.refresh(
            yield* client.authenticated,
            { refresh_token, resource, scope: form.get("scope"), dpopKey },
            info
          )
          return tokenView(issued, yield* Clock.currentTimeMillis)
        }
        if (grantType === deviceGrant) {
          const device_code = yield* required(form.get("device_code"), "device_code")
          return tokenView(
            yield* tokens.redeemDevice(yield* client.authenticated, { device_code, dpopKey }, info),
            yield* Clock.currentTimeMillis
          )
        }
        return yield* new OAuthError({
          error: "unsupported_grant_type",
          message: "The grant type must be authorization_code, refresh_token or that of devices."
        })
      })
    )
  )

  return { exchange }
}
