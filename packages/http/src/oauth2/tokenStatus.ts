import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { clientIdOf, invalidRequest, type OAuth2Clients, type OAuth2Tokens } from "@atelier/core/oauth2"
import { Timestamp } from "@atelier/core/platform"
import { Effect } from "effect"
import { callInfo } from "../server/request/CurrentRequest.js"
import { json } from "../server/codec/respond.js"
import { type ProtocolAnswers, required } from "./answering.js"
import type { assertionCheck } from "./clientAssertion.js"
import { authenticateClient } from "./clientCredentials.js"
import { readForm } from "../server/request/form.js"

const seconds = (at: Timestamp.Timestamp): number => Math.floor(Timestamp.toMillis(at) / 1000)

interface Needs {
  readonly answering: ProtocolAnswers["answering"]
  readonly limited: ProtocolAnswers["limited"]
  readonly clients: OAuth2Clients["Type"]
  readonly check: ReturnType<typeof assertionCheck>
  readonly tokens: OAuth2Tokens["Type"]
  readonly settings: ProtocolAnswers["settings"]
}

/** The endpoints that end a token, and that tell of one. */
export const tokenStatus = ({ answering, limited, clients, check, tokens, settings }: Needs) => {
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
          client_id: clientIdOf(client.app),
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

  return { revoke, introspect }
}
