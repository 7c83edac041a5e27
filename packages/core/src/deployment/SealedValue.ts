import { Effect, Encoding, Option } from "effect"
import type { Sealed } from "../platform/secrets/Encryption.js"
import type { SealedColumn } from "../platform/store/Resealing.js"
import { nil, Uuid } from "../platform/texts/Uuid.js"
import type { DeploymentValues } from "./DeploymentValues.js"

/** The row's id. A reader goes on behind it, also where the value does not open. */
const rowId = Uuid.make("ffffffff-ffff-ffff-ffff-ffffffffffff")

const isSame = (one: Sealed, other: Sealed): boolean =>
  one.key_id === other.key_id && Encoding.encodeBase64(one.ciphertext) === Encoding.encodeBase64(other.ciphertext)

/** A deployment value that holds something encrypted. */
export interface SealedValue extends Pick<SealedColumn, "name"> {
  /** Also the place that the value is encrypted for. */
  readonly key: string
  /** None for a text that holds nothing encrypted. */
  readonly read: (text: string) => Option.Option<Sealed>
  /** The text with another encryption of the same. */
  readonly write: (text: string, sealed: Sealed) => string
}

/** Returns a deployment value as a column of one row. */
export const sealedValueColumn = (
  values: DeploymentValues["Type"],
  { key, name, read, write }: SealedValue
): Omit<SealedColumn, "placeOf"> & { readonly placeOf: () => string } => ({
  name,
  placeOf: () => key,
  sealedOtherwise: (keyId, after) =>
    Effect.map(values.get(key), (stored) =>
      Option.toArray(Option.flatMap(stored, read))
        .filter(({ key_id }) => key_id !== keyId && after === nil)
        .map((value) => ({ id: rowId, user_id: nil, value }))
    ),
  reseal: (_, from, to) =>
    Effect.flatMap(values.get(key), (stored) => {
      const text = Option.getOrUndefined(stored)
      return text !== undefined && Option.exists(read(text), (found) => isSame(found, from))
        ? values.replace(key, text, write(text, to))
        : Effect.succeed(false)
    })
})
