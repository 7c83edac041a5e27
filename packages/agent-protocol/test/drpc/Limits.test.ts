/** What a client can make a server hold. */
import { describe, expect, it } from "@effect/vitest"
import { DrpcServer, Frame, Packet, Protobuf, Router, Service } from "@atelier/agent-protocol"
import { Effect } from "effect"
import { facing, type Peer } from "../Connected.js"

const Text = Protobuf.message("test.Text", { text: Protobuf.field(1, Protobuf.string) })

const Sample = Service.service("test.Sample", { Wait: Service.unary(Text, Text), Echo: Service.unary(Text, Text) })

const router = Router.make(Sample, { Wait: () => Effect.never, Echo: (request) => Effect.succeed(request) })

const { SYN, ACK, RST, FIN } = Frame.Flag

const serving = (options: DrpcServer.Options) =>
  Effect.gen(function* () {
    const { session, peer } = yield* facing({ role: "server" })
    yield* Effect.forkScoped(DrpcServer.serveSession(session, router, options))
    return peer
  })

/** Packets on a stream of their own. */
const call = (peer: Peer, streamId: number, ...packets: ReadonlyArray<readonly [kind: Packet.Kind, bytes: number]>) =>
  Effect.forEach(packets, ([kind, length], index) => {
    const data = kind === Packet.Kind.Invoke ? new TextEncoder().encode("/test.Sample/Wait") : new Uint8Array(length)
    const packet = Packet.encode({ kind, streamId: 1, messageId: index + 1, data })
    return peer.send({ type: Frame.Type.Data, flags: index === 0 ? SYN : 0, streamId }, packet)
  })

const { Invoke, Message } = Packet.Kind

const flagsOf = (peer: Peer) => Effect.map(peer.next, ({ header: { flags, streamId } }) => ({ flags, streamId }))

describe("a server", () => {
  it.scoped("resets a stream whose unread requests exceed the limit, and frees their memory", () =>
    Effect.gen(function* () {
      const peer = yield* serving({ maxWaitingBytes: 1000 })
      yield* call(peer, 1, [Invoke, 0], [Message, 0], [Message, 600])
      expect(yield* flagsOf(peer)).toStrictEqual({ flags: ACK, streamId: 1 })
      yield* call(peer, 3, [Invoke, 0], [Message, 0], [Message, 600])
      expect(yield* flagsOf(peer)).toStrictEqual({ flags: ACK, streamId: 3 })
      expect(yield* flagsOf(peer)).toStrictEqual({ flags: RST, streamId: 3 })
      yield* peer.send({ type: Frame.Type.WindowUpdate, flags: FIN, streamId: 1 })
      expect(yield* flagsOf(peer)).toStrictEqual({ flags: FIN, streamId: 1 })
      yield* call(peer, 5, [Invoke, 0], [Message, 0], [Message, 1000])
      expect(yield* flagsOf(peer)).toStrictEqual({ flags: ACK, streamId: 5 })
      yield* peer.send({ type: Frame.Type.Ping, flags: SYN })
      expect((yield* peer.next).header.type).toBe(Frame.Type.Ping)
    })
  )

  it.scoped("resets a stream whose unfinished packet exceeds the limit", () =>
    Effect.gen(function* () {
      const peer = yield* serving({ maxWaitingBytes: 1000 })
      const unfinished = (bytes: number) => Uint8Array.from([Message << 1, 1, 1, 0xff, 0x3f, ...new Uint8Array(bytes)])
      yield* peer.send({ type: Frame.Type.Data, flags: SYN, streamId: 1 }, unfinished(1000))
      expect(yield* flagsOf(peer)).toStrictEqual({ flags: ACK, streamId: 1 })
      yield* peer.send({ type: Frame.Type.Data, streamId: 1 }, new Uint8Array(1))
      expect(yield* flagsOf(peer)).toStrictEqual({ flags: RST, streamId: 1 })
    })
  )

  it.scoped("accepts no more streams than it serves at a time", () =>
    Effect.gen(function* () {
      const peer = yield* serving({ concurrency: 1 })
      yield* call(peer, 1, [Invoke, 0], [Message, 0])
      expect(yield* flagsOf(peer)).toStrictEqual({ flags: ACK, streamId: 1 })
      yield* call(peer, 3, [Invoke, 0], [Message, 0])
      yield* peer.send({ type: Frame.Type.Ping, flags: SYN })
      expect((yield* peer.next).header.type).toBe(Frame.Type.Ping)
      yield* peer.send({ type: Frame.Type.WindowUpdate, flags: FIN, streamId: 1 })
      expect(yield* flagsOf(peer)).toStrictEqual({ flags: FIN, streamId: 1 })
      expect(yield* flagsOf(peer)).toStrictEqual({ flags: ACK, streamId: 3 })
    })
  )
})
