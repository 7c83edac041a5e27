/** What carries the frames of one client of the relay: a connection taken out of HTTP, or a WebSocket. */
import type { Duplex } from "node:stream"
import { WebSocket } from "ws"

export interface Wire {
  /** Sends frames, and keeps their memory until they are sent. */
  readonly write: (frames: ReadonlyArray<Uint8Array>) => void
  /** Whether the connection has sent so much that it takes more. */
  readonly takesMore: () => boolean
  /** Ends the connection in its own way once all is sent. */
  readonly end: (reason: EndReason) => void
  /** Ends the connection at once. */
  readonly destroy: () => void
}

/** Why the relay ends a connection. */
export type EndReason = "closed" | "restart" | "text"

/** What happens on a wire. */
export interface WireEvents {
  readonly data: (bytes: Uint8Array) => void
  /** The connection takes more again. */
  readonly drain: () => void
  readonly close: () => void
}

/** How long a client may take to receive the end, in milliseconds. */
const endTimeout = 3_000

const destroyLater = (socket: Duplex): void => {
  const timer = setTimeout(() => socket.destroy(), endTimeout)
  timer.unref()
  socket.once("close", () => clearTimeout(timer))
}

export const rawWire = (socket: Duplex, events: WireEvents): Wire => {
  socket.on("data", events.data)
  socket.on("drain", events.drain)
  // A client that has ended receives nothing more
  socket.on("end", () => {
    socket.end()
    events.close()
  })
  socket.once("close", events.close)
  return {
    write: (frames) => {
      const joined = join(frames)
      if (joined.length > 1) socket.cork()
      for (const bytes of joined) socket.write(bytes)
      if (joined.length > 1) socket.uncork()
    },
    takesMore: () => !socket.writableNeedDrain,
    end: () => {
      if (socket.writableEnded) return
      // Not at once: bytes that are still unread would make a reset of it, and the client would miss what was sent
      socket.end()
      destroyLater(socket)
    },
    destroy: () => socket.destroy()
  }
}

/** Joins frames that lie behind each other in memory, as those of one peer to another do that have arrived together. */
const join = (frames: ReadonlyArray<Uint8Array>): ReadonlyArray<Uint8Array> => {
  const joined: Array<Uint8Array> = []
  let last: Uint8Array | undefined
  for (const frame of frames) {
    if (last !== undefined && last.buffer === frame.buffer && last.byteOffset + last.length === frame.byteOffset) {
      last = new Uint8Array(last.buffer, last.byteOffset, last.length + frame.length)
      joined[joined.length - 1] = last
    } else {
      last = frame
      joined.push(frame)
    }
  }
  return joined
}

const closes: Readonly<Record<EndReason, readonly [code: number, reason: string]>> = {
  closed: [1000, ""],
  restart: [1012, "The service is restarting."],
  text: [1003, "This socket takes binary messages."]
}

/** A WebSocket on this connection; each frame is a message of its own. */
export const webSocketWire = (webSocket: WebSocket, socket: Duplex, events: WireEvents): Wire => {
  const end: Wire["end"] = (reason) => {
    if (webSocket.readyState !== WebSocket.OPEN) return
    webSocket.close(...closes[reason])
    destroyLater(socket)
  }
  webSocket.on("message", (data: Buffer, isBinary) => (isBinary ? events.data(data) : end("text")))
  // A broken frame: the socket is closed with the code that fits, and its close is reported below
  webSocket.on("error", () => {})
  webSocket.once("close", events.close)
  if (webSocket.isPaused) webSocket.resume()
  socket.on("drain", events.drain)
  return {
    write: (frames) => {
      if (webSocket.readyState !== WebSocket.OPEN) return
      socket.cork()
      for (const frame of frames) webSocket.send(frame, { binary: true })
      socket.uncork()
    },
    takesMore: () => !socket.writableNeedDrain,
    end,
    destroy: () => webSocket.terminate()
  }
}
