/** Requests written byte by byte, and what an app behind the service makes of them. */
import { once } from "node:events"
import { createServer } from "node:http"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { listening } from "../network/linkedAgents.js"

/** Sends bytes on a connection of their own, and returns all that comes back until it closes. */
export const exchangeBytes = async (url: string, bytes: string): Promise<string> => {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, "connect")
  socket.write(bytes)
  return text(socket)
}

/** An app that notes each request that it is sent, and the port where it listens. Bodies are in the notes. */
export const notingApp = async () => {
  const seen: Array<string> = []
  const app = createServer((incoming, response) => {
    void text(incoming).then((body) => {
      seen.push(`${incoming.method} ${incoming.url} ${incoming.headers.host ?? "no host"} ${body}`)
      response.end("noted")
    })
  })
  return { seen, port: await listening(app) }
}

/** A request inside of a body: a forwarder that loses the body's framing would take it for the next request. */
export const hidden = "GET /hidden HTTP/1.1\r\nHost: hidden.test\r\n\r\n"

/** The heads of requests with that body whose `Connection` names what frames and routes a message. */
export const misleadingHeads = (path: string, headers: string): ReadonlyArray<string> =>
  ["GET", "DELETE", "POST"].flatMap((method) => [
    `${method} ${path} HTTP/1.1\r\n${headers}Connection: close, Content-Length, HOST\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    `${method} ${path} HTTP/1.1\r\n${headers}Connection: close, transfer-encoding\r\nTransfer-Encoding: chunked\r\n\r\n${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`
  ])
