/** A client of the relay with a known key, over either transport. */
import { Relay } from "@atelier/agent-protocol"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { WebSocket } from "ws"

const { RelayFrame } = Relay
const { FrameType } = RelayFrame

/** What a client gets. */
export type Incoming =
  | { readonly _tag: "head"; readonly lines: ReadonlyArray<string>; readonly body: string }
  | { readonly _tag: "frame"; readonly type: number; readonly payload: string; readonly messageBytes: number | undefined }
  | { readonly _tag: "pong"; readonly payload: string }
  | { readonly _tag: "closed"; readonly code: number }
  | { readonly _tag: "end" }

/** One connection, and the frames that the test has not read yet. */
export interface RelayPeer {
  readonly send: (bytes: Uint8Array) => void
  readonly sendText: (text: string) => void
  readonly ping: (text: string) => void
  readonly close: (code: number) => void
  /** Stops and goes on reading. */
  readonly pause: () => void
  readonly resume: () => void
  readonly next: () => Promise<Incoming>
  /** Ends the connection, and resolves when the other side has too. */
  readonly leave: () => Promise<void>
}

const inbox = () => {
  const items: Array<Incoming> = []
  const waiting: Array<(item: Incoming) => void> = []
  return {
    put: (item: Incoming): void => {
      const waiter = waiting.shift()
      if (waiter === undefined) items.push(item)
      else waiter(item)
    },
    next: (): Promise<Incoming> => {
      const item = items.shift()
      return item === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(item)
    }
  }
}

/** Any frame is read: what a relay sends is compared as it comes. */
const reader = (put: (item: Incoming) => void, messageBytes: () => number | undefined) =>
  new Relay.FrameReader({
    treatment: () => ({ minimum: 0, maximum: 1 << 20 }),
    receive: (frame) => {
      const payload = Buffer.from(RelayFrame.payloadOf(frame)).toString("hex")
      put({ _tag: "frame", type: RelayFrame.typeOf(frame), payload, messageBytes: messageBytes() })
      return undefined
    }
  })

/** Sends the head of a request, and reads the head of its answer unless none is expected. */
export const rawPeer = async (url: string, head: ReadonlyArray<string>): Promise<RelayPeer> => {
  const { hostname, port } = new URL(url)
  const socket: Socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  await once(socket, "connect")
  const { next, put } = inbox()
  const frames = reader(put, () => undefined)
  const isHeadless = head.includes("Derp-Fast-Start: 1")
  let begun = ""
  let isUpgraded = isHeadless
  socket.on("data", (chunk) => {
    if (isUpgraded) return void frames.push(new Uint8Array(chunk))
    begun += chunk.toString("latin1")
    const end = begun.indexOf("\r\n\r\n")
    if (end === -1) return
    const lines = begun.slice(0, end).split("\r\n")
    const rest = begun.slice(end + 4)
    isUpgraded = lines[0]?.includes(" 101 ") === true
    put({ _tag: "head", lines, body: isUpgraded ? "" : rest })
    if (isUpgraded && rest !== "") frames.push(Buffer.from(rest, "latin1"))
  })
  socket.on("end", () => {
    put({ _tag: "end" })
    socket.end()
  })
  socket.on("error", () => socket.destroy())
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()))
  socket.write([...head, "\r\n"].join("\r\n"))
  return {
    send: (bytes) => void socket.write(bytes),
    sendText: () => undefined,
    ping: () => undefined,
    close: () => undefined,
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    next,
    leave: async () => {
      socket.resume()
      socket.end()
      await closed
    }
  }
}

export const webSocketPeer = async (url: string, headers: Readonly<Record<string, string>> = {}): Promise<RelayPeer> => {
  const webSocket = new WebSocket(`${url.replace("http", "ws")}/derp`, ["derp"], { headers, perMessageDeflate: false })
  const { next, put } = inbox()
  let size = 0
  const frames = reader(put, () => size)
  webSocket.on("upgrade", ({ headers }) =>
    put({
      _tag: "head",
      lines: ["HTTP/1.1 101 Switching Protocols", `Sec-Websocket-Protocol: ${headers["sec-websocket-protocol"]}`],
      body: ""
    })
  )
  webSocket.on("message", (data: Buffer) => {
    size = data.length
    frames.push(new Uint8Array(data))
  })
  webSocket.on("pong", (data) => put({ _tag: "pong", payload: data.toString("hex") }))
  webSocket.on("close", (code) => put({ _tag: "closed", code }))
  const closed = once(webSocket, "close")
  await once(webSocket, "open")
  return {
    send: (bytes) => webSocket.send(bytes),
    sendText: (text) => webSocket.send(text),
    ping: (text) => webSocket.ping(text),
    close: (code) => webSocket.close(code),
    pause: () => webSocket.pause(),
    resume: () => webSocket.resume(),
    next,
    leave: async () => {
      webSocket.terminate()
      await closed
    }
  }
}

export const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, "hex"))

/** The ClientInfo that proves a key to the relay. */
export const clientInfo = (text: string, nonce: Uint8Array, relayKey: Uint8Array, keys: Relay.Box.KeyPair): Uint8Array =>
  RelayFrame.make(FrameType.ClientInfo, ...Relay.Box.sealClientInfo(text, nonce, relayKey, keys))

export const upgradeHead = (path = "/derp"): ReadonlyArray<string> => [
  `GET ${path} HTTP/1.1`,
  "Host: 127.0.0.1",
  "Upgrade: DERP",
  "Connection: Upgrade"
]

/** Completes the handshake of a connection with a key of its own. */
export const enter = async (
  peer: RelayPeer,
  keys: Relay.Box.KeyPair = Relay.Box.keyPairOf(randomBytes(32))
): Promise<Relay.Box.KeyPair> => {
  let first = await peer.next()
  if (first._tag === "head") first = await peer.next()
  if (first._tag !== "frame" || first.type !== FrameType.ServerKey) throw new Error("the relay did not begin with its key")
  const relayKey = bytesOf(first.payload).subarray(RelayFrame.magic.length)
  peer.send(clientInfo('{"version":2,"CanAckPings":true}', randomBytes(24), relayKey, keys))
  const answer = await peer.next()
  if (answer._tag !== "frame" || answer.type !== FrameType.ServerInfo) throw new Error("the relay did not let the client in")
  if (Relay.Box.openServerInfo(bytesOf(answer.payload), relayKey, keys.secretKey) === undefined)
    throw new Error("the relay did not prove its key")
  return keys
}

/** Sends a ping, and returns the frames that come before its answer. */
export const framesUntilPong = async (peer: RelayPeer, mark = "fedcba9876543210"): Promise<ReadonlyArray<Incoming>> => {
  peer.send(RelayFrame.make(FrameType.Ping, bytesOf(mark)))
  const before: Array<Incoming> = []
  for (;;) {
    const item = await peer.next()
    if (item._tag === "frame" && item.type === FrameType.Pong && item.payload === mark) return before
    before.push(item)
    if (item._tag === "end" || item._tag === "closed") return before
  }
}
