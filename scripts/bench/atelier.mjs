// The service as an application embeds it, and how it gets the data it is measured with.
import { Atelier } from "@atelier/http"
import { serverOptions } from "@atelier/http/node"
import { Postgres } from "@atelier/storage-postgres"
import { Sqlite } from "@atelier/storage-sqlite"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { seed, seedUsers } from "./seed.mjs"

const storageOf = ({ kind, location }) => (kind === "postgres" ? Postgres.layer({ url: location }) : Sqlite.layer({ filename: location }))

/** `isLimited`: the limits of rates are in force, per address that a client says it has. */
export const atelierListener = async ({ isLimited = false, storage, tracing = false }) => {
  const atelier = await Atelier.make({
    accessUrl: "http://127.0.0.1",
    storage: storageOf(storage),
    options: { dangerousDisableRateLimits: !isLimited, proxyTrustedOrigins: isLimited ? ["127.0.0.0/8"] : [] },
    logLevel: "error",
    tracing
  })
  const run = (write) => (range) =>
    atelier.runtime.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => write(sql, storage.kind, range)))
  return {
    handler: atelier.handler,
    upgrade: atelier.upgrade,
    serverOptions,
    commands: { seed: run(seed), seedUsers: run(seedUsers) }
  }
}
