/** The routes that give, renew and end tokens. oauth2-provider.md §7, §8, §9. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { allScope, CurrentActor } from "@atelier/core/access"
import {
  DeviceAuthorizations,
  deviceGrant,
  invalidRequest,
  type IssuedTokens,
  type OAuth2App,
  OAuth2Clients,
  OAuth2Tokens,
  OAuthError,
  PushedRequests
} from "@atelier/core/oauth2"
import { Timestamp } from "@atelier/core/platform"
import { NodeKeySets } from "@atelier/node"
import { Clock, Duration, Effect, Redacted } from "effect"
import { queryOf } from "../pages/PageOptions.js"
import { callInfo } from "../server/request/CurrentRequest.js"
import { json, refuse } from "../server/codec/respond.js"
import { notSignedIn, type ProtocolAnswers, type Request, required, type Response } from "./answering.js"
import { consentRequestOf } from "./authorizeRoutes.js"
import { assertionCheck } from "./clientAssertion.js"
import { makeClientKeys } from "./clientKeys.js"
import { authenticateClient } from "./clientCredentials.js"
import { devicePath } from "./devicePages.js"
import { parametersOf, readForm } from "../server/request/form.js"
import { ProofOfPossession } from "../server/credentials/proofOfPossession.js"

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

export const tokenRoutes = ({ answering, limited, settings }: ProtocolAnswers) =>
  Effect.gen(function* () {
    const clients = yield* OAuth2Clients
    const tokens = yield* OAuth2Tokens
    const pushed = yield* PushedRequests
    const { accessUrl } = settings
    const endpoints = ["tokens", "revoke", "introspect", "par", "device_authorization"].map((name) => `${accessUrl}/oauth2/${name}`)
    const check = assertionCheck(clients, makeClientKeys(NodeKeySets.fetchKeySet), [accessUrl, `${accessUrl}/`, ...endpoints])
    const devices = yield* DeviceAuthorizations
    const proofs = yield* ProofOfPossession

    /** The thumbprint of the key that a request proves its client to have; undefined without a proof, if the client may do without. */
    const provenKey = (request: Request, path: string, { metadata }: OAuth2App) => {
      if (request.headers["dpop"] === undefined && metadata.dpop_bound_access_tokens !== true) return Effect.succeed(undefined)
      return proofs.check(request, { method: request.method, path, token: undefined }).pipe(
        Effect.tap(({ use }) => use),
        Effect.mapBoth({
          onFailure: ({ message }) => new OAuthError({ error: "invalid_dpop_proof", message }),
          onSuccess: ({ thumbprint }) => thumbprint
        })
      )
    }

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

    const revoke = answering(
      limited("revoke", (request) =>
        Effect.gen(function* () {
          const form = yield* readForm(request)
          const client = yield* authenticateClient(clients, check, request, form)
          if (form.repeated(["token", "token_type_hint", "client_id", "client_secret"]).length > 0)
            return yield* invalidRequest("A parameter must be given once.")
          const token = yield* required(form.get("token"), "token")
          yield* tokens.revoke(yield* client.authenticated, token, yield* callInfo)
          return HttpServerResponse.empty({ status: 200 })
        })
      )
    )

    const seconds = (at: Timestamp.Timestamp): number => Math.floor(Timestamp.toMillis(at) / 1000)

    const introspect = answering(
      limited("introspect", (request) =>
        Effect.gen(function* () {
          const form = yield* readForm(request)
          const client = yield* authenticateClient(clients, check, request, form)
          if (form.repeated(["token", "token_type_hint", "client_id", "client_secret"]).length > 0)
            return yield* invalidRequest("A parameter must be given once.")
          const token = yield* required(form.get("token"), "token")
          const found = yield* tokens.introspect(yield* client.authenticated, token)
          if (found === undefined) return json(200, { active: false })
          return json(200, {
            active: true,
            scope: found.scopes.join(" "),
            client_id: client.app.id,
            username: found.username,
            ...(found.kind === "access" ? { token_type: found.dpop_jkt === null ? "Bearer" : "DPoP" } : {}),
            ...(found.dpop_jkt === null ? {} : { cnf: { jkt: found.dpop_jkt } }),
            exp: seconds(found.expires_at),
            iat: seconds(found.issued_at),
            sub: found.user_id,
            aud: found.resource.length === 0 ? [settings.accessUrl] : found.resource,
            iss: settings.accessUrl
          })
        })
      )
    )

    const push = answering(
      limited("par", (request, { path }) =>
        Effect.gen(function* () {
          const form = yield* readForm(request)
          const client = yield* authenticateClient(clients, check, request, form)
          if (form.get("request_uri") !== undefined) return yield* invalidRequest("The parameter request_uri must not be pushed.")
          if (form.get("request") !== undefined)
            return yield* new OAuthError({ error: "request_not_supported", message: "Request objects are not supported." })
          const asked = consentRequestOf(form)
          const dpopKey = yield* provenKey(request, path, { ...client.app, metadata: {} })
          if (dpopKey !== undefined && asked.dpop_jkt !== undefined && asked.dpop_jkt !== dpopKey)
            return yield* invalidRequest("dpop_jkt: is not the key of the proof")
          const bound = { ...asked, dpop_jkt: dpopKey ?? asked.dpop_jkt }
          const { lifetime, request_uri } = yield* pushed.push(yield* client.authenticated, bound)
          return json(201, { request_uri: Redacted.value(request_uri), expires_in: Duration.toSeconds(lifetime) })
        })
      )
    )

    const beginDevice = answering(
      limited("device_authorization", (request) =>
        Effect.gen(function* () {
          const form = yield* readForm(request)
          const client = yield* authenticateClient(clients, check, request, form)
          if (form.repeated(["scope", "client_id", "client_secret"]).length > 0)
            return yield* invalidRequest("A parameter must be given once.")
          const asked = { scope: form.get("scope"), resource: form.all("resource") }
          const { device_code, interval, lifetime, user_code } = yield* devices.begin(yield* client.authenticated, asked)
          const verification_uri = `${settings.accessUrl}${devicePath}`
          const code = Redacted.value(user_code)
          return json(200, {
            device_code: Redacted.value(device_code),
            user_code: code,
            verification_uri,
            verification_uri_complete: `${verification_uri}?user_code=${code}`,
            expires_in: Duration.toSeconds(lifetime),
            interval
          })
        })
      )
    )

    const disconnect = answering((request, info) =>
      Effect.gen(function* () {
        const app = yield* clients.get(parametersOf(queryOf(request)).get("client_id"))
        if (info.user?._tag !== "Right") {
          const refused = info.user?._tag === "Left" ? info.user.left : notSignedIn
          info.refused = refused
          return refuse(refused)
        }
        return yield* tokens.disconnect(app).pipe(
          Effect.as(HttpServerResponse.empty({ status: 204 })),
          Effect.provideService(CurrentActor, info.user.right),
          Effect.catchAll((error) => Effect.succeed(refuse(error)))
        )
      })
    )

    return { beginDevice, exchange, introspect, push, revoke, disconnect }
  })
