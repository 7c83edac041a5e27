import { Context, Duration, Effect, Option, Redacted } from "effect"
import { CurrentActor } from "../../access/actors/Actor.js"
import * as Audit from "../../audit/Audit.js"
import { appAudit } from "../clients/OAuth2AppAudit.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { normalizedResource } from "../../identity/sessions/Audience.js"
import { ApiKeyRepository } from "../../identity/sessions/ApiKeyRepository.js"
import { AccountRepository } from "../../identity/users/AccountRepository.js"
import { Ids } from "../../platform/Ids.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Worker } from "../../platform/background/Worker.js"
import { Authorizations } from "../authorizations/Authorizations.js"
import { type DeviceCode, deviceLifetime, newUserCode, pollInterval, readUserCode } from "./DeviceCode.js"
import { DeviceCodeRepository } from "./DeviceCodeRepository.js"
import { deviceGrant, type OAuth2App } from "../clients/OAuth2App.js"
import { OAuth2AppRepository } from "../clients/OAuth2AppRepository.js"
import { type AuthenticatedClient, requireAuthenticated } from "../clients/OAuth2Clients.js"
import { invalidClient, OAuthError } from "../OAuthError.js"
import { hashText, newSecret } from "../tokens/OAuthSecret.js"
import { hasRoom, purgeExpired } from "../WaitingRows.js"
import type { Cryptography } from "../../platform/secrets/Cryptography.js"
import type { Auditing } from "../../audit/Audit.js"

/** How long a device is told that its code has expired. */
const keptExpired = Duration.hours(1)

const badUserCode = new OAuthError({ error: "invalid_grant", message: "The code is not valid, or has expired." })
const tooMany = new OAuthError({ error: "temporarily_unavailable", message: "Too many devices are waiting." })
const notRegistered = new OAuthError({ error: "unauthorized_client", message: "The client has not registered this grant type." })
const ended = new OAuthError({ error: "access_denied", message: "The session has just ended.", forbidden: true })

/** The codes of a device whose user has to allow it, how long they are good, and how many seconds it waits between two questions. */
export interface BegunDevice {
  readonly device_code: Redacted.Redacted<string>
  readonly user_code: Redacted.Redacted<string>
  readonly lifetime: Duration.Duration
  readonly interval: number
}

/** The methods of {@link DeviceAuthorizations}. */
export interface DeviceAuthorizationsService {
  /** Gives a device a code for itself and one for its user. Fails for a client that may not have them, and for scopes that cannot be had. */
  readonly begin: (
    client: AuthenticatedClient,
    asked: { readonly scope: string | undefined; readonly resource: ReadonlyArray<string> }
  ) => Effect.Effect<BegunDevice, OAuthError, Ids | Cryptography>

  /** The app that waits for a code, and the scopes that it would get. Fails for a code that no device waits with. */
  readonly find: (
    typed: string
  ) => Effect.Effect<{ readonly app: OAuth2App; readonly scopes: ReadonlyArray<string> }, OAuthError, Cryptography>

  /**
   * Writes the actor's answer to a device. Fails for a code that no device waits with, and for scopes that the actor allows and cannot give. A person
   * may deny whatever the person's credential may give.
   */
  readonly answer: (typed: string, isAllowed: boolean) => Effect.Effect<void, OAuthError, CurrentActor | Cryptography | Auditing>

  /** Deletes devices whose codes have expired for some time. */
  readonly purge: Worker<never>
}

const make = Effect.gen(function* () {
  const repository = yield* DeviceCodeRepository
  const authorizations = yield* Authorizations
  const accounts = yield* AccountRepository
  const keys = yield* ApiKeyRepository
  const apps = yield* OAuth2AppRepository
  const { brand } = yield* DeploymentOptions

  /** A device that waits for the user who types its code. */
  const waiting = (typed: string) =>
    Effect.gen(function* () {
      const code = readUserCode(typed)
      const found = code === undefined ? undefined : Option.getOrUndefined(yield* repository.byUserCode(yield* hashText(code)))
      if (found === undefined || found.status !== "pending" || found.expires_at < (yield* Timestamp.now)) return yield* badUserCode
      const app = Option.getOrUndefined(yield* apps.byId(found.app_id))
      return app === undefined ? yield* badUserCode : { device: found, app }
    })

  return {
    begin: Traced.fn("DeviceAuthorizations.begin")(function* (
      client: AuthenticatedClient,
      asked: { readonly scope: string | undefined; readonly resource: ReadonlyArray<string> }
    ) {
      yield* requireAuthenticated(client)
      const { app } = client
      if (app.dynamically_registered && !app.grant_types.includes(deviceGrant)) return yield* notRegistered
      const violation = authorizations.reachViolation(asked)
      if (violation !== undefined) return yield* violation
      const now = yield* Timestamp.now
      if (!(yield* hasRoom(repository, app.id, now))) return yield* tooMany
      const { hashedSecret, prefix, text } = yield* newSecret(brand)
      const device: DeviceCode = {
        id: yield* (yield* Ids).next,
        app_id: app.id,
        prefix,
        status: "pending",
        scopes: authorizations.granted(asked),
        resource: [...new Set(asked.resource.map(normalizedResource))],
        created_at: now,
        expires_at: Timestamp.plus(now, deviceLifetime),
        interval_seconds: pollInterval,
        polled_at: null,
        user_id: null,
        consent_key_id: null
      }
      // Two of 25 billion codes are seldom the same
      const user_code = yield* Effect.gen(function* () {
        const code = yield* newUserCode
        const hashedUserCode = yield* hashText(code.replace("-", ""))
        return (yield* repository.insert(device, { hashedSecret, hashedUserCode })) ? code : undefined
      }).pipe(Effect.retry({ times: 3 }), Effect.orDie)
      if (user_code === undefined) return yield* invalidClient
      return { device_code: text, user_code: Redacted.make(user_code), lifetime: deviceLifetime, interval: pollInterval }
    }),

    find: Traced.fn("DeviceAuthorizations.find")((typed: string) =>
      Effect.map(waiting(typed), ({ app, device: { scopes } }) => ({ app, scopes }))
    ),

    answer: Traced.fn("DeviceAuthorizations.answer")(function* (typed: string, isAllowed: boolean) {
      const { apiKeyId, userId } = yield* CurrentActor
      const { app, device } = yield* waiting(typed)
      yield* isAllowed ? authorizations.requireGivable(device.scopes) : authorizations.requirePerson
      yield* Audit.audited(
        {
          action: "write",
          resource: appAudit,
          id: app.id,
          target: app.name,
          additional_fields: { event: isAllowed ? "device_consent" : "device_denial" }
        },
        Effect.gen(function* () {
          const [user] = yield* accounts.lock([userId])
          if (user === undefined || user.status !== "active") return yield* ended
          if (apiKeyId !== undefined && Option.isNone(yield* keys.byId(apiKeyId))) return yield* ended
          const status = isAllowed ? "approved" : "denied"
          if (!(yield* repository.answer(device.id, { status, user_id: userId, consent_key_id: apiKeyId ?? null })))
            return yield* badUserCode
          if (isAllowed) yield* apps.recordUse(app.id, yield* Timestamp.now)
          return { value: undefined }
        })
      )
    }),

    purge: {
      name: "purge-oauth2-device-codes",
      every: "10 minutes",
      run: Effect.flatMap(Timestamp.now, (now) => purgeExpired(repository, Timestamp.minus(now, keptExpired)))
    } satisfies Worker<never>
  }
})

/** Devices without a browser, whose users answer elsewhere (RFC 8628). oauth2-provider.md §17.3. */
export class DeviceAuthorizations extends Context.Tag("@atelier/core/DeviceAuthorizations")<
  DeviceAuthorizations,
  DeviceAuthorizationsService
>() {
  static readonly layer = standingOn(service(DeviceAuthorizations, make), Authorizations.layer)
}
