/** Serves the metrics on an address of their own, where the operator's Prometheus reads them without a session. */
import { contentType, DeploymentMetrics } from "@atelier/core/insights"
import { StartError } from "@atelier/core/platform"
import type { Atelier } from "@atelier/http"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { Listen } from "./Options.js"
import { listenFault } from "./listenFault.js"

export interface Exporter {
  readonly url: string
  readonly close: () => Promise<void>
}

/** Listens at once. Fails with `StartError` if the address cannot be had. */
export const exportMetrics = async ({ host, port }: Listen, atelier: Pick<Atelier.Atelier, "runtime">): Promise<Exporter> => {
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    const path = request.url?.split("?")[0]
    if (path !== "/" && path !== "/metrics") return void response.writeHead(404).end()
    if (request.method !== "GET") return void response.writeHead(405, { allow: "GET" }).end()
    atelier.runtime.runPromise(Effect.flatMap(DeploymentMetrics, ({ exposition }) => exposition)).then(
      (text) => response.writeHead(200, { "content-type": contentType }).end(text),
      () => response.writeHead(503).end()
    )
  })
  // Prometheus holds one connection or two
  server.maxConnections = 100
  // Several processes share the address: whichever is asked answers with what all have measured
  server.listen({ port, host })
  await once(server, "listening").catch((error: unknown) => {
    throw new StartError({ option: "prometheusAddress", value: `${host}:${port}`, reason: listenFault(error) })
  })
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the exporter listens on no port")
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${address.port}/metrics`,
    close: async () => {
      const closed = once(server, "close")
      server.close()
      server.closeAllConnections()
      await closed
    }
  }
}
