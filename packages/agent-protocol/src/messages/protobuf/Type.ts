import type { BinaryWriter, WireType } from "@bufbuild/protobuf/wire"
import { Data, type Either } from "effect"
import type { Source } from "./Source.js"

/**
 * The type of a field, a repeated element or a map value. `I` is the type that encoding accepts. Written with methods, whose parameters
 * TypeScript compares both ways, so that a table of differently typed fields has a type; `message` checks their use.
 */
export interface Type<A, I = A> {
  readonly wire: WireType
  /** Whether repeated values may share one length-delimited field. */
  readonly packable: boolean
  /** The value of a field that was not sent. */
  zero(): A
  /** Reads what follows the tag; `previous` is the value of an earlier occurrence of the same field. */
  read(source: Source, previous?: A): A
  write(writer: BinaryWriter, value: I): void
}

export interface Scalar<A> extends Type<A> {
  readonly _tag: "Scalar"
  /** Zero values of fields without explicit presence are not sent. */
  isZero(value: A): boolean
}

export interface Message<A, I = A> extends Type<A, I> {
  readonly _tag: "Message"
  /** Full name, package included. */
  readonly name: string
  decode(bytes: Uint8Array): Either.Either<A, ProtobufError>
  encode(value: I): Either.Either<Uint8Array, ProtobufError>
}

/** The decoded form of a message, or the value of a scalar. */
export type TypeOf<T> = T extends Type<infer A, infer _> ? A : never

/** The type that encoding a message accepts: every field may be left out. */
export type InitOf<T> = T extends Type<infer _, infer I> ? I : never

/** Bytes that are not the message they should be, or a value that does not fit its field. */
export class ProtobufError extends Data.TaggedError("ProtobufError")<{
  readonly operation: "decode" | "encode"
  /** Full name of the message. */
  readonly type: string
  readonly message: string
}> {}
