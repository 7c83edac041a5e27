/** Atelier on a Node server, below `/workspaces`, next to a page of the application. */
import { Atelier } from "@atelier/http"
import { LocalProvisioner } from "@atelier/provisioner"
import { Sqlite } from "@atelier/storage-sqlite"
import { starterTemplates } from "@atelier/templates"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"

export interface Running {
  readonly dispose: () => Promise<void>
}

/** Starts the application on a port of the loopback address; everything is kept in the directory. */
export const start = async (port: number, directory: string): Promise<Running> => {
  const atelier = await Atelier.make({
    accessUrl: `http://127.0.0.1:${port}/workspaces`,
    storage: Sqlite.layer({ filename: `${directory}/atelier.db` }),
    provisioner: LocalProvisioner.layer({
      directory: `${directory}/workspaces`,
      agent: { command: [process.execPath, fileURLToPath(import.meta.resolve("@atelier/agent/main"))] }
    }),
    starterTemplates: starterTemplates()
  })

  // Requests outside Atelier go to the third argument
  const server = createServer((request, response) => atelier.handler(request, response, () => response.end("the application's own page")))
  server.on("upgrade", atelier.upgrade)
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  return {
    dispose: async () => {
      server.close()
      await atelier.dispose()
    }
  }
}
