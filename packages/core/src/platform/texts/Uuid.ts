import { Schema } from "effect"

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether a text is a UUID of any version, in either case. */
export const isUuid = (text: string): boolean => pattern.test(text)

/** A UUID in lower case. */
export const Uuid = Schema.Lowercase.pipe(
  Schema.pattern(pattern, { message: () => "must be a valid UUID" }),
  Schema.annotations({ jsonSchema: { type: "string", format: "uuid" } }),
  Schema.brand("Uuid")
)
export type Uuid = typeof Uuid.Type

/** The all-zero UUID, which clients send for "absent" and the wire uses where no null is allowed. wire.md W3. */
export const nil = Uuid.make("00000000-0000-0000-0000-000000000000")

/** Parses `text` as a UUID; undefined if it is invalid. */
export const parse = (text: string): Uuid | undefined =>
  isUuid(text) ? Uuid.make(text.toLowerCase(), { disableValidation: true }) : undefined
