/** Values of the agents' protocol as the services know them, and back. */
import {
  Duration as ProtocolDuration,
  RpcError,
  Timestamp as ProtocolTimestamp,
  Uuid as ProtocolUuid,
  Version
} from "@atelier/agent-protocol"
import { Invalid, Timestamp, Uuid, type Validation } from "@atelier/core/platform"
import { Effect, Either, Option } from "effect"

/** An id as its 16 bytes. */
export const bytesOf = (id: Uuid.Uuid): Uint8Array => Option.getOrThrow(ProtocolUuid.toBytes(id))

/** The refusal of a request that cannot be understood. */
export const refusal = (message: string): RpcError => new RpcError({ code: 0, message })

/** The refusal of a version of the interface. Clients compare the message. */
export const unsupportedVersion = ({ message }: { readonly message: string }): Invalid =>
  Invalid.field("version", `must be a version from 2.0 to ${Version.format(Version.current)}`, message)

/** The id that 16 bytes are. */
export const idOf = (name: string, bytes: Uint8Array): Either.Either<Uuid.Uuid, RpcError> =>
  Option.match(ProtocolUuid.fromBytes(bytes), {
    onNone: () => Either.left(refusal(`${name} must have 16 bytes, not ${bytes.length}`)),
    onSome: (text) => Either.right(Uuid.Uuid.make(text))
  })

const year1 = Date.parse("0001-01-01T00:00:00Z")
const year10000 = Date.parse("9999-12-31T23:59:59.999Z")

/** The instant of a timestamp; undefined for one that was not sent or stands for none. */
export const instantOf = (
  name: string,
  timestamp: ProtocolTimestamp.Timestamp | undefined
): Either.Either<Timestamp.Timestamp | undefined, RpcError> => {
  if (timestamp === undefined) return Either.right(undefined)
  const millis = Math.floor(ProtocolTimestamp.toMillis(timestamp))
  if (millis === 0 || millis === year1) return Either.right(undefined)
  if (!(millis > year1 && millis <= year10000)) return Either.left(refusal(`${name} is no time of the years 1 to 9999`))
  return Either.right(Timestamp.fromMillis(millis))
}

export const timestampOf = (instant: Timestamp.Timestamp): ProtocolTimestamp.Timestamp =>
  ProtocolTimestamp.fromMillis(Timestamp.toMillis(instant))

export const secondsOf = (seconds: number): ProtocolDuration.Duration => ProtocolDuration.fromMillis(seconds * 1000)

/** Seconds where the manifest carries them in place of nanoseconds. agents-and-apps.md §14, "Manifest". */
export const secondsAsNanos = (seconds: number): ProtocolDuration.Duration => ProtocolDuration.fromMillis(seconds / 1_000_000)

/** The word that an enumeration's value is called, in upper case there; a refusal for a number without name and a name without word. */
export const named = <const Word extends string>(
  name: string,
  words: ReadonlyArray<Word>,
  value: string | number
): Either.Either<Word, RpcError> => {
  const found = words.find((word) => word.toUpperCase() === value)
  return found === undefined ? Either.left(refusal(`${name} is unknown or not specified: ${value}`)) : Either.right(found)
}

interface Described {
  readonly message: string
  readonly validations?: ReadonlyArray<Validation> | undefined
}

/** A service's refusals as the protocol tells them. */
export const answered = <A, E extends Described, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, RpcError, R> =>
  Effect.mapError(effect, ({ message, validations = [] }) =>
    refusal([message, ...validations.map(({ detail, field }) => `${field}: ${detail}`)].join("; "))
  )
