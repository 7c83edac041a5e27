/** A way to a service whose connections break. */
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"

/** Leads to a service. All connections break when they are told to, and whenever the service has sent so many bytes on one. */
export const breakable = async (target: string, most = Number.POSITIVE_INFINITY) => {
  const open = new Set<Socket>()
  const breakAll = (): void => {
    for (const socket of open) socket.destroy()
  }
  const server = createServer((socket) => {
    const onward = connect(Number(new URL(target).port), "127.0.0.1")
    let left = most
    onward.on("data", (bytes) => {
      left -= bytes.length
      if (left < 0) breakAll()
    })
    for (const [one, other] of [
      [socket, onward],
      [onward, socket]
    ] as const) {
      open.add(one)
      one
        .on("error", () => undefined)
        .once("close", () => {
          open.delete(one)
          other.destroy()
        })
      one.pipe(other)
    }
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    breakAll,
    close: () => {
      server.close()
      breakAll()
    }
  }
}
