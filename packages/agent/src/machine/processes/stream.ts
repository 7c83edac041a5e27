/** A WebSocket that shows the output of a process and takes its input. agents-and-apps.md §17a. */
import { Effect, Either, Schema } from "effect"
import type { RawData, WebSocket } from "ws"
import { isSignal, signalGroup } from "./Group.js"
import type { KeptProcess, Viewer } from "./KeptProcess.js"
import { TerminalSize } from "./Order.js"

/** Bytes of input that wait for the process, above which the client has to wait. */
const maximumWaiting = 256 * 1024

const Order = Schema.parseJson(
  Schema.Union(
    Schema.Struct({ type: Schema.Literal("close_stdin") }),
    Schema.Struct({ type: Schema.Literal("resize"), ...TerminalSize.fields }),
    Schema.Struct({ type: Schema.Literal("signal"), signal: Schema.String })
  )
)

const decode = Schema.decodeUnknownEither(Order)

/** Bytes before the data of a message: the channel, and the offset. */
const headBytes = 9

const send = (socket: WebSocket, message: string | Buffer): Effect.Effect<void> =>
  Effect.async((resume) => socket.send(message, () => resume(Effect.void)))

const framed = (channel: number, offset: number, bytes: Buffer): Buffer => {
  const message = Buffer.allocUnsafe(headBytes + bytes.length)
  message.writeUInt8(channel, 0)
  message.writeBigUInt64BE(BigInt(offset), 1)
  bytes.copy(message, headBytes)
  return message
}

/** Sends the output from where the viewer is, and the end. */
const show = (socket: WebSocket, kept: KeptProcess, viewer: Viewer): Effect.Effect<void> =>
  Effect.gen(function* () {
    yield* send(socket, JSON.stringify({ type: "start", offset: viewer.next }))
    for (;;) {
      const next = yield* kept.next(viewer)
      if (next._tag === "End") return yield* send(socket, JSON.stringify({ type: "exit", ...next.end }))
      if (next._tag === "Lost") yield* send(socket, JSON.stringify({ type: "start", offset: next.offset }))
      else {
        const { bytes, channel, offset } = next.piece
        yield* send(socket, framed(channel, offset, bytes))
        kept.read(viewer, next.piece)
      }
    }
  })

/** Does what a message asks for. Those of another form are left out. */
const act = (kept: KeptProcess, message: Buffer, isBinary: boolean): Effect.Effect<void> => {
  const source = kept.running
  if (source === undefined) return Effect.void
  if (isBinary) return message[0] === 0 ? source.write(message.subarray(1)) : Effect.void
  const order = decode(message.toString("utf8"))
  if (Either.isLeft(order)) return Effect.void
  const asked = order.right
  return Effect.sync(() => {
    if (asked.type === "close_stdin") source.closeInput()
    else if (asked.type === "resize") source.resize(asked)
    else if (isSignal(asked.signal)) signalGroup(source.pid, asked.signal)
  })
}

const bytesOf = (data: RawData): Buffer =>
  Array.isArray(data) ? Buffer.concat(data) : data instanceof ArrayBuffer ? Buffer.from(data) : data

/** Takes the messages of a client one after the other. The client waits while its process does not read. */
const take = (socket: WebSocket, kept: KeptProcess): Effect.Effect<never> =>
  Effect.gen(function* () {
    const waiting: Array<readonly [Buffer, boolean]> = []
    const isGiven = Effect.unsafeMakeLatch()
    let size = 0
    socket.on("message", (data: RawData, isBinary) => {
      const bytes = bytesOf(data)
      waiting.push([bytes, isBinary])
      size += bytes.length
      if (size > maximumWaiting) socket.pause()
      isGiven.unsafeOpen()
    })
    for (;;) {
      const first = waiting.shift()
      if (first === undefined) {
        isGiven.unsafeClose()
        yield* isGiven.await
        continue
      }
      yield* act(kept, ...first)
      size -= first[0].length
      if (size <= maximumWaiting && socket.isPaused) socket.resume()
    }
  })

/** Serves a client until the process and its output have ended. */
export const serve = (socket: WebSocket, kept: KeptProcess, viewer: Viewer): Effect.Effect<void> =>
  Effect.raceFirst(show(socket, kept, viewer), take(socket, kept))
