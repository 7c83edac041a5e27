import { Schema } from "effect"
import { Uuid } from "./Uuid.js"

/** Which part of a list is wanted. A `limit` of 0 has no bound; with `after_id` the page starts behind that object. identity.md §1.5. */
export interface Page {
  readonly after_id?: Uuid | undefined
  readonly limit: number
  readonly offset: number
}

/** The first page without a bound. */
export const everything: Page = { limit: 0, offset: 0 }

/** The largest `limit` and `offset`. */
export const maximum = 2_147_483_647

/** `limit` and `offset` as query parameters: 0 … 2³¹−1, empty counts as absent. */
export const Bound = Schema.transform(Schema.String, Schema.NumberFromString.pipe(Schema.int(), Schema.between(0, maximum)), {
  strict: true,
  decode: (text) => (text === "" ? "0" : text),
  encode: (text) => text
}).annotations({ jsonSchema: { type: "integer", minimum: 0, maximum } })
