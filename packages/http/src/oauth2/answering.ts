/** How the routes of the authorization server answer: their refusals are the protocol's. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { invalidRequest, type OAuthError } from "@atelier/core/oauth2"
import { Unauthenticated } from "@atelier/core/platform"
import { type Context, Effect, type Scope } from "effect"
import { isRefusal, type Refusal } from "../wire/errors.js"
import { CurrentRequest, type RequestInfo } from "../server/request/CurrentRequest.js"
import type { Page } from "../server/pipeline/HttpApplication.js"
import { RateLimiter } from "../server/request/RateLimiter.js"
import { json, refuseAt } from "../server/codec/respond.js"
import { Settings } from "../server/request/Settings.js"
import { challenged, oauthAnswer } from "../server/codec/oauthErrors.js"

export type Request = HttpServerRequest.HttpServerRequest
export type Response = HttpServerResponse.HttpServerResponse

export const notSignedIn = new Unauthenticated({
  message: "You are signed out or your session has expired. Please sign in again to continue."
})

/** Fails with `invalid_request` for a parameter that is not given. */
export const required = (value: string | undefined, name: string): Effect.Effect<string, OAuthError> =>
  value === undefined ? invalidRequest(`The parameter ${name} is required.`) : Effect.succeed(value)

/** Returns the protocol's answers with the services that use cases need while they run. */
export const protocolAnswers = Effect.gen(function* () {
  const settings = yield* Settings
  const limiter = yield* RateLimiter
  const services: Context.Context<never> = yield* Effect.context<never>()

  const refuseOAuth = (error: OAuthError): Response => {
    const { body, status } = oauthAnswer(error)
    return challenged(json(status, body), error, settings.names.realm)
  }

  /** A route's answer: refusals of either kind are the protocol's errors. */
  const answering = <R>(
    handler: (request: Request, info: RequestInfo) => Effect.Effect<Response, OAuthError | Refusal, R>
  ): Page["handler"] =>
    Effect.flatMap(Effect.all([HttpServerRequest.HttpServerRequest, CurrentRequest]), ([request, info]) =>
      handler(request, info).pipe(
        Effect.catchAll((error) => Effect.succeed(isRefusal(error) ? refuseAt("/oauth2/", error) : refuseOAuth(error)))
      )
    ).pipe((effect) =>
      // The types of what use cases need are those of the whole application, which `services` is
      Effect.provide(effect as Effect.Effect<Response, never, Request | Scope.Scope>, services)
    )

  /** Counts a call of a public route by its address. oauth2-provider.md P-22. */
  const limited =
    <R>(operation: string, handler: (request: Request, info: RequestInfo) => Effect.Effect<Response, OAuthError | Refusal, R>) =>
    (request: Request, info: RequestInfo) => {
      const counted: RequestInfo = { ...info, user: undefined }
      const refusal = limiter.take("oauth2", counted, operation)
      info.quota = counted.quota
      return refusal === undefined ? handler(request, info) : Effect.succeed(refusal)
    }

  return { answering, limited, refuseOAuth, settings }
})

export type ProtocolAnswers = Effect.Effect.Success<typeof protocolAnswers>
