/** The service that the route and the server share. Next.js bundles them apart from each other, so it hangs at the process. */
import { Atelier } from "@atelier/http"
import { LocalProvisioner } from "@atelier/provisioner"
import { Sqlite } from "@atelier/storage-sqlite"
import { fileURLToPath } from "node:url"

const start = (): Promise<Atelier.Atelier> =>
  Atelier.make({
    accessUrl: `http://127.0.0.1:${process.env["PORT"] ?? "3000"}/workspaces`,
    storage: Sqlite.layer({ filename: `${process.env["DIRECTORY"] ?? "."}/atelier.db` }),
    provisioner: LocalProvisioner.layer({
      directory: `${process.env["DIRECTORY"] ?? "."}/workspaces`,
      agent: { command: [process.execPath, fileURLToPath(import.meta.resolve("@atelier/agent/main"))] }
    })
  })

const shared: typeof globalThis & { atelier?: Promise<Atelier.Atelier> } = globalThis

/** Starts the service at the first call. */
export const atelier = (): Promise<Atelier.Atelier> => (shared.atelier ??= start())
