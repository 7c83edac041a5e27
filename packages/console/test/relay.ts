/** A way to a server that a test can cut: browsers and agents come through it. */
import { connect, createServer, type Socket } from "node:net"

export interface Relay {
  /** Where it listens, without a slash at its end. */
  readonly url: string
  /** Leads to a server from now on. */
  readonly leadTo: (url: string) => void
  /** Breaks all connections, and accepts none until `mend`. */
  readonly cut: () => void
  readonly mend: () => void
  readonly close: () => void
}

export const openRelay = async (): Promise<Relay> => {
  const sockets = new Set<Socket>()
  let target: URL | undefined
  let isCut = false
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on("error", () => socket.destroy())
    socket.on("close", () => sockets.delete(socket))
  }
  const server = createServer((from) => {
    keep(from)
    if (isCut || target === undefined) return void from.destroy()
    const to = connect(Number(target.port), target.hostname)
    keep(to)
    from.pipe(to).pipe(from)
    from.on("close", () => to.destroy())
    to.on("close", () => from.destroy())
    return undefined
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  return {
    url: `http://127.0.0.1:${address.port}`,
    leadTo: (url) => {
      target = new URL(url)
    },
    cut: () => {
      isCut = true
      for (const socket of sockets) socket.destroy()
    },
    mend: () => {
      isCut = false
    },
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }
}
