import { bool, field, float, message, transform, type Message, type Scalar, type TypeOf } from "./Protobuf.js"

const wrapper = <A>(name: string, type: Scalar<A>): Message<A> =>
  transform(message(name, { value: field(1, type) }), { decode: ({ value }) => value, encode: (value) => ({ value }) })

/** `google.protobuf.BoolValue` as a boolean; an absent field means unknown. */
export const BoolValue = wrapper("google.protobuf.BoolValue", bool)

/** `google.protobuf.FloatValue` as a number; an absent field means unknown. */
export const FloatValue = wrapper("google.protobuf.FloatValue", float)

/** `google.protobuf.Empty`. */
export const Empty = message("google.protobuf.Empty", {})
export type Empty = TypeOf<typeof Empty>
