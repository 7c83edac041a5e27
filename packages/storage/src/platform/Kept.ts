/** Rows that requests begin with, which are read again only once the database may have changed. */
import { Lru } from "@atelier/core/platform"
import { Effect, Option } from "effect"
import type { Statements } from "./Statements.js"
import { orDefect } from "./Unavailability.js"

/**
 * Returns a function that answers the record that `read` last read for a key, as long as nothing has been written to the store since. `read` must depend on
 * nothing but its key and the database. Its callers share the record.
 */
export const keptFirst = <A>(
  sql: Statements,
  capacity: number,
  read: (key: string) => Effect.Effect<Option.Option<A>>
): ((key: string) => Effect.Effect<Option.Option<A>>) => {
  if (sql.revision === undefined) return read
  const present = orDefect(sql.revision)
  const records = Lru.make<string, { readonly revision: object; readonly record: Option.Some<A> }>(capacity)
  return (key) =>
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
}
