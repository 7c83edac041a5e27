import type { Duplex } from "node:stream"
import { stringify } from "../server/codec/json.js"
import { responseOn } from "../server/connection/responseOn.js"

const refusals: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "The request's head is too large."],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ["413 Payload Too Large", "The request's chunks are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "The request did not arrive in time."]
}

/** Milliseconds for which the rest of what a client sends is read and dropped: closed before, the connection would be reset, and the answer lost. */
const lingerTimeout = 2_000

/** Connections that were answered; Node reports each further piece of a malformed request too. */
const answered = new WeakSet<Duplex>()

/**
 * Listener of a Node server's `clientError` event: answers what is not HTTP with a `Response`, where Node answers with nothing, and
 * closes the connection. identity.md §1.3.
 */
export const refuseMalformed = (error: Error & { readonly code?: string }, socket: Duplex): void => {
  if (answered.has(socket)) return
  if (!socket.writable || responseOn(socket)?.headersSent) return void socket.destroy()
  const [status, message] = refusals[error.code ?? ""] ?? ["400 Bad Request", "The request is not valid HTTP."]
  const body = stringify({ message })
  const head = [
    `HTTP/1.1 ${status}`,
    "Connection: close",
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "X-Content-Type-Options: nosniff"
  ]
  answered.add(socket)
  const linger = setTimeout(() => socket.destroy(), lingerTimeout)
  socket.once("close", () => clearTimeout(linger))
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`)
}
