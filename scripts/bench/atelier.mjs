// The service as an application embeds it, and how it gets the data it is measured with.
import { Atelier } from "@atelier/http"
import { serverOptions } from "@atelier/http/node"
import { Postgres } from "@atelier/storage-postgres"
import { Sqlite } from "@atelier/storage-sqlite"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { seed } from "./seed.mjs"

const storageOf = ({ kind, location }) => (kind === "postgres" ? Postgres.layer({ url: location }) : Sqlite.layer({ filename: location }))

export const atelierListener = async ({ storage, tracing = false }) => {
  const atelier = await Atelier.make({
    accessUrl: "http://127.0.0.1",
    storage: storageOf(storage),
    rateLimit: { disableAll: true },
    logLevel: "error",
    tracing
  })
  return {
    handler: atelier.handler,
    upgrade: atelier.upgrade,
    serverOptions,
    commands: {
      seed: (range) => atelier.runtime.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => seed(sql, storage.kind, range)))
    }
  }
}
