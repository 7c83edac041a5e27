/** Atelier below `/workspaces` of an Express application, next to the application's own routes. */
import { Atelier } from "@atelier/http"
import { Sqlite } from "@atelier/storage-sqlite"
import express from "express"
import { createServer, type Server } from "node:http"

export interface Running {
  readonly server: Server
  readonly dispose: () => Promise<void>
}

/** Starts the application on a port of the loopback address. */
export const start = async (port: number, database: string): Promise<Running> => {
  const atelier = await Atelier.make({
    accessUrl: `http://127.0.0.1:${port}/workspaces`,
    storage: Sqlite.layer({ filename: database })
  })

  const app = express()
  app.get("/", (_request, response) => void response.send("the application's own page"))
  app.use("/workspaces", atelier.handler)

  const server = createServer(app)
  server.on("upgrade", atelier.upgrade)
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  return {
    server,
    dispose: async () => {
      await atelier.dispose()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
