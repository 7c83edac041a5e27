/** Atelier as a layer of an Effect application, which uses its services directly too. */
import { Access, SystemActor } from "@atelier/core/access"
import { Organizations } from "@atelier/core/organizations"
import { Atelier } from "@atelier/http"
import { LocalProvisioner } from "@atelier/provisioner"
import { Sqlite } from "@atelier/storage-sqlite"
import { Effect, Layer } from "effect"
import { createServer, type Server } from "node:http"
import { fileURLToPath } from "node:url"

/** The service, on a server of the application's own that ends with the scope. */
export const serve = (port: number) =>
  Effect.gen(function* () {
    const { listener } = yield* Atelier.Interface
    return yield* Effect.acquireRelease(
      Effect.async<Server>((resume) => {
        const server = createServer((request, response) =>
          listener.handler(request, response, () => response.end("the application's own page"))
        )
        server.on("upgrade", listener.upgrade)
        server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      // Not waited for: what is under way ends with the service, which closes after this
      (server) => Effect.sync(() => void server.close())
    )
  })

/** A use case called without HTTP: the actor is provided, and authorization happens all the same. */
export const organizationNames = Effect.gen(function* () {
  const organizations = yield* Organizations
  return (yield* organizations.list()).map(({ name }) => name)
}).pipe(Access.actingAs(SystemActor.provisionerd))

/** The service below `/workspaces` of a port of the loopback address; everything is kept in the directory. */
export const atelier = (port: number, directory: string) =>
  Atelier.layer({
    accessUrl: `http://127.0.0.1:${port}/workspaces`,
    storage: Sqlite.layer({ filename: `${directory}/atelier.db` }),
    provisioner: LocalProvisioner.layer({
      directory: `${directory}/workspaces`,
      agent: { command: [process.execPath, fileURLToPath(import.meta.resolve("@atelier/agent/main"))] }
    })
  })

/** The application; its resources are released when it is interrupted. */
export const program = (port: number, directory: string) =>
  Layer.launch(
    Layer.scopedDiscard(
      Effect.zipRight(
        serve(port),
        Effect.sync(() => process.stdout.write("listening\n"))
      )
    ).pipe(Layer.provide(atelier(port, directory)))
  )
