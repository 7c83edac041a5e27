import { Effect, Queue } from "effect"
import { Frame, Session, type Transport } from "@atelier/agent-protocol"
import { transportPair } from "./transportPair.js"

/** Two sessions connected in memory. */
export const connected = (options: Partial<Session.Options> = {}) =>
  Effect.gen(function* () {
    const [near, far] = yield* transportPair
    const client = yield* Session.make(near, { ...options, role: "client" })
    const server = yield* Session.make(far, { ...options, role: "server" })
    return { client, server }
  })

/** A frame as it came: header and payload. */
export interface Received {
  readonly header: Frame.Header
  readonly payload: Uint8Array
}

/** The other end of a session, frame by frame. */
export interface Peer {
  readonly send: (header: Partial<Frame.Header> & Pick<Frame.Header, "type">, payload?: Uint8Array) => Effect.Effect<void>
  readonly sendBytes: (bytes: Uint8Array) => Effect.Effect<void>
  readonly next: Effect.Effect<Received>
  /** The frames that were received and not asked for yet. */
  readonly pending: Effect.Effect<ReadonlyArray<Received>>
}

export const peerOn = (transport: Transport) =>
  Effect.gen(function* () {
    const frames = yield* Queue.unbounded<Received>()
    const decoder = new Frame.Decoder()
    let header: Frame.Header | undefined
    let payload: ReadonlyArray<number> = []
    const complete = () => {
      if (header !== undefined) frames.unsafeOffer({ header, payload: Uint8Array.from(payload) })
      payload = []
    }
    yield* Effect.forkScoped(
      transport.receive((chunk) => {
        for (const event of decoder.decode(chunk)) {
          if (event._tag === "Header") {
            header = event.header
            if (header.type !== Frame.Type.Data || header.length === 0) complete()
          } else if (event._tag === "Payload") {
            payload = [...payload, ...event.bytes]
            if (event.last) complete()
          }
        }
      })
    )
    const peer: Peer = {
      send: (partial, bytes) =>
        Effect.orDie(transport.send(Frame.encode({ flags: 0, streamId: 0, length: bytes?.length ?? 0, ...partial }, bytes))),
      sendBytes: (bytes) => Effect.orDie(transport.send(bytes)),
      next: Queue.take(frames),
      pending: Effect.map(Queue.takeAll(frames), (all) => [...all])
    }
    return peer
  })

/** A session, and its other end frame by frame. */
export const facing = (options: Session.Options) =>
  Effect.gen(function* () {
    const [near, far] = yield* transportPair
    const session = yield* Session.make(near, options)
    return { session, peer: yield* peerOn(far) }
  })
