/** The client's own SSH agent, for programs of its sessions. */
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ServerChannel } from "ssh2"
import { type Client, openChannel } from "./Client.js"
import { relay } from "./relay.js"

/** The window and the packets of channels, as the library opens its own. */
const windowSize = 2 * 1024 * 1024
const packetSize = 32 * 1024

/** Parts of the library that its types do not describe: it can open channels of this type, and has no public method for it. */
interface Internals {
  readonly _chanMgr: { readonly add: (opened: object) => number }
  readonly _protocol: { readonly openssh_authAgent: (channel: number, windowSize: number, packetSize: number) => void }
}

const openAgent = (client: Client, done: (error: Error | undefined, channel: ServerChannel) => void): void => {
  const { _chanMgr, _protocol } = client.connection as unknown as Internals
  const channel = _chanMgr.add(Object.assign((...of: Parameters<typeof done>) => done(...of), { type: "auth-agent@openssh.com" }))
  _protocol.openssh_authAgent(channel, windowSize, packetSize)
}

/** Listens for programs that ask the client's agent, until the connection ends. Returns the address for their environment. */
export const listenForAgent = async (client: Client): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "ssh-"))
  const path = join(folder, "agent.sock")
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    socket.on("error", () => undefined)
    const forget = client.onEnd(() => socket.destroy())
    openChannel(
      client,
      (done) => openAgent(client, done),
      (channel, leave) => {
        forget()
        if (channel === undefined) return void socket.destroy()
        relay(client, channel, socket, leave)
        socket.resume()
      }
    )
  })
  const remove = (): void => {
    server.close()
    void rm(folder, { recursive: true, force: true })
  }
  client.onEnd(remove)
  server.on("error", () => undefined)
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve))
  await chmod(path, 0o600)
  if (client.socket.destroyed) remove()
  return path
}
