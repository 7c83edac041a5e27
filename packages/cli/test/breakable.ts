/** A way to a service whose connections break. */
import { once } from "node:events"
import * as http from "node:http"
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

/** Leads to a service. The first request to create a workspace loses its connection: before the service gets the request, or after its answer. */
export const losing = async (target: string, when: "before" | "after") => {
  let isLost = false
  const server = http
    .createServer((request, response) => {
      const isCreation = !isLost && request.method === "POST" && /\/users\/[^/]+\/workspaces$/.test(request.url ?? "")
      if (isCreation) isLost = true
      if (isCreation && when === "before") return void request.socket.destroy()
      const { headers, method } = request
      const onward = http.request(`${target}${request.url}`, { method, headers }, (answer) => {
        if (isCreation) return void request.socket.destroy()
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        return void answer.pipe(response)
      })
      request.pipe(onward)
    })
    .listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  return {
    url: `http://127.0.0.1:${address !== null && typeof address === "object" ? address.port : 0}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}
