/**
 * How a running agent gets another token, on a stream of the kind `token` that the service opens (`ReverseStream`): an extension of this project. An
 * agent says by the query parameter `tokens` that it takes them.
 *
 * 1. The service sends a token that is not valid yet. The agent keeps it in memory, beside its own, and says so.
 * 2. The service makes the token valid, which ends the old one, and says so. The agent connects with it, and says when the service has answered.
 *
 * A stream that ends between the two says nothing about the token. The agent tries the tokens that it has kept when its own is refused.
 */
import { Effect, type Option, Redacted, Schema } from "effect"
import * as Message from "./Message.js"
import type { StreamReset } from "./yamux/YamuxError.js"

/** The name and value of the query parameter with which an agent says that it takes tokens. */
export const parameter = "tokens"
export const offered = "1"

const Offer = Schema.parseJson(Schema.Struct({ token: Schema.String.pipe(Schema.minLength(1), Schema.maxLength(512)) }))
const done = { done: true } as const
const Done = Schema.parseJson(Schema.Struct({ done: Schema.Literal(true) }))

interface Stream<E> {
  readonly read: Effect.Effect<Option.Option<Uint8Array>, E>
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, E>
}

/** The service's part: completes when the agent keeps the token. What it returns tells the agent that the token is valid, and waits until the agent uses it. */
export const offer = <E>(
  stream: Stream<E>,
  token: Redacted.Redacted<string>
): Effect.Effect<Effect.Effect<void, E | StreamReset>, E | StreamReset> =>
  Effect.gen(function* () {
    yield* Message.write(stream, Offer, { token: Redacted.value(token) })
    yield* Message.read(stream, Done)
    return Effect.zipRight(Message.write(stream, Done, done), Effect.asVoid(Message.read(stream, Done)))
  })

/** The agent's part. `use` connects with the token. */
export const take = <E>(
  stream: Stream<E>,
  {
    keep,
    use
  }: {
    readonly keep: (token: Redacted.Redacted<string>) => Effect.Effect<void>
    readonly use: (token: Redacted.Redacted<string>) => Effect.Effect<void>
  }
): Effect.Effect<void, E | StreamReset> =>
  Effect.gen(function* () {
    const [message] = yield* Message.read(stream, Offer)
    const token = Redacted.make(message.token)
    yield* keep(token)
    yield* Message.write(stream, Done, done)
    yield* Message.read(stream, Done)
    yield* use(token)
    yield* Message.write(stream, Done, done)
  })
