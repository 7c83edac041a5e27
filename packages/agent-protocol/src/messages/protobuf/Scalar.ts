import { type BinaryReader, type BinaryWriter, WireType } from "@bufbuild/protobuf/wire"
import { Struct } from "effect"
import type { Scalar } from "./Type.js"

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
