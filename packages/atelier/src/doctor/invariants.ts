/** Whether what must hold of the rows of the database does hold, however servers have ended before. */
import { Effect, Either } from "effect"
import { shownDatabase } from "../storage.js"
import { type Check, fault, ok } from "./Finding.js"

export const invariantFindings: Check = async ({ database }) => {
  const checking =
    database.kind === "sqlite"
      ? (await import("@atelier/storage-sqlite")).Sqlite.check({ filename: database.filename })
      : (await import("@atelier/storage-postgres")).Postgres.check({ url: database.url })
  const checked = await Effect.runPromise(Effect.either(checking))
  if (Either.isLeft(checked))
    return [fault(`it cannot be checked: ${checked.left.message}`, "run atelier migrate, or repair what the message names")]
  if (checked.right.length === 0) return [ok(`${shownDatabase(database)}: all invariants hold`)]
  return checked.right.map(({ invariant: { holds, name }, row }) =>
    fault(`${name}: ${row}`, `this must hold: ${holds} Report it with the server's log`)
  )
}
