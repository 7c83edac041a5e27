import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type RightEnded, type StreamRight, StreamRights } from "@atelier/core/access"
import { Effect, type Scope } from "effect"
import { Streaming } from "../contract/annotations.js"
import { TooManyRequests } from "../wire/errors.js"
import { refuse } from "../server/codec/respond.js"

/**
 * Begins a stream of the endpoint that is being answered: every WebSocket and every event stream comes through here. Answers the response that
 * refuses it, if the caller has too many open; else holds the right to it until the scope closes, and calls `ended` when that has ended.
 */
export const openStream = (
  right: StreamRight,
  ended: (reason: RightEnded) => void
): Effect.Effect<HttpServerResponse.HttpServerResponse | undefined, never, Scope.Scope | StreamRights> =>
  Effect.gen(function* () {
    // Tests hold the annotated endpoints to the rules of streams
    if (!(yield* Streaming)) return yield* Effect.dieMessage("An endpoint that streams must be annotated with Streaming.")
    const { hold } = yield* StreamRights
    return yield* Effect.match(hold(right, ended), {
      onFailure: ({ message }) => refuse(new TooManyRequests({ message })),
      onSuccess: () => undefined
    })
  })
