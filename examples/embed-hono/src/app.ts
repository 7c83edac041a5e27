/** Atelier below `/workspaces` of a Hono application, next to the application's own routes. */
import { Atelier } from "@atelier/http"
import { LocalProvisioner } from "@atelier/provisioner"
import { Sqlite } from "@atelier/storage-sqlite"
import { getConnInfo } from "@hono/node-server/conninfo"
import { serve, type ServerType } from "@hono/node-server"
import { Hono } from "hono"
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
    })
  })

  const app = new Hono()
  app.get("/", (context) => context.text("the application's own page"))
  app.all("/workspaces/*", (context) => {
    const { address } = getConnInfo(context).remote
    return atelier.fetch(context.req.raw, address === undefined ? {} : { remoteAddress: address })
  })

  const server = await new Promise<ServerType>((resolve) => {
    const listening = serve({ fetch: app.fetch, port, hostname: "127.0.0.1" }, () => resolve(listening))
  })
  // WebSockets do not pass through fetch: they come from the server that Hono runs on
  server.on("upgrade", atelier.upgrade)
  return {
    dispose: async () => {
      server.close()
      await atelier.dispose()
    }
  }
}
