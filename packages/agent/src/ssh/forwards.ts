/** Connections that are led through SSH, in both directions. */
import { chmod } from "node:fs/promises"
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from "node:net"
import type { ServerChannel } from "ssh2"
import { type Client, openChannel } from "./Client.js"
import { maximumForwards, Places } from "./Limits.js"
import { relay } from "./relay.js"

/** Milliseconds that a target may take to accept a connection. */
const connectWithin = 10_000

/** Leads a channel of the client to a target that the machine reaches. */
const lead = (client: Client, target: NetConnectOpts, accept: () => ServerChannel, reject: () => void): void => {
  const leave = client.channels.take()
  if (leave === undefined) return reject()
  const socket = connect({ ...target, allowHalfOpen: true })
  const forget = client.onEnd(() => socket.destroy())
  const refuse = (): void => {
    clearTimeout(timer)
    forget()
    socket.destroy()
    leave()
    reject()
  }
  const timer = setTimeout(refuse, connectWithin)
  socket.once("error", refuse)
  socket.once("connect", () => {
    clearTimeout(timer)
    socket.off("error", refuse)
    forget()
    relay(client, accept(), socket, leave)
  })
}

/** Addresses by which clients ask for every interface or for none in particular: the machine listens on its loopback interface alone. */
const listening = (server: Server, where: { readonly port: number; readonly host: string } | { readonly path: string }): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(where, () => {
      server.off("error", reject)
      const address = server.address()
      resolve(typeof address === "object" && address !== null ? address.port : 0)
    })
  })

type Opening = Parameters<typeof openChannel>[1]

/** Leads what connects to the machine to a channel of the client. */
const backwards = (client: Client, opening: (socket: Socket) => Opening): Server =>
  createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    socket.on("error", () => undefined)
    const forget = client.onEnd(() => socket.destroy())
    openChannel(client, opening(socket), (channel, leave) => {
      forget()
      if (channel === undefined) return void socket.destroy()
      relay(client, channel, socket, leave)
      socket.resume()
    })
  })

interface Answer {
  readonly accept: (port?: number) => void
  readonly reject: () => void
}

/** Serves what the client has led to it: ports of the loopback interface, and sockets of the file system. */
const remoteForwards = (client: Client) => {
  const places = new Places(maximumForwards)
  const servers = new Map<string, () => void>()

  const listen = async (
    keyOf: (port: number) => string,
    server: Server,
    where: Parameters<typeof listening>[1],
    { accept, reject }: Answer
  ): Promise<void> => {
    const leave = places.take()
    if (leave === undefined) return reject()
    const forget = client.onEnd(() => server.close())
    try {
      const port = await listening(server, where)
      server.on("error", () => undefined)
      if ("path" in where) await chmod(where.path, 0o600)
      servers.set(keyOf(port), () => {
        forget()
        server.close()
        leave()
      })
      accept("path" in where ? undefined : port)
    } catch {
      forget()
      server.close()
      leave()
      reject()
    }
  }

  const cancel = (key: string, { accept, reject }: Answer): void => {
    const end = servers.get(key)
    if (end === undefined) return reject()
    servers.delete(key)
    end()
    accept()
  }

  const portKey = (address: string, port: number): string => `port ${address} ${port}`

  return {
    port: (address: string, port: number, answer: Answer): void => {
      let chosen = port
      const server = backwards(client, ({ remoteAddress = "127.0.0.1", remotePort = 0 }) => (done) => {
        client.connection.forwardOut(address, chosen, remoteAddress, remotePort, done)
      })
      const keyOf = (found: number): string => {
        chosen = found
        return portKey(address, found)
      }
      // As with OpenSSH's GatewayPorts=no, whatever interface the client asks for
      void listen(keyOf, server, { port, host: address === "::1" ? "::1" : "127.0.0.1" }, answer)
    },
    cancelPort: (address: string, port: number, answer: Answer): void => cancel(portKey(address, port), answer),
    path: (path: string, answer: Answer): void => {
      const server = backwards(client, () => (done) => {
        client.connection.openssh_forwardOutStreamLocal(path, done)
      })
      void listen(() => `path ${path}`, server, { path }, answer)
    },
    cancelPath: (path: string, answer: Answer): void => cancel(`path ${path}`, answer)
  }
}

const nothing = (): void => undefined

const portOf = (info: object): readonly [string, number] | undefined =>
  "bindAddr" in info && typeof info.bindAddr === "string" && "bindPort" in info && typeof info.bindPort === "number"
    ? [info.bindAddr, info.bindPort]
    : undefined

const pathOf = (info: object): string | undefined =>
  "socketPath" in info && typeof info.socketPath === "string" ? info.socketPath : undefined

/** Serves all kinds of forwards on a client's connection. */
export const serveForwards = (client: Client): void => {
  const { connection } = client
  connection.on("tcpip", (accept, reject, { destIP, destPort }) => lead(client, { host: destIP, port: destPort }, accept, reject))
  connection.on("openssh.streamlocal", (accept, reject, { socketPath }) => lead(client, { path: socketPath }, accept, reject))
  const forwards = remoteForwards(client)
  // The types know the requests for ports alone
  connection.on("request", (accept, reject, name: string, info: object) => {
    const answer: Answer = { accept: (port) => (accept ?? nothing)(port), reject: () => (reject ?? nothing)() }
    const port = portOf(info)
    const path = pathOf(info)
    if (name === "tcpip-forward" && port !== undefined) return forwards.port(...port, answer)
    if (name === "cancel-tcpip-forward" && port !== undefined) return forwards.cancelPort(...port, answer)
    if (name === "streamlocal-forward@openssh.com" && path !== undefined) return forwards.path(path, answer)
    if (name === "cancel-streamlocal-forward@openssh.com" && path !== undefined) return forwards.cancelPath(path, answer)
    answer.reject()
  })
}
