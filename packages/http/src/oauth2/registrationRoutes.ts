/** The routes on which clients register themselves, and manage their registration (RFC 7591, RFC 7592). oauth2-provider.md §10. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { ClientRegistrations, hasSecrets, type OAuth2App, OAuthError } from "@atelier/core/oauth2"
import { Timestamp } from "@atelier/core/platform"
import { Duration, Effect, Redacted } from "effect"
import { Wire } from "../wire/dialect.js"
import { readText } from "../server/request/body.js"
import { callInfo, type RequestInfo } from "../server/request/CurrentRequest.js"
import { parseFirst, Unreadable } from "../server/codec/json.js"
import { json } from "../server/codec/respond.js"
import type { ProtocolAnswers, Request } from "./answering.js"

/** Bytes of the metadata that a client registers. */
const maximumMetadata = 64 * 1024

const bodyTimeout = Duration.seconds(10)

/** A client as RFC 7591 §3.2.1 shows it. Members without a value are left out. */
const clientView = (accessUrl: string, app: OAuth2App): object => ({
  client_id: app.id,
  client_id_issued_at: Math.floor(Timestamp.toMillis(app.created_at) / 1000),
  client_name: app.name,
  redirect_uris: app.redirect_uris,
  grant_types: app.grant_types,
  response_types: app.response_types,
  token_endpoint_auth_method: app.token_endpoint_auth_method,
  ...app.metadata,
  ...(hasSecrets(app) ? { client_secret_expires_at: 0 } : {}),
  registration_client_uri: `${accessUrl}/oauth2/clients/${app.id}`
})

/** The JSON of a registration. */
const readMetadata = (request: Request) =>
  Effect.flatMap(readText(request, maximumMetadata, bodyTimeout), (body) => {
    const parsed = parseFirst(body)
    return parsed instanceof Unreadable
      ? new OAuthError({ error: "invalid_client_metadata", message: `The body must be valid JSON: ${parsed.reason}.` })
      : Effect.succeed(parsed)
  })

export const registrationRoutes = ({ answering, limited, settings: { accessUrl } }: ProtocolAnswers) =>
  Effect.gen(function* () {
    const registrations = yield* ClientRegistrations
    const wire = yield* Wire

    const register = answering(
      limited("register", (request) =>
        Effect.gen(function* () {
          const { app, secret, token } = yield* registrations.register(yield* readMetadata(request), yield* callInfo)
          return json(201, {
            ...clientView(accessUrl, app),
            ...(secret === undefined ? {} : { client_secret: Redacted.value(secret) }),
            registration_access_token: Redacted.value(token)
          })
        })
      )
    )

    const managementToken = ({ headers }: Request): string | undefined => /^Bearer (\S+)$/.exec(headers["authorization"] ?? "")?.[1]

    const clientId = ({ path }: RequestInfo): string => path.slice(path.lastIndexOf("/") + 1)

    /** A client's registration, with the token that the caller has presented (RFC 7592 §3). The reference leaves the token out. */
    const managed = (request: Request, app: OAuth2App) => {
      const token = managementToken(request)
      const shown = wire === "reference" || token === undefined ? {} : { registration_access_token: token }
      return json(200, { ...clientView(accessUrl, app), ...shown })
    }

    const readClient = answering(
      limited("clients", (request, info) =>
        Effect.map(registrations.get(clientId(info), managementToken(request)), (app) => managed(request, app))
      )
    )

    const replaceClient = answering(
      limited("clients", (request, info) =>
        Effect.gen(function* () {
          // A caller without the token learns nothing of what its body lacks
          yield* registrations.get(clientId(info), managementToken(request))
          const body = yield* readMetadata(request)
          return managed(request, yield* registrations.update(clientId(info), managementToken(request), body, yield* callInfo))
        })
      )
    )

    const deleteClient = answering(
      limited("clients", (request, info) =>
        Effect.gen(function* () {
          yield* registrations.delete(clientId(info), managementToken(request), yield* callInfo)
          return HttpServerResponse.empty({ status: 204 })
        })
      )
    )

    return { register, readClient, replaceClient, deleteClient }
  })
