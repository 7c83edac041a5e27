import { type Duration, Effect, Option } from "effect"
import * as Background from "../platform/background/Background.js"
import { type Dispatcher, NotDelivered, type OutgoingNotification } from "./Dispatcher.js"

/** Delivers a message within a time. What a host's dispatcher does may be uninterruptible: it is left after that, because other messages wait for its turn. */
export const dispatchWithin = (
  time: Duration.Duration,
  dispatcher: Dispatcher,
  message: OutgoingNotification
): Effect.Effect<void, NotDelivered> =>
  Effect.filterOrFail(
    Background.leftAfter(time)(dispatcher.dispatch(message)),
    Option.isSome,
    () => new NotDelivered({ reason: "the delivery takes too long", retryable: true })
  )
