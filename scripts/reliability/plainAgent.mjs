// An agent in a few bytes. Agents run on machines of their own: thousands of whole ones beside the server would take as much of the processor as the server does.
import { AgentService, DrpcClient, Session } from "@atelier/agent-protocol"
import { Deferred, Effect } from "effect"
import { connect as dial } from "node:net"

/** Milliseconds within which the server has to answer the upgrade, as of the whole agent. */
const openWithin = 15_000

/** The types of yamux frames, the bytes of a frame's header, and the flag of a question. */
const types = { data: 0, ping: 2 }
const headerLength = 12
const asks = 1

/** Bytes of an answer's frame from which it is the manifest, and no window or error. */
const manifestLength = 100

/** A binary message of a client, with a mask that changes nothing. */
const messageOf = (bytes) => {
  const head =
    bytes.length < 126 ? [0x82, 0x80 | bytes.length, 0, 0, 0, 0] : [0x82, 0xfe, bytes.length >>> 8, bytes.length & 0xff, 0, 0, 0, 0]
  return Buffer.concat([Buffer.from(head), bytes])
}

/** What an agent sends to be given its manifest. */
const question = await Effect.gen(function* () {
  const sent = []
  const isAsked = yield* Deferred.make()
  const take = (pieces) => {
    for (const piece of pieces) sent.push(Buffer.from(piece))
    setImmediate(() => Deferred.unsafeDone(isAsked, Effect.void))
  }
  const session = yield* Session.make(
    {
      listen: () => {},
      receive: () => Effect.never,
      send: (bytes) => Effect.sync(() => take([bytes])),
      soon: (run) => void setImmediate(run),
      write: (pieces, done) => {
        take(pieces)
        done()
      },
      close: () => Effect.void
    },
    { role: "client" }
  )
  yield* Effect.forkScoped(DrpcClient.make(AgentService, session).GetManifest({}))
  yield* Deferred.await(isAsked)
  yield* Effect.sleep(100)
  return messageOf(Buffer.concat(sent))
}).pipe(Effect.scoped, Effect.runPromise)

/** The begin of the messages that have come whole, and the rest. */
const payloadsOf = (bytes) => {
  const payloads = []
  for (;;) {
    if (bytes.length < 2) return [payloads, bytes]
    const short = bytes[1] & 0x7f
    const begin = short < 126 ? 2 : short === 126 ? 4 : 10
    if (bytes.length < begin) return [payloads, bytes]
    const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
    if (bytes.length < begin + length) return [payloads, bytes]
    payloads.push(bytes.subarray(begin, begin + length))
    bytes = bytes.subarray(begin + length)
  }
}

/** Calls `manifest` once, when the manifest has come, and answers what the server asks. Returns what takes the bytes after the upgrade. */
const reader = (socket, manifest) => {
  let messages = Buffer.alloc(0)
  let frames = Buffer.alloc(0)
  let hasCome = false
  return (bytes) => {
    const [payloads, rest] = payloadsOf(messages.length === 0 ? bytes : Buffer.concat([messages, bytes]))
    messages = rest
    frames = frames.length === 0 && payloads.length === 1 ? payloads[0] : Buffer.concat([frames, ...payloads])
    while (frames.length >= headerLength) {
      const type = frames[1]
      const length = frames.readUInt32BE(8)
      const whole = headerLength + (type === types.data ? length : 0)
      if (frames.length < whole) return
      if (type === types.data && length >= manifestLength && !hasCome) {
        // Its other frames, and later answers, count for nothing
        hasCome = true
        manifest()
      }
      if (type === types.ping && frames[3] === asks) {
        const answer = Buffer.from(frames.subarray(0, headerLength))
        answer[3] = 2
        socket.write(messageOf(answer))
      }
      frames = frames.subarray(whole)
    }
  }
}

/**
 * Connects once and asks for the manifest. `isConnected` is called when it has come. Resolves when the attempt or the connection has ended: with what the server
 * refused it with, and the seconds that it has to wait. An aborted `signal` ends it.
 */
export const attempt = (port, token, isConnected, signal) =>
  new Promise((resolve) => {
    const socket = dial({ port, host: "127.0.0.1", noDelay: true })
    let head = ""
    let take
    const end = (refusal, retryAfter) => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ refusal, retryAfter })
    }
    const timer = setTimeout(() => end("The server does not answer"), openWithin)
    signal?.addEventListener("abort", () => end("aborted"), { once: true })
    socket.on("error", ({ code }) => end(code))
    socket.on("close", () => end("closed"))
    socket.on("data", (bytes) => {
      if (take !== undefined) return take(bytes)
      head += bytes.toString("latin1")
      const length = head.indexOf("\r\n\r\n")
      if (length < 0) return
      const status = head.slice(9, 12)
      if (status !== "101") return end(status, /\r\nretry-after: *([^\r]+)/i.exec(head)?.[1])
      clearTimeout(timer)
      take = reader(socket, isConnected)
      socket.write(question)
      const rest = Buffer.from(head.slice(length + 4), "latin1")
      head = ""
      if (rest.length > 0) take(rest)
    })
    socket.write(
      [
        "GET /api/v2/workspaceagents/me/rpc?version=2.0&role=agent HTTP/1.1",
        `Host: 127.0.0.1:${port}`,
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        `Service-Session-Token: ${token}`,
        "\r\n"
      ].join("\r\n")
    )
  })
