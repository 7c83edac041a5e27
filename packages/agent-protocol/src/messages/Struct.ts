import {
  bool,
  double,
  enumeration,
  map,
  message,
  oneof,
  repeated,
  string,
  suspend,
  transform,
  type Message,
  type Type
} from "./Protobuf.js"

export type JsonValue = null | boolean | number | string | ReadonlyArray<JsonValue> | JsonObject
export interface JsonObject {
  readonly [key: string]: JsonValue
}

const NullValue = enumeration({ NULL_VALUE: 0 })

const JsonValue: Type<JsonValue> = suspend(() => Value)

/** `google.protobuf.ListValue` as a JSON array. */
const ListValue: Message<ReadonlyArray<JsonValue>> = transform(message("google.protobuf.ListValue", { values: repeated(1, JsonValue) }), {
  decode: ({ values }) => values,
  encode: (values) => ({ values })
})

/** `google.protobuf.Struct` as a JSON object. `Object.fromEntries` keeps a key `__proto__` an ordinary key. */
export const Struct: Message<JsonObject> = transform(message("google.protobuf.Struct", { fields: map(1, string, JsonValue) }), {
  decode: ({ fields }): JsonObject => Object.fromEntries(fields),
  encode: (object) => ({ fields: new Map(Object.entries(object)) })
})

const isList = (value: JsonValue): value is ReadonlyArray<JsonValue> => Array.isArray(value)

/** `google.protobuf.Value` as JSON; a value of no kind reads as null. */
const Value: Message<JsonValue> = transform(
  message("google.protobuf.Value", {
    kind: oneof({
      null_value: [1, NullValue],
      number_value: [2, double],
      string_value: [3, string],
      bool_value: [4, bool],
      struct_value: [5, Struct],
      list_value: [6, ListValue]
    })
  }),
  {
    decode: ({ kind }): JsonValue => (kind === undefined || kind.case === "null_value" ? null : kind.value),
    encode: (value) => {
      if (value === null) return { kind: { case: "null_value", value: "NULL_VALUE" } } as const
      if (typeof value === "number") return { kind: { case: "number_value", value } } as const
      if (typeof value === "string") return { kind: { case: "string_value", value } } as const
      if (typeof value === "boolean") return { kind: { case: "bool_value", value } } as const
      if (isList(value)) return { kind: { case: "list_value", value } } as const
      return { kind: { case: "struct_value", value } } as const
    }
  }
)
