import type { ServerOptions } from "node:http"

/**
 * Bounds for a Node server that serves nothing else: `http.createServer(serverOptions, atelier.handler)`. Heads of at most 32 KiB that
 * arrive within 30 seconds; the time of a body is bounded where it is read, as uploads and streams may last.
 */
export const serverOptions: ServerOptions = {
  maxHeaderSize: 32 * 1024,
  headersTimeout: 30_000,
  requestTimeout: 0,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000
}
