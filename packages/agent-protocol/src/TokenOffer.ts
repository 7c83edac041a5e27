/**
 * How a running agent gets another token, on a stream of the kind `token` that the service opens (`ReverseStream`): an extension of this project. An
 * agent says by the query parameter `tokens` up to which version it takes them.
 *
 * 1. The service sends a token that is not valid yet. The agent keeps it in memory, beside its own, and says so.
 * 2. The service makes the token valid, which ends the old one, and says so.
 * 3. An agent of version 1 connects with it, and says when the service has answered. For an agent of version 2, the service's process that has the
 *    connection makes the connection the new token's, and sends the manifest along. The agent says when it works with the manifest.
 *
 * A stream that ends before the third step says nothing about the token. The agent tries the tokens that it has kept when its own is refused.
 */
import { Duration, Effect, Option, Redacted, Schema } from "effect"
import { ByteBuffer } from "./ByteBuffer.js"
import * as Message from "./Message.js"
import { StreamReset } from "./yamux/YamuxError.js"

/** The name and value of the query parameter with which an agent says that it takes tokens. */
export const parameter = "tokens"
export const offered = "2"

/** The version from which agents take a token on the connection that they have. */
export const inPlaceVersion = 2

/** Bytes of a manifest: those that a message of DRPC may have. */
const maximumManifest = 4 * 1024 * 1024

/** How long a manifest may take to arrive. */
const arrivesWithin = Duration.seconds(15)

const incomplete = new StreamReset({ by: "here", message: "The manifest did not arrive whole" })

const Offer = Schema.parseJson(Schema.Struct({ token: Schema.String.pipe(Schema.minLength(1), Schema.maxLength(512)) }))
const done = { done: true } as const
const Done = Schema.parseJson(Schema.Struct({ done: Schema.Literal(true) }))

/** The token is valid. With `manifest`, the connection is the token's, and as many bytes of a manifest follow. */
const Valid = Schema.parseJson(
  Schema.Struct({
    done: Schema.Literal(true),
    manifest: Schema.optional(Schema.Number.pipe(Schema.int(), Schema.between(0, maximumManifest)))
  })
)

interface Stream<E> {
  readonly read: Effect.Effect<Option.Option<Uint8Array>, E>
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, E>
}

/**
 * The part of the process of the service that gives the token: completes when the agent keeps the token. What it returns tells the agent that the
 * token is valid, and waits until the agent uses it.
 */
export const offer = <E>(
  stream: Stream<E>,
  token: Redacted.Redacted<string>
): Effect.Effect<Effect.Effect<void, E | StreamReset>, E | StreamReset> =>
  Effect.gen(function* () {
    yield* Message.write(stream, Offer, { token: Redacted.value(token) })
    yield* Message.read(stream, Done)
    return Effect.zipRight(Message.write(stream, Done, done), Effect.asVoid(Message.read(stream, Done)))
  })

/** Tells an agent that the token is valid, with the manifest, and waits until the agent works with it. */
const tell = <E>(agent: Stream<E>, manifest: Uint8Array): Effect.Effect<void, E | StreamReset> =>
  Effect.gen(function* () {
    yield* Message.write(agent, Valid, { ...done, manifest: manifest.length })
    yield* agent.write(manifest)
    yield* Message.read(agent, Done)
  })

/**
 * The part of the process that has the connection of an agent of version 2: passes the offer on. `renew` makes the connection that of the token,
 * which is valid, and runs what it is given with the manifest: that completes when the agent works with it.
 */
export const pass = <E1, E2, E3>(
  giver: Stream<E1>,
  agent: Stream<E2>,
  renew: (
    token: Redacted.Redacted<string>,
    tell: (manifest: Uint8Array) => Effect.Effect<void, E2 | StreamReset>
  ) => Effect.Effect<void, E3>
): Effect.Effect<void, E1 | E2 | E3 | StreamReset> =>
  Effect.gen(function* () {
    const [{ token }] = yield* Message.read(giver, Offer)
    yield* Message.write(agent, Offer, { token })
    yield* Message.read(agent, Done)
    yield* Message.write(giver, Done, done)
    yield* Message.read(giver, Done)
    yield* renew(Redacted.make(token), (manifest) => tell(agent, manifest))
    yield* Message.write(giver, Done, done)
  })

/** Gives an agent of version 2 a token that is valid already, and its manifest. Completes when the agent works with it. */
export const give = <E>(agent: Stream<E>, token: Redacted.Redacted<string>, manifest: Uint8Array): Effect.Effect<void, E | StreamReset> =>
  Effect.gen(function* () {
    yield* Message.write(agent, Offer, { token: Redacted.value(token) })
    yield* Message.read(agent, Done)
    yield* tell(agent, manifest)
  })

/** Reads `size` bytes in all. `early` holds those that have been read already. */
const readBytes = <E>(stream: Stream<E>, size: number, early: Uint8Array): Effect.Effect<Uint8Array, E | StreamReset> =>
  Effect.gen(function* () {
    const buffer = new ByteBuffer()
    buffer.append(early)
    while (buffer.size < size) {
      const chunk = yield* stream.read
      if (Option.isNone(chunk)) return yield* incomplete
      buffer.append(chunk.value)
    }
    return buffer.take().subarray(0, size)
  }).pipe(Effect.timeoutFail({ duration: arrivesWithin, onTimeout: () => incomplete }))

/** The agent's part. `use` connects with the token; `adopt` works with the manifest of the connection, which is the token's. */
export const take = <E1, E2>(
  stream: Stream<E1>,
  {
    adopt,
    keep,
    use
  }: {
    readonly keep: (token: Redacted.Redacted<string>) => Effect.Effect<void>
    readonly use: (token: Redacted.Redacted<string>) => Effect.Effect<void>
    readonly adopt: (token: Redacted.Redacted<string>, manifest: Uint8Array) => Effect.Effect<void, E2>
  }
): Effect.Effect<void, E1 | E2 | StreamReset> =>
  Effect.gen(function* () {
    const [message] = yield* Message.read(stream, Offer)
    const token = Redacted.make(message.token)
    yield* keep(token)
    yield* Message.write(stream, Done, done)
    const [{ manifest }, early] = yield* Message.read(stream, Valid)
    yield* manifest === undefined ? use(token) : Effect.flatMap(readBytes(stream, manifest, early), (bytes) => adopt(token, bytes))
    yield* Message.write(stream, Done, done)
  })
