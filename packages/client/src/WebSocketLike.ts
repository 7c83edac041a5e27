/** The part of a WebSocket that the client uses: those of browsers, Node, Deno, Bun and the package `ws` have it. */
export interface WebSocketLike {
  binaryType: string
  readonly readyState: number
  /** Bytes that were sent and have not left yet. */
  readonly bufferedAmount: number
  /** Lets the other side wait, and go on: those of the package `ws` can. */
  pause?(): void
  resume?(): void
  addEventListener(type: "open" | "error", listener: () => void): void
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void
  addEventListener(type: "close", listener: (event: { readonly code: number; readonly reason: string }) => void): void
  send(data: never): void
  close(code?: number, reason?: string): void
}

/** A class of WebSockets. Platforms other than browsers take headers in the second argument. */
export type SocketConstructor = new (url: string, options?: never) => WebSocketLike
