import { Context, Duration, Effect, Option, Redacted } from "effect"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { constantTimeEquals, type Cryptography } from "../../platform/secrets/Cryptography.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Worker } from "../../platform/background/Worker.js"
import { Authorizations, type ConsentRequest, redirectTarget } from "./Authorizations.js"
import type { OAuth2App } from "../clients/OAuth2App.js"
import { type AuthenticatedClient, requireAuthenticated } from "../clients/OAuth2Clients.js"
import { invalidClient, invalidRequest, OAuthError } from "../OAuthError.js"
import { newSecret, presentedSecret } from "../tokens/OAuthSecret.js"
import { PushedRequestRepository } from "./PushedRequestRepository.js"
import { hasRoom, purgeExpired } from "../WaitingRows.js"

/** The beginning of a reference (RFC 9126 §2.2). */
const referencePrefix = "urn:ietf:params:oauth:request_uri:"

/** The lifetime of a request; its user may have to sign in first. */
const lifetime = Duration.minutes(10)

const badReference = new OAuthError({ error: "invalid_request_uri", message: "The request_uri is invalid, has expired or has been used." })
const tooMany = new OAuthError({ error: "temporarily_unavailable", message: "Too many pushed requests are waiting." })

/** The reference of a request that was sent ahead, and how long it is good. */
export interface PushedReference {
  readonly request_uri: Redacted.Redacted<string>
  readonly lifetime: Duration.Duration
}

/** An authorization request that was sent ahead. */
export interface FoundRequest {
  readonly request: ConsentRequest
  /** Uses the request up. Fails with `OAuthError` if it has been used. */
  readonly use: Effect.Effect<void, OAuthError>
}

/** The methods of {@link PushedRequests}. */
export interface PushedRequestsService {
  /**
   * Keeps an authorization request for the browser that comes with its reference. Fails as the authorization endpoint would, and with
   * `invalid_client` for a confidential client that has not proven who it is.
   */
  readonly push: (client: AuthenticatedClient, request: ConsentRequest) => Effect.Effect<PushedReference, OAuthError, Cryptography>

  /** The request of a reference, with what it is used up by. Fails with `invalid_request_uri` for a reference that is not of the client. */
  readonly find: (app: OAuth2App, reference: string) => Effect.Effect<FoundRequest, OAuthError, Cryptography>

  /** Deletes requests that no user came for. */
  readonly purge: Worker<never>
}

const make = Effect.gen(function* () {
  const repository = yield* PushedRequestRepository
  const authorizations = yield* Authorizations
  const { brand } = yield* DeploymentOptions

  return {
    push: Traced.fn("PushedRequests.push")(function* (client: AuthenticatedClient, request: ConsentRequest) {
      yield* requireAuthenticated(client)
      const target = redirectTarget(client.app, request)
      if ("violation" in target) return yield* invalidRequest(target.violation)
      const violation = authorizations.violation(request)
      if (violation !== undefined) return yield* violation
      const now = yield* Timestamp.now
      if (!(yield* hasRoom(repository, client.app.id, now))) return yield* tooMany
      const { hashedSecret, prefix, text } = yield* newSecret(brand)
      const { repeated: _, ...parameters } = request
      const given = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined))
      const expires_at = Timestamp.plus(now, lifetime)
      const pushed = { prefix, app_id: client.app.id, request: { ...given, resource: request.resource }, expires_at }
      if (!(yield* repository.insert(pushed, hashedSecret))) return yield* invalidClient
      return { request_uri: Redacted.make(`${referencePrefix}${Redacted.value(text)}`), lifetime }
    }),

    find: Traced.fn("PushedRequests.find")(function* (app: OAuth2App, reference: string) {
      const presented = reference.startsWith(referencePrefix)
        ? yield* presentedSecret(brand, reference.slice(referencePrefix.length))
        : undefined
      const found = presented === undefined ? undefined : Option.getOrUndefined(yield* repository.byPrefix(presented.prefix))
      if (presented === undefined || found === undefined || !constantTimeEquals(found.hashed_secret, presented.hashedSecret))
        return yield* badReference
      const { app_id, expires_at, prefix, request } = found.value
      if (app_id !== app.id || expires_at < (yield* Timestamp.now)) return yield* badReference
      return {
        request: {
          response_type: request.response_type,
          response_mode: request.response_mode,
          prompt: request.prompt,
          redirect_uri: request.redirect_uri,
          scope: request.scope,
          state: request.state,
          resource: request.resource,
          code_challenge: request.code_challenge,
          code_challenge_method: request.code_challenge_method,
          dpop_jkt: request.dpop_jkt,
          repeated: []
        } satisfies ConsentRequest,
        /** For the transaction of the consent: a reference is good for one code. */
        use: Effect.flatMap(repository.delete(prefix), (isFirst) => (isFirst ? Effect.void : badReference))
      }
    }),

    purge: {
      name: "purge-oauth2-pushed-requests",
      every: "10 minutes",
      run: Effect.flatMap(Timestamp.now, (now) => purgeExpired(repository, now))
    } satisfies Worker<never>
  }
})

/** Authorization requests that clients send ahead (RFC 9126). oauth2-provider.md §17.2. */
export class PushedRequests extends Context.Tag("@atelier/core/PushedRequests")<PushedRequests, PushedRequestsService>() {
  static readonly layer = standingOn(service(PushedRequests, make), Authorizations.layer)
}
