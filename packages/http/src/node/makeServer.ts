import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import * as Continue from "../server/Continue.js"
import { stringify } from "../server/json.js"
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

/**
 * A Node server for `atelier.handler` alone, which is attached to its `request` event: with `serverOptions`, with a `Response` where Node
 * answers with nothing, and without `100 Continue` before a body that is refused.
 */
export const makeServer = (): Server => {
  const server = createServer(serverOptions)
  return server
    .on("clientError", refuseMalformed)
    .on("checkExpectation", refuseExpectation)
    .on("checkContinue", (request, response) => {
      Continue.expect(request, response)
      server.emit("request", request, response)
    })
}
