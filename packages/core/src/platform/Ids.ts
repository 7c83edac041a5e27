import { Clock, Context, Effect, Encoding } from "effect"
import { Cryptography } from "./secrets/Cryptography.js"
import { flat } from "./texts/flat.js"
import { Uuid } from "./texts/Uuid.js"
import { service } from "./wiring/Standing.js"

const dashed = (digits: string): Uuid =>
  Uuid.make(flat(`${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`), {
    disableValidation: true
  })

/** A version 7 UUID (RFC 9562 §5.7) of an instant in milliseconds and ten random bytes. */
export const uuidV7 = (millis: number, random: Uint8Array): Uuid => {
  const bytes = new Uint8Array(random.subarray(0, 10))
  bytes[0] = ((bytes[0] ?? 0) & 0x0f) | 0x70
  bytes[2] = ((bytes[2] ?? 0) & 0x3f) | 0x80
  return dashed(millis.toString(16).padStart(12, "0") + Encoding.encodeHex(bytes))
}

/** Identifiers of new objects. */
export class Ids extends Context.Tag("@atelier/core/Ids")<
  Ids,
  {
    /** A new UUIDv7: ids sort by creation, which keeps indexes compact. */
    readonly next: Effect.Effect<Uuid>
    /** A new UUIDv4, for ids that are secrets themselves. */
    readonly secret: Effect.Effect<Uuid>
  }
>() {
  static readonly make = Effect.gen(function* () {
    const { randomBytes } = yield* Cryptography
    let last = { millis: 0, sequence: 0 }
    return Ids.of({
      next: Effect.gen(function* () {
        const millis = Math.max(yield* Clock.currentTimeMillis, last.millis)
        const random = yield* randomBytes(10)
        // Ids of one process made in one millisecond count up in their first 12 random bits (RFC 9562 §6.2, method 1)
        const sequence = millis === last.millis ? last.sequence + 1 : (random[0] ?? 0) & 0x7f
        last = sequence > 0xfff ? { millis: millis + 1, sequence: 0 } : { millis, sequence }
        random[0] = last.sequence >> 8
        random[1] = last.sequence & 0xff
        return uuidV7(last.millis, random)
      }),
      secret: Effect.map(randomBytes(16), (bytes) => {
        bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
        bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
        return dashed(Encoding.encodeHex(bytes))
      })
    })
  })

  static readonly layer = service(Ids, Ids.make)
}
