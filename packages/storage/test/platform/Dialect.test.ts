import { SqlClient } from "@effect/sql"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { databases } from "../../../../test/store/databases.js"
import { inDialect, locking } from "../../src/platform/Dialect.js"

// @ts-expect-error a form is missing
const missing = (sql: SqlClient.SqlClient) => inDialect(sql, { sqlite: () => 1 })

// @ts-expect-error a form has the name of no database
const misspelt = (sql: SqlClient.SqlClient) => inDialect(sql, { sqlite: () => 1, postgres: () => 2, postgre: () => 3 })

// @ts-expect-error a lock is misspelt
const unknownLock = (sql: SqlClient.SqlClient) => locking(sql, "FOR UPDATES")

for (const [name, database] of databases) {
  layer(database)(`forms of ${name}`, (it) => {
    it.effect("are chosen by the database", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        expect([missing, misspelt, unknownLock]).toHaveLength(3)
        const version = inDialect(sql, { sqlite: () => sql`SELECT sqlite_version() AS version`, postgres: () => sql`SELECT version()` })
        expect(yield* version).toHaveLength(1)
      })
    )
  })
}
