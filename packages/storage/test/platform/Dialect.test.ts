import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { databases } from "../../../../test/store/databases.js"
import { locking } from "../../src/platform/Dialect.js"
import { Statements } from "../../src/platform/Statements.js"

// @ts-expect-error a form is missing
const missing = (sql: Statements) => sql.dialect({ sqlite: () => 1 })

// @ts-expect-error a form has the name of no database
const misspelt = (sql: Statements) => sql.dialect({ sqlite: () => 1, postgres: () => 2, postgre: () => 3 })

// @ts-expect-error a lock is misspelt
const unknownLock = (sql: Statements) => locking(sql, "FOR UPDATES")

for (const [name, database] of databases) {
  layer(database)(`forms of ${name}`, (it) => {
    it.effect("are chosen by the database", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        expect([missing, misspelt, unknownLock]).toHaveLength(3)
        const version = sql.dialect({ sqlite: () => sql`SELECT sqlite_version() AS version`, postgres: () => sql`SELECT version()` })
        expect(yield* version).toHaveLength(1)
      })
    )
  })
}
