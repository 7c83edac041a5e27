/** The routes that give, renew and end tokens. oauth2-provider.md §7, §8, §9. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { CurrentActor } from "@atelier/core/access"
import { DeviceAuthorizations, invalidRequest, OAuth2Clients, OAuth2Tokens, OAuthError, PushedRequests } from "@atelier/core/oauth2"
import { NodeKeySets } from "@atelier/node"
import { Duration, Effect, Redacted } from "effect"
import { queryOf } from "../pages/PageOptions.js"
import { json, refuse } from "../server/codec/respond.js"
import { notSignedIn, type ProtocolAnswers } from "./answering.js"
import { consentRequestOf } from "./authorizationRequests.js"
import { assertionCheck } from "./clientAssertion.js"
import { makeClientKeys } from "./clientKeys.js"
import { authenticateClient } from "./clientCredentials.js"
import { devicePath } from "./devicePages.js"
import { parametersOf, readForm } from "../server/request/form.js"
import { ProofOfPossession } from "../server/credentials/proofOfPossession.js"
import { keyProof } from "./keyProof.js"
import { tokenExchange } from "./tokenExchange.js"
import { tokenStatus } from "./tokenStatus.js"

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

    const { provenKey } = keyProof({ proofs })

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
        const app = yield* clients.stored(parametersOf(queryOf(request)).get("client_id"))
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

    const { exchange } = tokenExchange({ answering, limited, clients, check, provenKey, tokens })

    const { revoke, introspect } = tokenStatus({ answering, limited, clients, check, tokens, settings })

    return {
      beginDevice,
      exchange,
      introspect,
      push,
      revoke,
      disconnect
    }
  })
