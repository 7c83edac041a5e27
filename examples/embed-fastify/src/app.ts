/** Atelier inside a Fastify application: it answers what the application has no route for. */
import { Atelier } from "@atelier/http"
import { Sqlite } from "@atelier/storage-sqlite"
import { fastify, type FastifyInstance } from "fastify"

/** The application, ready to listen; `accessUrl` is where its users will reach it. */
export const make = async (accessUrl: string, database: string): Promise<FastifyInstance> => {
  const atelier = await Atelier.make({ accessUrl, storage: Sqlite.layer({ filename: database }) })

  const app = fastify()
  app.get("/", () => "the application's own page")
  // Bodies are Atelier's to read: Fastify must not consume them
  app.removeAllContentTypeParsers()
  app.addContentTypeParser("*", (_request, _payload, done) => done(null))
  app.setNotFoundHandler((request, reply) => {
    reply.hijack()
    atelier.handler(request.raw, reply.raw)
  })
  app.server.on("upgrade", atelier.upgrade)
  app.addHook("onClose", () => atelier.dispose())
  return app
}
