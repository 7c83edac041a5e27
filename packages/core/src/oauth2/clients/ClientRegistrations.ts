import { Context, Effect, Redacted } from "effect"
import * as Access from "../../access/Access.js"
import type { CallInfo } from "../../access/actors/Actor.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import * as Audit from "../../audit/Audit.js"
import { appAudit, auditedApp } from "./OAuth2AppAudit.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { randomAlphanumeric, type Cryptography } from "../../platform/secrets/Cryptography.js"
import { untilNotFull } from "../../platform/background/Batches.js"
import { Ids } from "../../platform/Ids.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Worker } from "../../platform/background/Worker.js"
import { appName, type ClientMetadata, readClientMetadata } from "./ClientMetadata.js"
import { hasSecrets, type OAuth2App } from "./OAuth2App.js"
import { OAuth2AppRepository } from "./OAuth2AppRepository.js"
import { OAuth2Apps } from "./OAuth2Apps.js"
import { OAuthError } from "../OAuthError.js"
import { hashText, newSecret } from "../tokens/OAuthSecret.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Auditing } from "../../audit/Audit.js"
import { badToken, purgeBatch, managedClients } from "./ManagedClients.js"

/** Characters of a registration access token, of 62 kinds each. */
const tokenLength = 40

/** How long a registration is kept that is never used. Clients store theirs for ever once they have it in use. */
const unusedLifetime = "30 days"

const switchedOff = new OAuthError({
  error: "invalid_request",
  message: "Dynamic client registration is disabled in this deployment.",
  forbidden: true
})

/** The methods of {@link ClientRegistrations}. */
export interface ClientRegistrationsService {
  /**
   * Registers a client. Returns it with its secret and its registration access token, which are shown only once; public clients get no
   * secret. oauth2-provider.md §10.3.
   */
  readonly register: (
    body: unknown,
    info: CallInfo
  ) => Effect.Effect<
    { readonly app: OAuth2App; readonly secret: Redacted.Redacted<string> | undefined; readonly token: Redacted.Redacted<string> },
    OAuthError,
    Cryptography | Auditing
  >

  /** The configuration of the client that the token manages. */
  readonly get: (...args: [clientId: string, token: string | undefined]) => Effect.Effect<OAuth2App, OAuthError, Cryptography>

  /**
   * Replaces a client's metadata; members that are left out get their defaults. Secrets and tokens stay valid. Fails with
   * `invalid_client_metadata` where a public client would become a confidential one, or the reverse.
   */
  readonly update: (
    clientId: string,
    token: string | undefined,
    body: unknown,
    info: CallInfo
  ) => Effect.Effect<OAuth2App, OAuthError, Cryptography | Auditing>

  /** Deletes a client with its secrets, codes and tokens. */
  readonly delete: (clientId: string, token: string | undefined, info: CallInfo) => Effect.Effect<void, OAuthError, Cryptography | Auditing>

  /** Deletes clients that registered themselves and that no user ever gave a permission. */
  readonly purge: Worker<never>
}

const make = Effect.gen(function* () {
  const repository = yield* OAuth2AppRepository
  const apps = yield* OAuth2Apps
  const { brand } = yield* DeploymentOptions

  const described = ({ client_name, ...metadata }: ClientMetadata) =>
    Effect.map(hashText(client_name), (hashed) => ({
      ...metadata,
      name: appName(client_name, hashed),
      icon: metadata.metadata.logo_uri ?? ""
    }))

  const subject = (action: "register" | "write" | "delete", app: Pick<OAuth2App, "id" | "name">) => ({
    action,
    resource: appAudit,
    id: app.id,
    target: app.name
  })

  const asServer = (info: CallInfo) => Access.actingAs({ ...SystemActor.systemOauth, ...info })

  const { managed, requireRoom } = managedClients({ repository })

  return {
    register: Traced.fn("ClientRegistrations.register")(function* (body: unknown, info: CallInfo) {
      if (!(yield* apps.registrationEnabled)) return yield* switchedOff
      const metadata = yield* readClientMetadata(body)
      const now = yield* Timestamp.now
      yield* requireRoom(now)
      const ids = yield* Ids
      const app: OAuth2App = {
        id: yield* ids.next,
        created_at: now,
        updated_at: now,
        ...(yield* described(metadata)),
        dynamically_registered: true,
        last_used_at: null
      }
      const token = yield* randomAlphanumeric(tokenLength)
      const hashedToken = yield* hashText(token)
      const secret = hasSecrets(app) ? yield* newSecret(brand) : undefined
      const secretId = yield* ids.next
      yield* Audit.audited(
        subject("register", app),
        Effect.gen(function* () {
          yield* repository.insert(app, hashedToken)
          if (secret !== undefined) {
            const { hashedSecret, prefix, truncated } = secret
            yield* repository.insertSecret(
              { id: secretId, app_id: app.id, created_at: now, truncated, last_used_at: null, hashed_secret: hashedSecret },
              prefix
            )
          }
          return { value: undefined, after: { ...auditedApp(app), registration_access_token: "" } }
        })
      ).pipe(asServer(info))
      return { app, secret: secret?.text, token: Redacted.make(token) }
    }),

    get: Traced.fn("ClientRegistrations.get")(managed),

    update: Traced.fn("ClientRegistrations.update")(function* (clientId: string, token: string | undefined, body: unknown, info: CallInfo) {
      const app = yield* managed(clientId, token)
      const metadata = yield* readClientMetadata(body)
      const named = typeof body === "object" && body !== null && "client_id" in body ? body.client_id : undefined
      const refused = (message: string) => new OAuthError({ error: "invalid_client_metadata", message })
      if (named !== undefined && named !== null && named !== app.id) return yield* refused("client_id: must be that of the client")
      if (metadata.client_type !== app.client_type)
        return yield* refused("token_endpoint_auth_method: must not make a public client confidential, or a confidential client public")
      if (hasSecrets(metadata) !== hasSecrets(app))
        return yield* refused("token_endpoint_auth_method: must not change between a secret and a key")
      const fields = yield* described(metadata)
      return yield* Audit.audited(
        subject("write", app),
        Effect.gen(function* () {
          const before = yield* Effect.mapError(Effect.flatten(repository.lock(app.id)), () => badToken)
          const updated: OAuth2App = { ...before, ...fields, updated_at: yield* Timestamp.now }
          yield* repository.update(updated)
          return { value: updated, before: auditedApp(before), after: auditedApp(updated) }
        })
      ).pipe(asServer(info))
    }),

    delete: Traced.fn("ClientRegistrations.delete")(function* (clientId: string, token: string | undefined, info: CallInfo) {
      const app = yield* managed(clientId, token)
      yield* Audit.audited(
        subject("delete", app),
        Effect.flatMap(repository.delete(app.id), (found) =>
          found ? Effect.succeed({ value: undefined, before: auditedApp(app) }) : badToken
        )
      ).pipe(asServer(info))
    }),

    purge: {
      name: "purge-unused-oauth2-clients",
      every: "1 hour",
      run: Effect.gen(function* () {
        const before = Timestamp.minus(yield* Timestamp.now, unusedLifetime)
        yield* untilNotFull(purgeBatch, (limit) => repository.deleteUnused(before, limit))
      })
    } satisfies Worker<never>
  }
})

/** Clients that register themselves (RFC 7591) and manage their registration (RFC 7592). oauth2-provider.md §10. */
export class ClientRegistrations extends Context.Tag("@atelier/core/ClientRegistrations")<
  ClientRegistrations,
  ClientRegistrationsService
>() {
  static readonly layer = standingOn(service(ClientRegistrations, make), OAuth2Apps.layer)
}
