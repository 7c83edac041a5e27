import type { ServerOptions } from "node:http"

/**
 * Bounds for a Node server that serves nothing else: `http.createServer(serverOptions, atelier.handler)`. Heads of at most 32 KiB that
 * arrive within 30 seconds, and bodies within a quarter of an hour: those that are read as a whole have less, where they are read.
 */
export const serverOptions: ServerOptions = {
  maxHeaderSize: 32 * 1024,
  headersTimeout: 30_000,
  requestTimeout: 900_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
  // The interface refuses a missing Host itself, with a body
  requireHostHeader: false
}
