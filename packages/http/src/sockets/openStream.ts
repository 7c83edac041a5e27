import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type HeldRight, type RightEnded, type StreamRight, StreamRights } from "@atelier/core/access"
import { Effect, Either, type Scope } from "effect"
import { Streaming } from "../contract/annotations.js"
import { TooManyRequests } from "../wire/errors.js"
import { refuse } from "../server/codec/respond.js"

/**
 * Begins a stream of the endpoint that is being answered: every WebSocket and every event stream comes through here. Holds the right to it until
 * the scope closes, and calls `ended` when that has ended. Answers the response that refuses it instead, if the caller has too many open.
 */
export const openStream = (
  right: StreamRight,
  ended: (reason: RightEnded) => void
): Effect.Effect<Either.Either<HeldRight, HttpServerResponse.HttpServerResponse>, never, Scope.Scope | StreamRights> =>
  Effect.gen(function* () {
    // Tests hold the annotated endpoints to the rules of streams
    if (!(yield* Streaming)) return yield* Effect.dieMessage("An endpoint that streams must be annotated with Streaming.")
    const { hold } = yield* StreamRights
    return Either.mapLeft(yield* Effect.either(hold(right, ended)), ({ message }) => refuse(new TooManyRequests({ message })))
  })
