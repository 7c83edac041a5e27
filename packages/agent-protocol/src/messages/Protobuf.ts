import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire"
import { Data, Either, Struct, type Types } from "effect"

/**
 * Protobuf messages declared as data: a message is a table of named fields, each with its number and type; the TypeScript types are inferred from it.
 *
 * - Scalars without explicit presence are always there when decoded; messages, `optional` fields and oneofs are absent keys when not sent.
 * - To encode, every field may be left out.
 * - Enumerations read as the name of their value, or as the number when the name is not known here.
 * - Maps are `ReadonlyMap`s: keys chosen by the peer never become property names.
 */

/** Bytes a message may have: the largest packet of the transport (agents-and-apps.md §13). */
export const MaxMessageBytes = 4 * 1024 * 1024

/** Messages nested in each other, as other implementations accept by default. */
export const MaxDepth = 100

/** Repeated values, map entries and nested messages together: keeps a few megabytes of two-byte elements from becoming gigabytes of objects. */
export const MaxElements = 131_072

/** Bytes that are not the message they should be, or a value that does not fit its field. */
export class ProtobufError extends Data.TaggedError("ProtobufError")<{
  readonly operation: "decode" | "encode"
  /** Full name of the message. */
  readonly type: string
  readonly message: string
}> {}

/**
 * Where a message is read from. `BinaryReader` reports malformed input by throwing, so the bounds checked here do the same;
 * `decode` is the only place that catches.
 */
export class Source {
  private depth = 0
  private elements = 0
  private end: number

  constructor(readonly reader: BinaryReader) {
    this.end = reader.len
  }

  /** Whether the message being read has further fields. */
  get more(): boolean {
    return this.reader.pos < this.end
  }

  /** Counts one more decoded element. */
  count(): void {
    this.elements += 1
    if (this.elements > MaxElements) throw new RangeError(`more than ${MaxElements} elements`)
  }

  /** Reads a length-delimited value that must end exactly where its length says, inside the message around it. */
  delimited<A>(body: () => A): A {
    const length = this.reader.uint32()
    const outer = this.end
    const end = this.reader.pos + length
    if (end > outer) throw new RangeError("a field is longer than its message")
    if (this.depth === MaxDepth) throw new RangeError(`nested deeper than ${MaxDepth} messages`)
    this.end = end
    this.depth += 1
    const value = body()
    if (this.reader.pos !== end) throw new RangeError("a field runs past the end of its message")
    this.end = outer
    this.depth -= 1
    return value
  }
}

/**
 * What a field, a repeated element or a map value can hold. `I` is what encoding accepts. Written with methods, whose parameters TypeScript compares both
 * ways, so that a table of differently typed fields has a type; `message` checks their use.
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

/** What encoding a message accepts: every field may be left out. */
export type InitOf<T> = T extends Type<infer _, infer I> ? I : never

const scalar = <A>(options: {
  readonly wire: WireType
  readonly zero: A
  readonly isZero?: (value: A) => boolean
  readonly read: (reader: BinaryReader) => A
  readonly write: (writer: BinaryWriter, value: A) => void
}): Scalar<A> => ({
  _tag: "Scalar",
  wire: options.wire,
  packable: options.wire !== WireType.LengthDelimited,
  zero: () => options.zero,
  // `Object.is`: a negative zero is sent.
  isZero: options.isZero ?? ((value) => Object.is(value, options.zero)),
  read: (source) => options.read(source.reader),
  write: (writer, value) => options.write(writer, value)
})

export const bool: Scalar<boolean> = scalar({
  wire: WireType.Varint,
  zero: false,
  read: (reader) => reader.bool(),
  write: (writer, value) => writer.bool(value)
})

export const int32: Scalar<number> = scalar({
  wire: WireType.Varint,
  zero: 0,
  read: (reader) => reader.int32(),
  write: (writer, value) => writer.int32(value)
})

export const uint32: Scalar<number> = scalar({
  wire: WireType.Varint,
  zero: 0,
  read: (reader) => reader.uint32(),
  write: (writer, value) => writer.uint32(value)
})

/** `int64` that may use all its bits, such as random ids. */
export const int64: Scalar<bigint> = scalar({
  wire: WireType.Varint,
  zero: 0n,
  read: (reader) => BigInt(reader.int64()),
  write: (writer, value) => writer.int64(value)
})

/** `uint64` that may use all its bits. */
export const uint64: Scalar<bigint> = scalar({
  wire: WireType.Varint,
  zero: 0n,
  read: (reader) => BigInt(reader.uint64()),
  write: (writer, value) => writer.uint64(value)
})

const exact = (value: bigint | string): number => {
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw new RangeError(`${value} is beyond ±(2^53 - 1)`)
  return number
}

/** `int64` of a count, a size or a time: a number, refused beyond ±(2^53 - 1) instead of losing digits. */
export const int53: Scalar<number> = scalar({
  wire: WireType.Varint,
  zero: 0,
  read: (reader) => exact(reader.int64()),
  write: (writer, value) => writer.int64(value)
})

export const double: Scalar<number> = scalar({
  wire: WireType.Bit64,
  zero: 0,
  read: (reader) => reader.double(),
  write: (writer, value) => writer.double(value)
})

export const float: Scalar<number> = scalar({
  wire: WireType.Bit32,
  zero: 0,
  read: (reader) => reader.float(),
  write: (writer, value) => writer.float(value)
})

/** UTF-8 text; other bytes are refused, as proto3 asks. */
export const string: Scalar<string> = scalar({
  wire: WireType.LengthDelimited,
  zero: "",
  read: (reader) => reader.string(true),
  write: (writer, value) => writer.string(value)
})

/** Bytes, copied out of the packet: a kept id does not keep megabytes alive. */
export const bytes: Scalar<Uint8Array> = scalar({
  wire: WireType.LengthDelimited,
  zero: new Uint8Array(0),
  isZero: (value) => value.length === 0,
  read: (reader) => reader.bytes().slice(),
  write: (writer, value) => writer.bytes(value)
})

/** Named numbers. A value without a name here is kept as its number, both ways. */
export const enumeration = <const Name extends string>(values: Readonly<Record<Name, number>>): Scalar<Name | number> => {
  const entries = Struct.entries(values)
  const names = new Map(entries.map(([name, number]): [number, Name] => [number, name]))
  const numbers = new Map<Name, number>(entries)
  const nameOf = (number: number): Name | number => names.get(number) ?? number
  const numberOf = (value: Name | number): number => {
    const number = typeof value === "number" ? value : numbers.get(value)
    if (number === undefined) throw new RangeError(`no value is named ${value}`)
    return number
  }
  return scalar({
    wire: WireType.Varint,
    zero: nameOf(0),
    isZero: (value) => numberOf(value) === 0,
    read: (reader) => nameOf(reader.int32()),
    write: (writer, value) => writer.int32(numberOf(value))
  })
}

/** Whether a decoded message always has the field. */
export type Presence = "always" | "maybe"

/** A named part of a message: one field, or all fields of a oneof. */
export interface Field<A, I, P extends Presence> {
  readonly presence: P
  /** Field numbers it is made of: one, except for a oneof. */
  readonly numbers: ReadonlyArray<number>
  zero(): A | undefined
  /** Whether this wire type can carry field `number`; other occurrences are skipped like unknown fields. */
  accepts(number: number, wire: WireType): boolean
  read(source: Source, number: number, wire: WireType, previous: A | undefined): A
  write(writer: BinaryWriter, value: I): void
}

/** A single value: always there for a scalar, present when sent for a message. */
export function field<A>(number: number, type: Scalar<A>): Field<A, A, "always">
export function field<A, I>(number: number, type: Message<A, I>): Field<A, I, "maybe">
export function field<A>(number: number, type: Scalar<A> | Message<A>): Field<A, A, Presence> {
  const single = optional(number, type)
  if (type._tag === "Message") return single
  return {
    ...single,
    presence: "always",
    zero: () => type.zero(),
    write: (writer, value) => {
      if (!type.isZero(value)) single.write(writer, value)
    }
  }
}

/** A single value with explicit presence: sent whenever given, zero included. */
export const optional = <A, I>(number: number, type: Type<A, I> & { readonly _tag: "Scalar" | "Message" }): Field<A, I, "maybe"> => ({
  presence: "maybe",
  numbers: [number],
  zero: () => undefined,
  accepts: (_, wire) => wire === type.wire,
  read: (source, _, __, previous) => {
    if (type._tag === "Message") source.count()
    return type.read(source, previous)
  },
  write: (writer, value) => type.write(writer.tag(number, type.wire), value)
})

/** A list, empty when nothing was sent. Numbers are sent packed and read either way. */
export const repeated = <A, I>(number: number, type: Type<A, I>): Field<ReadonlyArray<A>, ReadonlyArray<I>, "always"> => {
  const append = (source: Source, list: Array<A>) => {
    source.count()
    list.push(type.read(source))
  }
  return {
    presence: "always",
    numbers: [number],
    zero: () => [],
    accepts: (_, wire) => wire === type.wire || (type.packable && wire === WireType.LengthDelimited),
    read: (source, _, wire, previous: Array<A> = []) => {
      if (wire === type.wire) append(source, previous)
      else
        source.delimited(() => {
          while (source.more) append(source, previous)
        })
      return previous
    },
    write: (writer, values) => {
      if (values.length === 0) return
      if (type.packable) {
        writer.tag(number, WireType.LengthDelimited).fork()
        for (const value of values) type.write(writer, value)
        writer.join()
      } else {
        for (const value of values) type.write(writer.tag(number, type.wire), value)
      }
    }
  }
}

/** A map; of entries with the same key the last one counts. */
export const map = <K, A, I>(number: number, key: Scalar<K>, value: Type<A, I>): Field<ReadonlyMap<K, A>, ReadonlyMap<K, I>, "always"> => ({
  presence: "always",
  numbers: [number],
  zero: () => new Map(),
  accepts: (_, wire) => wire === WireType.LengthDelimited,
  read: (source, _, __, previous: Map<K, A> = new Map()) => {
    source.count()
    source.delimited(() => {
      let entryKey = key.zero()
      let entryValue: A | undefined
      while (source.more) {
        const [entryNumber, wire] = source.reader.tag()
        if (entryNumber === 1 && wire === key.wire) entryKey = key.read(source)
        else if (entryNumber === 2 && wire === value.wire) entryValue = value.read(source)
        else source.reader.skip(wire, entryNumber)
      }
      previous.set(entryKey, entryValue ?? value.zero())
    })
    return previous
  },
  write: (writer, entries) => {
    for (const [entryKey, entryValue] of entries) {
      writer.tag(number, WireType.LengthDelimited).fork()
      key.write(writer.tag(1, key.wire), entryKey)
      value.write(writer.tag(2, value.wire), entryValue)
      writer.join()
    }
  }
})

/** The cases of a oneof: name to field number and type. */
export type Cases = Readonly<Record<string, readonly [number: number, type: Type<unknown, unknown>]>>

export type CaseOf<C extends Cases> = { readonly [K in keyof C]: { readonly case: K; readonly value: TypeOf<C[K][1]> } }[keyof C]
export type CaseInitOf<C extends Cases> = { readonly [K in keyof C]: { readonly case: K; readonly value: InitOf<C[K][1]> } }[keyof C]

/** At most one of several fields, as `{ case, value }`. */
export function oneof<const C extends Cases>(cases: C): Field<CaseOf<C>, CaseInitOf<C>, "maybe">
export function oneof(cases: Cases): Field<unknown, { readonly case: string; readonly value: unknown }, "maybe"> {
  const byNumber = new Map(Object.entries(cases).map(([name, [number, type]]) => [number, { name, type }]))
  return {
    presence: "maybe",
    numbers: [...byNumber.keys()],
    zero: () => undefined,
    accepts: (number, wire) => byNumber.get(number)?.type.wire === wire,
    read: (source, number, _, previous) => {
      const chosen = byNumber.get(number)
      source.count()
      return chosen === undefined ? previous : { case: chosen.name, value: chosen.type.read(source) }
    },
    write: (writer, chosen) => {
      const declared = cases[chosen.case]
      if (declared === undefined) throw new RangeError(`no case ${chosen.case}`)
      const [number, type] = declared
      type.write(writer.tag(number, type.wire), chosen.value)
    }
  }
}

export type Fields = Readonly<Record<string, Field<unknown, unknown, Presence>>>

type KeysOf<F extends Fields, P extends Presence> = { [K in keyof F]: F[K]["presence"] extends P ? K : never }[keyof F]
type FieldType<F> = F extends Field<infer A, infer _, infer __> ? A : never
type FieldInit<F> = F extends Field<infer _, infer I, infer __> ? I : never

export type FieldsType<F extends Fields> = Types.Simplify<
  { readonly [K in KeysOf<F, "always">]: FieldType<F[K]> } & { readonly [K in KeysOf<F, "maybe">]?: FieldType<F[K]> }
>
export type FieldsInit<F extends Fields> = { readonly [K in keyof F]?: FieldInit<F[K]> | undefined }

/** Declares a message by its full name and fields. Unknown fields are skipped when decoding. */
export function message<const F extends Fields>(name: string, fields: F): Message<FieldsType<F>, FieldsInit<F>>
export function message(name: string, fields: Fields): Message<unknown, object> {
  const entries = Object.entries(fields)
  const byNumber = new Map(entries.flatMap((entry) => entry[1].numbers.map((number) => [number, entry] as const)))

  const zero = (): Record<string, unknown> => {
    const value: Record<string, unknown> = {}
    for (const [key, field] of entries) if (field.presence === "always") value[key] = field.zero()
    return value
  }

  const readBody = (source: Source, previous: unknown): Record<string, unknown> => {
    const value = Object.assign(zero(), previous)
    while (source.more) {
      const [number, wire] = source.reader.tag()
      const known = byNumber.get(number)
      if (known !== undefined && known[1].accepts(number, wire)) {
        const [key, field] = known
        value[key] = field.read(source, number, wire, value[key])
      } else source.reader.skip(wire, number)
    }
    return value
  }

  const writeBody = (writer: BinaryWriter, value: object): void => {
    for (const [key, field] of entries) {
      const fieldValue: unknown = Reflect.get(value, key)
      if (fieldValue !== undefined) field.write(writer, fieldValue)
    }
  }

  const failure = (operation: "decode" | "encode") => (cause: unknown) =>
    new ProtobufError({ operation, type: name, message: cause instanceof Error ? cause.message : String(cause) })

  return {
    _tag: "Message",
    name,
    wire: WireType.LengthDelimited,
    packable: false,
    zero,
    read: (source, previous) => source.delimited(() => readBody(source, previous)),
    write: (writer, value) => {
      writer.fork()
      writeBody(writer, value)
      writer.join()
    },
    decode: (input) =>
      Either.try({
        try: () => {
          if (input.length > MaxMessageBytes) throw new RangeError(`longer than ${MaxMessageBytes} bytes`)
          return readBody(new Source(new BinaryReader(input)), undefined)
        },
        catch: failure("decode")
      }),
    encode: (value) =>
      Either.try({
        try: () => {
          const writer = new BinaryWriter()
          writeBody(writer, value)
          return writer.finish()
        },
        catch: failure("encode")
      })
  }
}

/** A message presented as something handier. Of several occurrences of such a field the last counts. */
export const transform = <A, I, B>(
  inner: Message<A, I>,
  options: { readonly decode: (value: A) => B; readonly encode: (value: B) => I }
): Message<B> => ({
  _tag: "Message",
  name: inner.name,
  wire: inner.wire,
  packable: inner.packable,
  zero: () => options.decode(inner.zero()),
  read: (source) => options.decode(inner.read(source)),
  write: (writer, value) => inner.write(writer, options.encode(value)),
  decode: (input) => Either.map(inner.decode(input), options.decode),
  encode: (value) => inner.encode(options.encode(value))
})

/** A message declared further down, for messages that contain themselves. */
export const suspend = <A, I>(type: () => Message<A, I>): Type<A, I> => ({
  wire: WireType.LengthDelimited,
  packable: false,
  zero: () => type().zero(),
  read: (source, previous) => type().read(source, previous),
  write: (writer, value) => type().write(writer, value)
})
