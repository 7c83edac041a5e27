/**
 * Whole numbers of rows and answers. Their bounds are for readers of the interface's description: services make no others, and
 * checking each number of a page again would cost as much as writing it.
 */
import { Option, Schema, SchemaAST } from "effect"

/** A whole number that a double holds exactly. */
export const Integer = Schema.Number.annotations({
  jsonSchema: { type: "integer", format: "int64", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
})

/** A whole number that is not negative: a count, a length, a duration. */
export const Count = Schema.Number.annotations({
  jsonSchema: { type: "integer", format: "int64", minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
})

/** A time that was measured, in milliseconds. */
export const Milliseconds = Schema.Number.annotations({ jsonSchema: { type: "number", minimum: 0, description: "Milliseconds." } })

/** A duration in nanoseconds, as clients with 64-bit integers write it: at most 292 years. Doubles hold those beyond 2⁵³ nearly. */
export const Nanoseconds = Schema.Number.annotations({
  jsonSchema: { type: "integer", format: "int64", minimum: 0, maximum: 9_223_372_036_000_000_000, description: "Nanoseconds." }
})

/** A number with its meaning or unit, for readers of the interface's description and of the client. Refine it afterwards, not before. */
export const described = <A, I, R>(schema: Schema.Schema<A, I, R>, description: string): Schema.Schema<A, I, R> =>
  schema.annotations({ jsonSchema: { ...Option.getOrElse(SchemaAST.getJSONSchemaAnnotation(schema.ast), () => ({})), description } })
