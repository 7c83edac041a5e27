/** Encrypted values in a store: reading them, and encrypting them again when their key is replaced. */
import { Context, Effect, type Option } from "effect"
import type { Encryption, Sealed } from "../secrets/Encryption.js"
import { nil, type Uuid } from "../texts/Uuid.js"

/** An encrypted value, and the row it is in. */
export interface SealedRow {
  readonly id: Uuid
  readonly user_id: Uuid
  readonly value: Sealed
}

/** A column of encrypted values. */
export interface SealedColumn {
  /** The log's name of a value, completing "… cannot be read". */
  readonly name: string
  /** Where a row's value belongs: in another row, or as another user's, it opens no more. */
  readonly placeOf: (row: Pick<SealedRow, "id" | "user_id">) => string
  /** Values that are held in memory at once; 100 unless given. */
  readonly batchSize?: number | undefined
  /** At most `limit` values behind an id, in the order of ids, that are encrypted with another key than this one. */
  readonly sealedOtherwise: (keyId: string, after: Uuid, limit: number) => Effect.Effect<ReadonlyArray<SealedRow>>
  /** Replaces an encrypted value by another encryption of the same text. Returns false if another value was stored since. */
  readonly reseal: (id: Uuid, from: Sealed, to: Sealed) => Effect.Effect<boolean>
}

/** An encrypted column that once held plaintext. */
export interface OncePlainColumn {
  readonly column: SealedColumn
  /** Encrypts what is still plaintext, and answers how many values that were. */
  readonly sealPlain: Effect.Effect<number>
}

/** Encrypted columns of the areas that build on identity, which replaces keys. */
export class SealedColumns extends Context.Tag("@atelier/core/SealedColumns")<SealedColumns, ReadonlyArray<OncePlainColumn>>() {}

/** The result of encrypting values with a new key. */
export interface Resealing {
  readonly resealed: number
  /** Values that none of the keys opens; they are as they were. */
  readonly unreadable: number
}

/** Values that are held in memory at once, unless their column says otherwise. */
const defaultBatchSize = 100

/** The value of a row, or none where it cannot be read, which is logged. */
export const openRow = (
  encryption: Encryption["Type"],
  { name, placeOf }: Pick<SealedColumn, "name" | "placeOf">,
  row: SealedRow
): Effect.Effect<Option.Option<Uint8Array>> =>
  encryption.open(row.value, placeOf(row)).pipe(
    Effect.tapError(({ key_id, reason }) => Effect.logError(`${name} cannot be read`, { id: row.id, user: row.user_id, key_id, reason })),
    Effect.option
  )

/**
 * Encrypts anew, with the first key, every value that another key encrypted. Safe beside requests and beside itself; a call that ends early
 * leaves the rest to the next one.
 */
export const resealColumn = (encryption: Encryption["Type"], column: SealedColumn): Effect.Effect<Resealing> =>
  Effect.gen(function* () {
    let result: Resealing = { resealed: 0, unreadable: 0 }
    let after = nil
    while (true) {
      const batch = yield* column.sealedOtherwise(encryption.keyId, after, column.batchSize ?? defaultBatchSize)
      const last = batch.at(-1)
      if (last === undefined) return result
      const outcomes = yield* Effect.forEach(batch, (row) => resealRow(encryption, column, row))
      result = {
        resealed: result.resealed + outcomes.filter((outcome) => outcome === "resealed").length,
        unreadable: result.unreadable + outcomes.filter((outcome) => outcome === "unreadable").length
      }
      after = last.id
    }
  })

const resealRow = (encryption: Encryption["Type"], column: SealedColumn, row: SealedRow) =>
  Effect.gen(function* () {
    const value = yield* openRow(encryption, column, row)
    if (value._tag === "None") return "unreadable"
    // Written in the meantime: then with the present key
    return (yield* column.reseal(row.id, row.value, yield* encryption.seal(value.value, column.placeOf(row)))) ? "resealed" : "replaced"
  })
