/** Atelier below `/workspaces` of an Express application, next to the application's own routes. Express 4 and 5 take it the same way. */
import { Atelier } from "@atelier/http"
import { LocalProvisioner } from "@atelier/provisioner"
import { Sqlite } from "@atelier/storage-sqlite"
import type { Express } from "express"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"

export interface Running {
  readonly dispose: () => Promise<void>
}

/** Starts the application on a port of the loopback address; everything is kept in the directory. `express` is that of version 4 or 5. */
export const start = async (express: () => Express, port: number, directory: string): Promise<Running> => {
  const atelier = await Atelier.make({
    accessUrl: `http://127.0.0.1:${port}/workspaces`,
    storage: Sqlite.layer({ filename: `${directory}/atelier.db` }),
    provisioner: LocalProvisioner.layer({
      directory: `${directory}/workspaces`,
      agent: { command: [process.execPath, fileURLToPath(import.meta.resolve("@atelier/agent/main"))] }
    })
  })

  const app = express()
  app.get("/", (_request, response) => void response.send("the application's own page"))
  app.use("/workspaces", atelier.handler)

  const server = createServer(app)
  // Express hands no upgrades on, and removes no prefix from them
  server.on("upgrade", atelier.upgrade)
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  return {
    dispose: async () => {
      server.close()
      await atelier.dispose()
    }
  }
}
