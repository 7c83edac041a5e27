/** Atelier below `/workspaces` of a Fastify application, next to the application's own routes. */
import { Atelier } from "@atelier/http"
import { LocalProvisioner } from "@atelier/provisioner"
import { Sqlite } from "@atelier/storage-sqlite"
import { fastify } from "fastify"
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

  const app = fastify()
  app.get("/", () => "the application's own page")
  await app.register((scope) => {
    // Bodies are Atelier's to read: Fastify must not consume those of this scope
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null))
    scope.all("/workspaces/*", (request, reply) => {
      reply.hijack()
      atelier.handler(request.raw, reply.raw)
    })
    return Promise.resolve()
  })
  app.server.on("upgrade", atelier.upgrade)
  // Before Fastify waits for connections: streams end with the service
  app.addHook("preClose", () => atelier.dispose())
  await app.listen({ port, host: "127.0.0.1" })
  return { dispose: () => app.close() }
}
