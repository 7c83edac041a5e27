import { ParseResult, Schema } from "effect"
import { Uuid } from "../texts/Uuid.js"

/** Which part of a list is wanted. A `limit` of 0 has no bound; with `after_id` the page starts behind that object. identity.md §1.5. */
export interface Page {
  readonly after_id?: Uuid | undefined
  readonly limit: number
  readonly offset: number
}

/** The largest `limit` and `offset`. */
export const maximum = 2_147_483_647

/** `limit` and `offset` as query parameters: 0 … 2³¹−1, empty counts as absent. */
export const Bound = Schema.transformOrFail(Schema.String, Schema.Int.pipe(Schema.between(0, maximum)), {
  strict: true,
  decode: (text, _options, ast) =>
    /^[+-]?\d{0,16}$/.test(text) && !/[+-]$/.test(text)
      ? ParseResult.succeed(Number(text))
      : ParseResult.fail(new ParseResult.Type(ast, text, "must be a whole number")),
  encode: (value) => ParseResult.succeed(String(value))
}).annotations({ jsonSchema: { type: "integer", minimum: 0, maximum } })
