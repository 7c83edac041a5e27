/** A client of the cluster that a test answers for. */
import { Effect } from "effect"
import { once } from "node:events"
import { Agent, createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { makeApi } from "../src/cluster/Api.js"
import { makeResources } from "../src/cluster/Resources.js"

/** The client of a server that answers with a listener, until the scope closes. */
export const answeringCluster = (listener: RequestListener) =>
  Effect.gen(function* () {
    const server = createServer(listener).listen(0, "127.0.0.1")
    yield* Effect.promise(() => once(server, "listening"))
    const agent = new Agent({ keepAlive: true })
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        agent.destroy()
        server.closeAllConnections()
        server.close()
      })
    )
    const { port } = server.address() as AddressInfo
    const access = Effect.succeed({ server: new URL(`http://127.0.0.1:${port}`), headers: {}, agent })
    const api = makeApi({ namespace: undefined, access, renew: Effect.void })
    return { api, resources: makeResources(api) }
  })
