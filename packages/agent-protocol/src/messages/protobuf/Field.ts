import { type BinaryWriter, WireType } from "@bufbuild/protobuf/wire"
import type { Source } from "./Source.js"
import type { InitOf, Message, Scalar, Type, TypeOf } from "./Type.js"

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
