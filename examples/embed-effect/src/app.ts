/** Atelier as a layer of an Effect application, which uses its services directly too. */
import { NodeRuntime } from "@effect/platform-node"
import { Access, SystemActor } from "@atelier/core/access"
import { Organizations } from "@atelier/core/organizations"
import { Atelier } from "@atelier/http"
import { Sqlite } from "@atelier/storage-sqlite"
import { Effect, Layer } from "effect"
import { createServer, type Server } from "node:http"

/** The service, on a server of the application's own that ends with the scope. */
export const serve = (port: number) =>
  Effect.gen(function* () {
    const { listener } = yield* Atelier.Interface
    return yield* Effect.acquireRelease(
      Effect.async<Server>((resume) => {
        const server = createServer(listener.handler)
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

export const atelier = (accessUrl: string, database: string) => Atelier.layer({ accessUrl, storage: Sqlite.layer({ filename: database }) })

const main = Layer.launch(Layer.scopedDiscard(serve(3000)).pipe(Layer.provide(atelier("http://127.0.0.1:3000", "atelier.db"))))

if (process.argv[1] === import.meta.filename) NodeRuntime.runMain(main)
