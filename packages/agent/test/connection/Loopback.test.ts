import { createServer } from "node:http"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as HttpRequest from "../../src/connection/HttpRequest.js"
import { runAgent, serve } from "../TestServer.js"

it.scopedLive("a request to a name below localhost reaches this machine, although the resolver does not know it", () =>
  Effect.gen(function* () {
    const server = createServer((request, response) => response.end(request.headers.host))
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () => Effect.sync(() => server.close())
    )
    const address = server.address()
    const host = `dev.localhost:${typeof address === "object" ? address?.port : ""}`
    const answer = yield* Effect.promise(() => HttpRequest.get(new URL(`http://${host}/`), {}))
    expect(answer).toStrictEqual({ status: 200, text: host })
  })
)

it.scopedLive("an app with an address below localhost is found healthy, although the resolver does not know the name", () =>
  Effect.gen(function* () {
    const app = createServer((_, response) => response.end())
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => void app.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () => Effect.sync(() => app.close())
    )
    const address = app.address()
    const url = `http://app.localhost:${typeof address === "object" ? address?.port : ""}/`
    const server = yield* serve({
      manifest: {
        apps: [
          {
            id: new Uint8Array(16).fill(1),
            slug: "app",
            health: "INITIALIZING",
            healthcheck: { url, interval: { seconds: 0, nanos: 200_000_000 }, threshold: 1 }
          }
        ]
      }
    })
    yield* runAgent(server)
    yield* server.until(() => server.of("BatchUpdateAppHealths").length > 0)
    expect(server.of("BatchUpdateAppHealths")[0]?.request.updates[0]?.health).toBe("HEALTHY")
  })
)
