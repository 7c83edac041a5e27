// The service as an application embeds it, and how it gets the data it is measured with.
import { Atelier } from "@atelier/http"
import { TerraformProvisioner } from "@atelier/provisioner-terraform"
import { serverOptions } from "@atelier/http/node"
import { Postgres } from "@atelier/storage-postgres"
import { Sqlite } from "@atelier/storage-sqlite"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { purge, rollUp, seedAudit, seedReports } from "./history.mjs"
import { seed, seedConnectable, seedUsers } from "./seed.mjs"
import { tick } from "./ticks.mjs"

const storageOf = ({ kind, location }) => (kind === "postgres" ? Postgres.layer({ url: location }) : Sqlite.layer({ filename: location }))

/** `isEntitled`: all features are on. `hasTerraform`: forms of Terraform are evaluated, and other processes run its jobs. `isLimited`: the limits of rates are in force, per address that a client says it has. */
export const atelierListener = async ({ isEntitled = false, isLimited = false, hasTerraform = false, storage, tracing = false }) => {
  const atelier = await Atelier.make({
    accessUrl: "http://127.0.0.1",
    storage: storageOf(storage),
    options: {
      autobuildPollInterval: "1 day",
      dangerousDisableRateLimits: !isLimited,
      ...(hasTerraform ? { provisionerDaemons: 0 } : {}),
      proxyTrustedOrigins: isLimited ? ["127.0.0.0/8"] : []
    },
    ...(hasTerraform ? { provisioner: TerraformProvisioner.layer({ directory: mkdtempSync(join(tmpdir(), "bench-")) }) } : {}),
    ...(isEntitled ? { entitlements: { has: () => true } } : {}),
    logLevel: "error",
    tracing
  })
  const run = (write) => (range) =>
    atelier.runtime.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => write(sql, storage.kind, range)))
  return {
    handler: atelier.handler,
    upgrade: atelier.upgrade,
    serverOptions,
    commands: {
      seed: run(seed),
      seedUsers: run(seedUsers),
      seedConnectable: run(seedConnectable),
      seedAudit: run(seedAudit),
      seedReports: run(seedReports),
      tick: run(tick),
      rollUp: () => rollUp(atelier.runtime),
      purge: () => purge(atelier.runtime)
    }
  }
}
