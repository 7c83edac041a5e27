import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { createServer as createSecureServer, type Server as SecureServer } from "node:https"
import type { TlsOptions } from "node:tls"
import * as Continue from "../server/connection/Continue.js"
import { stringify } from "../server/codec/json.js"
import { refuseMalformed } from "./refuseMalformed.js"
import { serverOptions } from "./serverOptions.js"

const refuseExpectation = (_request: IncomingMessage, response: ServerResponse): void => {
  const body = stringify({ message: "The request's expectation is not supported." })
  response.writeHead(417, {
    Connection: "close",
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
    "X-Content-Type-Options": "nosniff"
  })
  response.end(body)
}

const expectContinue =
  (server: Server | SecureServer) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    Continue.expect(request, response)
    server.emit("request", request, response)
  }

/**
 * A Node server for `atelier.handler` alone, which is attached to its `request` event: with `serverOptions`, with a `Response` where Node
 * answers with nothing, and without `100 Continue` before a body that is refused.
 */
export const makeServer = (): Server => {
  const server = createServer(serverOptions)
  return server.on("clientError", refuseMalformed).on("checkExpectation", refuseExpectation).on("checkContinue", expectContinue(server))
}

/** Milliseconds in which a client must finish the handshake. */
const handshakeTimeout = 10_000

/** Like `makeServer`, over TLS. Clients that fail the handshake are disconnected. */
export const makeSecureServer = (tls: TlsOptions): SecureServer => {
  const server = createSecureServer({ handshakeTimeout, ...tls, ...serverOptions })
  const refused = new WeakSet<object>()
  // Node reports a failed handshake as an error of the client's HTTP too, to which no answer can be sent
  server.prependListener("tlsClientError", (_error, socket) => refused.add(socket))
  return server
    .on("clientError", (error, socket) => void (refused.has(socket) ? socket.destroy() : refuseMalformed(error, socket)))
    .on("checkExpectation", refuseExpectation)
    .on("checkContinue", expectContinue(server))
}
