/** Rows that requests begin with, which are read again only once the database may have changed. */
import { Lru } from "@atelier/core/platform"
import { Effect, Option } from "effect"
import type { Statements } from "./Statements.js"
import { orDefect } from "./Unavailability.js"

/** Records by their keys. */
export interface KeptFirst<A> {
  readonly read: (key: string) => Effect.Effect<Option.Option<A>>
  /** The record, if it is kept and nothing has been written to the store since it was read. */
  readonly known: (key: string) => A | undefined
}

/**
 * Answers the record that `read` last read for a key, as long as nothing has been written to the store since. `read` must depend on
 * nothing but its key and the database. Its callers share the record.
 */
export const keptFirst = <A>(sql: Statements, capacity: number, read: (key: string) => Effect.Effect<Option.Option<A>>): KeptFirst<A> => {
  const { revision, revisionNow } = sql
  if (revision === undefined || revisionNow === undefined) return { read, known: () => undefined }
  const present = orDefect(revision)
  const records = Lru.make<string, { readonly revision: object; readonly record: Option.Some<A> }>(capacity)
  const known = (key: string): A | undefined => {
    const kept = records.get(key)
    return kept !== undefined && kept.revision === revisionNow() ? kept.record.value : undefined
  }
  const readOrKept = (key: string): Effect.Effect<Option.Option<A>> =>
    // The revision first: what is written between it and the row makes the next one differ
    Effect.flatMap(present, (revision) => {
      if (revision === undefined) return read(key)
      const known = records.get(key)
      if (known?.revision === revision) return Effect.succeed(known.record)
      return Effect.map(read(key), (record) => {
        if (Option.isSome(record)) records.set(key, { revision, record })
        return record
      })
    })
  return { read: readOrKept, known }
}
