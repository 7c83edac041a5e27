/** Serves the SSH gateway on an address of its own. */
import { StartError } from "@atelier/core/platform"
import type { Atelier } from "@atelier/http"
import { once } from "node:events"
import { createServer } from "node:net"
import type { Listen } from "./Options.js"
import { listenFault } from "./listenFault.js"

export interface SshListener {
  /** The host and the port. */
  readonly address: string
  /** Takes no more connections. Those that are open end with the service. */
  readonly close: () => void
}

/** Listens at once; several processes share the address. Fails with `StartError` if it cannot be had. */
export const listenSsh = async ({ host, port }: Listen, { ssh }: Pick<Atelier.Atelier, "ssh">): Promise<SshListener> => {
  const server = createServer({ noDelay: true, keepAlive: true }, ssh)
  server.listen({ port, host })
  await once(server, "listening").catch((error: unknown) => {
    throw new StartError({ option: "sshAddress", value: `${host}:${port}`, reason: listenFault(error) })
  })
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the SSH gateway listens on no port")
  return { address: `${host.includes(":") ? `[${host}]` : host}:${address.port}`, close: () => void server.close() }
}
