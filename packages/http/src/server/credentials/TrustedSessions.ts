/** The users of requests that the embedding program makes in the same process. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type { Actor, CallInfo } from "@atelier/core/access"
import { TrustedUsers } from "@atelier/core/identity"
import { type Forbidden, service, type Unauthenticated } from "@atelier/core/platform"
import { Context, Effect } from "effect"
import { trustedCallerOf } from "./TrustedCaller.js"

/** Returns the actor of a request that the embedding program makes; undefined for all others. */
export type Trusting = (
  request: HttpServerRequest.HttpServerRequest,
  call: CallInfo
) => Effect.Effect<Actor, Unauthenticated | Forbidden> | undefined

/** The actor with its present rights: its credential may have ended since it was authenticated. */
const renewed = (actor: Actor): Effect.Effect<Actor, Unauthenticated | Forbidden> => actor.credential?.renew ?? Effect.succeed(actor)

/** Trusts no request unless provided. */
export class TrustedSessions extends Context.Reference<TrustedSessions>()("@atelier/http/TrustedSessions", {
  defaultValue: (): Trusting => () => undefined
}) {
  static readonly layer = service(
    TrustedSessions,
    Effect.map(TrustedUsers, ({ actorOf }): Trusting => (request, call) => {
      const caller = trustedCallerOf(request)
      return caller === undefined ? undefined : typeof caller === "string" ? actorOf(caller, call) : renewed(caller)
    })
  )
}
