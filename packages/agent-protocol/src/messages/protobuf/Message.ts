import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire"
import { Either, type Types } from "effect"
import type { Field, Presence } from "./Field.js"
import { Source } from "./Source.js"
import { type Message, ProtobufError, type Type } from "./Type.js"

/** Bytes a message may have: the largest packet of the transport (agents-and-apps.md §13). */
export const maximumMessageBytes = 4 * 1024 * 1024

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
          if (input.length > maximumMessageBytes) throw new RangeError(`longer than ${maximumMessageBytes} bytes`)
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
