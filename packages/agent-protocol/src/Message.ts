/** JSON texts on a byte stream, each with its length in two bytes before it, in network order. */
import { Duration, Effect, Option, Schema } from "effect"
import { ByteBuffer } from "./ByteBuffer.js"
import { StreamReset } from "./yamux/YamuxError.js"

/** Bytes of a message. */
const maximumMessage = 1024

/** Bytes of the length before a message. */
const lengthBytes = 2

/** How long the other side may take for its message. */
const answerWithin = Duration.seconds(15)

const broken = (message: string) => new StreamReset({ by: "here", message })

/** The part of a stream that messages are read from. */
interface Readable<E> {
  readonly read: Effect.Effect<Option.Option<Uint8Array>, E>
}

/** The part of a stream that messages are written to. */
interface Writable<E> {
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, E>
}

/** Writes the text of one message. */
export const writeText = <E>(stream: Writable<E>, text: string): Effect.Effect<void, E> => {
  const payload = new TextEncoder().encode(text)
  const bytes = new Uint8Array(lengthBytes + payload.length)
  new DataView(bytes.buffer).setUint16(0, payload.length)
  bytes.set(payload, lengthBytes)
  return stream.write(bytes)
}

/** Writes one message. */
export const write = <A, E>(stream: Writable<E>, schema: Schema.Schema<A, string>, message: A): Effect.Effect<void, E> =>
  Effect.flatMap(Effect.orDie(Schema.encode(schema)(message)), (text) => writeText(stream, text))

/** Reads one message, and returns it with the bytes that came after it. Fails if it does not come within 15 seconds. */
export const read = <A, E>(
  stream: Readable<E>,
  schema: Schema.Schema<A, string>
): Effect.Effect<readonly [A, Uint8Array], E | StreamReset> =>
  Effect.gen(function* () {
    const buffer = new ByteBuffer()
    for (;;) {
      const chunk = yield* stream.read
      if (Option.isNone(chunk)) return yield* broken("The stream ended before its message")
      buffer.append(chunk.value)
      if (buffer.size < lengthBytes) continue
      const bytes = buffer.take()
      const end = lengthBytes + new DataView(bytes.buffer, bytes.byteOffset).getUint16(0)
      if (end > lengthBytes + maximumMessage) return yield* broken("The message is too long")
      if (bytes.length >= end) {
        const text = new TextDecoder().decode(bytes.subarray(lengthBytes, end))
        const message = yield* Effect.mapError(Schema.decode(schema)(text), () => broken("The message is malformed"))
        return [message, bytes.subarray(end)] as const
      }
      buffer.append(bytes)
    }
  }).pipe(Effect.timeoutFail({ duration: answerWithin, onTimeout: () => broken("The message did not come in time") }))
