/** The byte-level checks of agents-and-apps.md §23, against a server whose client is written frame by frame. */
import { describe, expect, it } from "@effect/vitest"
import { AgentMessages, DrpcServer, Frame, Packet, Protobuf, Router, RpcError, Service, unimplementedCode } from "@atelier/agent-protocol"
import { Deferred, Effect, Either, Stream } from "effect"
import { facing, type Peer } from "../Connected.js"

const { Invoke, Message, Error, Cancel, Close, CloseSend, InvokeMetadata } = Packet.Kind

const Text = Protobuf.message("test.Text", { text: Protobuf.field(1, Protobuf.string) })

const encoded = (text: string) => Either.getOrThrow(Text.encode({ text }))

const utf8 = (text: string) => new TextEncoder().encode(text)

const noData = new Uint8Array(0)

const manifest = { agent_name: "main", workspace_name: "dev" }

const AgentLike = Service.service("coder.agent.v2.Agent", {
  GetManifest: Service.unary(AgentMessages.GetManifestRequest, AgentMessages.Manifest)
})

const Sample = Service.service("test.Sample", {
  Echo: Service.unary(Text, Text),
  Metadata: Service.unary(Text, Text),
  Refuse: Service.unary(Text, Text),
  Break: Service.unary(Text, Text),
  Wait: Service.unary(Text, Text),
  Repeat: Service.serverStreaming(Text, Text),
  Chat: Service.bidirectional(Text, Text)
})

interface Seen {
  readonly waiting: Deferred.Deferred<void>
  readonly interrupted: Deferred.Deferred<void>
}

const routes = ({ waiting, interrupted }: Seen) =>
  Router.merge(
    Router.make(AgentLike, { GetManifest: () => Effect.succeed(manifest) }),
    Router.make(Sample, {
      Echo: (request) => Effect.succeed(request),
      Metadata: (_, call) => Effect.succeed({ text: `${call.rpc} ${[...call.metadata].join(" ")}` }),
      Refuse: () => new RpcError({ code: 7, message: "no" }),
      Break: () => Effect.die("a secret"),
      Wait: () =>
        Deferred.succeed(waiting, undefined).pipe(
          Effect.zipRight(Effect.never),
          Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
        ),
      Repeat: (request) => Stream.make(request, request, request),
      Chat: (requests) => requests
    })
  )

const streamId = 1

/** One byte stream to a serving session: packets in, packets out. */
const client = Effect.gen(function* () {
  const { session, peer } = yield* facing({ role: "server" })
  const seen = { waiting: yield* Deferred.make<void>(), interrupted: yield* Deferred.make<void>() }
  yield* Effect.forkScoped(DrpcServer.serveSession(session, routes(seen)))
  yield* peer.send({ type: Frame.Type.WindowUpdate, flags: Frame.Flag.SYN, streamId })
  expect((yield* peer.next).header.flags).toBe(Frame.Flag.ACK)
  const decoder = new Packet.Decoder()
  let found: ReadonlyArray<Packet.Packet | Packet.Violation> = []
  const next: Effect.Effect<Packet.Packet | Packet.Violation> = Effect.suspend(() => {
    const [first, ...rest] = found
    if (first === undefined)
      return Effect.flatMap(peer.next, ({ payload }) => {
        found = decoder.decode(payload)
        return next
      })
    found = rest
    return Effect.succeed(first)
  })
  const send = (...packets: ReadonlyArray<readonly [kind: Packet.Kind, stream: number, message: number, data?: Uint8Array]>) =>
    Effect.forEach(packets, ([kind, stream, message, data = noData]) =>
      peer.send({ type: Frame.Type.Data, streamId }, Packet.encode({ kind, streamId: stream, messageId: message, data }))
    )
  return { peer, seen, next, send }
})

const nextFrame = (peer: Peer) => Effect.map(peer.next, ({ header }) => ({ type: header.type, flags: header.flags }))

const reset = { type: Frame.Type.WindowUpdate, flags: Frame.Flag.RST }
const fin = { type: Frame.Type.WindowUpdate, flags: Frame.Flag.FIN }

describe("a unary call", () => {
  it.scoped("is answered with Message 1 and CloseSend 2 on its stream id (check 23)", () =>
    Effect.gen(function* () {
      const { send, next } = yield* client
      yield* send([Invoke, 1, 1, utf8("/coder.agent.v2.Agent/GetManifest")], [Message, 1, 2], [CloseSend, 1, 3])
      const answer = yield* next
      expect(answer).toMatchObject({ kind: Message, streamId: 1, messageId: 1 })
      if (answer.kind === "Violation") return expect.unreachable()
      expect(Either.getOrThrow(AgentMessages.Manifest.decode(answer.data))).toMatchObject(manifest)
      expect(yield* next).toStrictEqual({ kind: CloseSend, streamId: 1, messageId: 2, data: noData })
      yield* send([Close, 1, 4])
    })
  )

  it.scoped("of an unknown method is answered with code 12 (check 23)", () =>
    Effect.gen(function* () {
      const { send, next } = yield* client
      yield* send([Invoke, 1, 1, utf8("/coder.agent.v2.Agent/Unheard")], [Message, 1, 2], [CloseSend, 1, 3])
      expect(yield* next).toStrictEqual({
        kind: Error,
        streamId: 1,
        messageId: 1,
        data: Uint8Array.from([0, 0, 0, 0, 0, 0, 0, unimplementedCode, ...utf8("unknown rpc: /coder.agent.v2.Agent/Unheard")])
      })
    })
  )

  it.scoped("whose message is split over three frames is decoded as one (check 24)", () =>
    Effect.gen(function* () {
      const { send, next, peer } = yield* client
      const message = encoded("in three parts")
      yield* send([Invoke, 1, 1, utf8("/test.Sample/Echo")])
      for (const [from, to] of [
        [0, 3],
        [3, 4],
        [4, message.length]
      ]) {
        const part = message.subarray(from, to)
        const control = (Message << 1) | (to === message.length ? 1 : 0)
        yield* peer.send({ type: Frame.Type.Data, streamId }, Uint8Array.from([control, 1, 2, part.length, ...part]))
      }
      expect(yield* next).toStrictEqual({ kind: Message, streamId: 1, messageId: 1, data: message })
    })
  )

  it.scoped("is broken off by a frame with a lower message id (check 24)", () =>
    Effect.gen(function* () {
      const { send, seen, peer } = yield* client
      yield* send([Invoke, 1, 2, utf8("/test.Sample/Wait")], [Message, 1, 3])
      yield* Deferred.await(seen.waiting)
      yield* send([CloseSend, 1, 1])
      expect(yield* nextFrame(peer)).toStrictEqual(reset)
      yield* Deferred.await(seen.interrupted)
    })
  )

  it.scoped("may follow another one on the same stream", () =>
    Effect.gen(function* () {
      const { send, next } = yield* client
      for (const call of [1, 2, 7]) {
        yield* send([Invoke, call, 1, utf8("/test.Sample/Echo")], [Message, call, 2, encoded(`call ${call}`)], [CloseSend, call, 3])
        expect(yield* next).toStrictEqual({ kind: Message, streamId: call, messageId: 1, data: encoded(`call ${call}`) })
        expect(yield* next).toMatchObject({ kind: CloseSend, streamId: call, messageId: 2 })
        yield* send([Close, call, 4])
      }
    })
  )

  it.scoped("receives its client's metadata", () =>
    Effect.gen(function* () {
      const { send, next } = yield* client
      const metadata = Uint8Array.from([0x0a, 8, 0x0a, 1, 0x6b, 0x12, 3, 0x76, 0x61, 0x6c])
      yield* send([InvokeMetadata, 1, 1, metadata], [Invoke, 1, 2, utf8("/test.Sample/Metadata")], [Message, 1, 3], [CloseSend, 1, 4])
      expect(yield* next).toMatchObject({ kind: Message, data: encoded("/test.Sample/Metadata k,val") })
      yield* send([Invoke, 2, 1, utf8("/test.Sample/Metadata")], [Message, 2, 2], [CloseSend, 2, 3])
      expect(yield* next).toMatchObject({ kind: CloseSend, streamId: 1 })
      expect(yield* next).toMatchObject({ kind: Message, data: encoded("/test.Sample/Metadata ") })
    })
  )

  it.scoped("that the handler refuses is answered with its code and text", () =>
    Effect.gen(function* () {
      const { send, next } = yield* client
      yield* send([Invoke, 1, 1, utf8("/test.Sample/Refuse")], [Message, 1, 2], [CloseSend, 1, 3])
      expect(yield* next).toStrictEqual({
        kind: Error,
        streamId: 1,
        messageId: 1,
        data: Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 7, ...utf8("no")])
      })
    })
  )

  it.scoped("that crashes the handler is answered without the cause", () =>
    Effect.gen(function* () {
      const { send, next } = yield* client
      yield* send([Invoke, 1, 1, utf8("/test.Sample/Break")], [Message, 1, 2], [CloseSend, 1, 3])
      expect(yield* next).toMatchObject({ kind: Error, data: Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, ...utf8("internal error")]) })
    })
  )

  it.scoped("without a request, or with a malformed one, is answered with an error", () =>
    Effect.gen(function* () {
      const { send, next } = yield* client
      yield* send([Invoke, 1, 1, utf8("/test.Sample/Echo")], [CloseSend, 1, 2])
      expect(yield* next).toMatchObject({ kind: Error, streamId: 1 })
      yield* send([Invoke, 2, 1, utf8("/test.Sample/Echo")], [Message, 2, 2, new Uint8Array([0x0a, 9, 1])])
      expect(yield* next).toMatchObject({ kind: Error, streamId: 2 })
    })
  )
})

describe("a streaming call", () => {
  it.scoped("is answered with Messages and a Close", () =>
    Effect.gen(function* () {
      const { send, next } = yield* client
      yield* send([Invoke, 1, 1, utf8("/test.Sample/Repeat")], [Message, 1, 2, encoded("x")], [CloseSend, 1, 3])
      const kinds = [yield* next, yield* next, yield* next, yield* next]
      expect(kinds.map((packet) => packet.kind)).toStrictEqual([Message, Message, Message, Close])
      expect(kinds.map((packet) => (packet.kind === "Violation" ? 0 : packet.messageId))).toStrictEqual([1, 2, 3, 4])
    })
  )

  it.scoped("runs in both directions until the client is done", () =>
    Effect.gen(function* () {
      const { send, next } = yield* client
      yield* send([Invoke, 1, 1, utf8("/test.Sample/Chat")])
      for (const n of [2, 3, 4]) {
        yield* send([Message, 1, n, encoded(`m${n}`)])
        expect(yield* next).toStrictEqual({ kind: Message, streamId: 1, messageId: n - 1, data: encoded(`m${n}`) })
      }
      yield* send([CloseSend, 1, 5])
      expect(yield* next).toMatchObject({ kind: Close, messageId: 4 })
    })
  )
})

describe("a running call", () => {
  const waitingCall = Effect.gen(function* () {
    const call = yield* client
    yield* call.send([Invoke, 1, 1, utf8("/test.Sample/Wait")], [Message, 1, 2], [CloseSend, 1, 3])
    yield* Deferred.await(call.seen.waiting)
    return call
  })

  for (const kind of [Cancel, Close, Error])
    it.scoped(`is interrupted by a packet of kind ${kind}, and its stream continues`, () =>
      Effect.gen(function* () {
        const { send, seen, next } = yield* waitingCall
        yield* send([kind, 1, 4])
        yield* Deferred.await(seen.interrupted)
        yield* send([Invoke, 2, 1, utf8("/test.Sample/Echo")], [Message, 2, 2, encoded("next")])
        expect(yield* next).toMatchObject({ kind: Message, streamId: 2, data: encoded("next") })
      })
    )

  it.scoped("is interrupted by a call with a higher stream id", () =>
    Effect.gen(function* () {
      const { send, seen, next } = yield* waitingCall
      yield* send([Invoke, 2, 1, utf8("/test.Sample/Echo")], [Message, 2, 2, encoded("next")])
      yield* Deferred.await(seen.interrupted)
      expect(yield* next).toMatchObject({ kind: Message, streamId: 2, data: encoded("next") })
    })
  )

  it.scoped("is interrupted when the client closes the stream", () =>
    Effect.gen(function* () {
      const { peer, seen } = yield* waitingCall
      yield* peer.send({ type: Frame.Type.WindowUpdate, flags: Frame.Flag.FIN, streamId })
      yield* Deferred.await(seen.interrupted)
      expect(yield* nextFrame(peer)).toStrictEqual(fin)
    })
  )

  it.scoped("is interrupted when the client breaks the stream off", () =>
    Effect.gen(function* () {
      const { peer, seen } = yield* waitingCall
      yield* peer.send({ type: Frame.Type.WindowUpdate, flags: Frame.Flag.RST, streamId })
      yield* Deferred.await(seen.interrupted)
    })
  )

  it.scoped("is interrupted when the client breaks the stream off while its requests wait", () =>
    Effect.gen(function* () {
      const { peer, seen, send } = yield* waitingCall
      for (let message = 5; message < 60; message++) yield* send([Message, 1, message, encoded("unread")])
      yield* peer.send({ type: Frame.Type.WindowUpdate, flags: Frame.Flag.RST, streamId })
      yield* Deferred.await(seen.interrupted)
    })
  )

  it.scoped("is broken off by a second invocation", () =>
    Effect.gen(function* () {
      const { send, seen, peer } = yield* waitingCall
      yield* send([Invoke, 1, 4, utf8("/test.Sample/Echo")])
      yield* Deferred.await(seen.interrupted)
      expect(yield* nextFrame(peer)).toStrictEqual(reset)
    })
  )
})
