/** How a request to an agent's machine ends that may not go on. */
import { Forbidden } from "@atelier/core/platform"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import { connect } from "node:net"
import { AppConnections } from "../../src/apps/AppConnections.js"
import { exchange } from "../../src/sandboxes/machineExchange.js"

const refusal = new Forbidden({ message: "The right has ended." })

/** Asks a program, and returns what tells that the request may not go on. */
const asking = (answer: RequestListener) =>
  Effect.gen(function* () {
    const server = createServer(answer)
    yield* Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening"))
    const connections = new AppConnections()
    yield* Effect.addFinalizer(() => Effect.sync(() => (connections.destroy(), server.closeAllConnections(), server.close())))
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    let end: (refusal: Forbidden) => void = () => undefined
    const asked = exchange<Forbidden>({
      method: "GET",
      path: "/",
      headers: {},
      body: undefined,
      connections,
      connection: { agent_id: "agent", key: "agent", open: Effect.sync(() => connect(port, "127.0.0.1")) },
      whenOver: (call) => {
        end = call
      }
    })
    return { asked, end: () => end(refusal) }
  })

it.scopedLive("a request that waits for its answer fails with its refusal, and its connection ends", () =>
  Effect.gen(function* () {
    let tell: () => void = () => undefined
    const closed = new Promise<void>((resolve) => {
      tell = resolve
    })
    const { asked, end } = yield* asking((request) => {
      request.socket.once("close", tell)
      end()
    })
    expect(yield* Effect.flip(asked)).toBe(refusal)
    yield* Effect.promise(() => closed)
  })
)

it.scopedLive("an answer that has begun is broken off, and does not end as if it were whole", () =>
  Effect.gen(function* () {
    const { asked, end } = yield* asking((_, response) => void response.writeHead(200).write("a part"))
    const response = yield* asked
    const ended = new Promise((resolve) => response.once("end", () => resolve("end")).once("error", resolve))
    response.resume()
    end()
    expect(yield* Effect.promise(() => ended)).toMatchObject({ message: refusal.message })
  })
)
