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

/** What a message gives to the process's input: bytes, or its end. */
type Input = Buffer | "end"

/** Does what a message asks for at once, or returns the input that it has. Those of another form are left out. */
const act = ({ running: source }: KeptProcess, message: Buffer, isBinary: boolean): Input | undefined => {
  if (isBinary) return message[0] === 0 ? message.subarray(1) : undefined
  const order = decode(message.toString("utf8"))
  if (source === undefined || Either.isLeft(order)) return undefined
  const asked = order.right
  if (asked.type === "close_stdin") return "end"
  if (asked.type === "resize") source.resize(asked)
  else if (isSignal(asked.signal)) signalGroup(source.pid, asked.signal)
  return undefined
}

const give = ({ running: source }: KeptProcess, input: Input): Effect.Effect<void> => {
  if (source === undefined) return Effect.void
  return input === "end" ? Effect.sync(source.closeInput) : source.write(input)
}

const bytesOf = (data: RawData): Buffer =>
  Array.isArray(data) ? Buffer.concat(data) : data instanceof ArrayBuffer ? Buffer.from(data) : data

/** Takes the messages of a client. Signals and sizes do not wait for input that the process does not read; beyond a bound the client waits. */
const take = (socket: WebSocket, kept: KeptProcess): Effect.Effect<never> =>
  Effect.gen(function* () {
    const waiting: Array<Input> = []
    const isGiven = Effect.unsafeMakeLatch()
    let size = 0
    socket.on("message", (data: RawData, isBinary) => {
      const input = act(kept, bytesOf(data), isBinary)
      if (input === undefined) return
      waiting.push(input)
      size += input.length
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
      yield* give(kept, first)
      size -= first.length
      if (size <= maximumWaiting && socket.isPaused) socket.resume()
    }
  })

/** Serves a client until the process and its output have ended. */
export const serve = (socket: WebSocket, kept: KeptProcess, viewer: Viewer): Effect.Effect<void> =>
  Effect.raceFirst(show(socket, kept, viewer), take(socket, kept))
