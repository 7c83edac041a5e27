import { describe, expect, it } from "@effect/vitest"
import {
  AgentService,
  CallFailed,
  DrpcClient,
  DrpcServer,
  Frame,
  Packet,
  Protobuf,
  Router,
  RpcError,
  Service,
  Session,
  TailnetService,
  unimplementedCode
} from "@atelier/agent-protocol"
import { Context, Deferred, Effect, Either, Exit, Fiber, Layer, Queue, Ref, Scope, Stream } from "effect"
import { connected, facing } from "../Connected.js"
import { transportPair } from "../transportPair.js"

const Text = Protobuf.message("test.Text", { text: Protobuf.field(1, Protobuf.string) })
const Blob = Protobuf.message("test.Blob", { data: Protobuf.field(1, Protobuf.bytes) })

const Echo = Service.service("test.Echo", {
  Say: Service.unary(Text, Text),
  Count: Service.serverStreaming(Text, Text),
  Join: Service.clientStreaming(Text, Text),
  Chat: Service.bidirectional(Text, Text),
  Carry: Service.unary(Blob, Blob),
  Wait: Service.unary(Text, Text),
  Tick: Service.serverStreaming(Text, Text)
})

class Greeting extends Context.Tag("test/Greeting")<Greeting, string>() {}

const texts = (messages: Iterable<{ readonly text: string }>) => [...messages].map(({ text }) => text)

/** A client of a server whose handlers tell when they begin and when they are interrupted. */
const calling = Effect.gen(function* () {
  const begun = yield* Deferred.make<void>()
  const interrupted = yield* Deferred.make<void>()
  const taken = yield* Ref.make(0)
  const router = Router.make(Echo, {
    Say: ({ text }) =>
      text === ""
        ? new RpcError({ code: 0, message: "say something" })
        : Effect.map(Greeting, (greeting) => ({ text: `${greeting} ${text}` })),
    Count: ({ text }) => Stream.range(1, Number(text)).pipe(Stream.map((n) => ({ text: String(n) }))),
    Join: (requests) => Effect.map(Stream.runCollect(requests), (all) => ({ text: texts(all).join(",") })),
    Chat: (requests) =>
      requests.pipe(
        Stream.tap(() => Ref.update(taken, (n) => n + 1)),
        Stream.takeUntil(({ text }) => text === "bye"),
        Stream.map(({ text }) => ({ text: text.toUpperCase() }))
      ),
    Carry: (blob) => Effect.succeed(blob),
    Wait: () =>
      Deferred.succeed(begun, undefined).pipe(
        Effect.zipRight(Effect.never),
        Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
      ),
    Tick: ({ text }) => Stream.ensuring(Stream.forever(Stream.succeed({ text })), Deferred.succeed(interrupted, undefined))
  })
  const { client: near, server: far } = yield* connected()
  yield* DrpcServer.serveSession(far, router).pipe(Effect.provide(Layer.succeed(Greeting, "hello")), Effect.forkScoped)
  return { client: DrpcClient.make(Echo, near), near, far, begun, interrupted, taken }
})

describe("a call", () => {
  it.scoped("to one response answers it", () =>
    Effect.gen(function* () {
      const { client } = yield* calling
      expect(yield* client.Say({ text: "you" })).toStrictEqual({ text: "hello you" })
    })
  )

  it.scoped("that the handler refuses fails with its code and text", () =>
    Effect.gen(function* () {
      const { client } = yield* calling
      expect(yield* Effect.flip(client.Say({}))).toStrictEqual(new RpcError({ code: 0, message: "say something" }))
    })
  )

  it.scoped("to a stream of responses answers all in order", () =>
    Effect.gen(function* () {
      const { client } = yield* calling
      const all = yield* Stream.runCollect(client.Count({ text: "1000" }))
      expect(texts(all)).toStrictEqual(Array.from({ length: 1000 }, (_, index) => String(index + 1)))
    })
  )

  it.scoped("with a stream of requests is answered once", () =>
    Effect.gen(function* () {
      const { client } = yield* calling
      expect(yield* client.Join(Stream.make({ text: "a" }, { text: "b" }, { text: "c" }))).toStrictEqual({ text: "a,b,c" })
      expect(yield* client.Join(Stream.empty)).toStrictEqual({ text: "" })
    })
  )

  it.scoped("passes messages both ways, one answer after one request", () =>
    Effect.gen(function* () {
      const { client } = yield* calling
      const requests = yield* Queue.unbounded<{ readonly text: string }>()
      const answers = yield* Queue.unbounded<string>()
      yield* client.Chat(Stream.fromQueue(requests)).pipe(
        Stream.runForEach(({ text }) => Queue.offer(answers, text)),
        Effect.forkScoped
      )
      for (const text of ["a", "b", "c"]) {
        yield* Queue.offer(requests, { text })
        expect(yield* Queue.take(answers)).toBe(text.toUpperCase())
      }
    })
  )

  it.scoped("both ways ends when the server is done, though the client is not", () =>
    Effect.gen(function* () {
      const { client } = yield* calling
      const all = yield* Stream.runCollect(client.Chat(Stream.concat(Stream.make({ text: "bye" }), Stream.never)))
      expect(texts(all)).toStrictEqual(["BYE"])
    })
  )

  it.scoped("fails with the error of its requests", () =>
    Effect.gen(function* () {
      const { client } = yield* calling
      const failing = Stream.concat(Stream.make({ text: "a" }), Stream.fail("out of words" as const))
      expect(yield* Effect.flip(client.Join(failing))).toBe("out of words")
      expect(yield* Effect.flip(Stream.runDrain(client.Chat(failing)))).toBe("out of words")
    })
  )

  it.scoped("carries 4 MiB, and refuses to send more", () =>
    Effect.gen(function* () {
      const { client } = yield* calling
      const data = new Uint8Array(Packet.maximumPacketBytes - 5).map((_, index) => index)
      const answer = yield* client.Carry({ data })
      expect(Buffer.from(answer.data).equals(data)).toBe(true)
      const error = yield* Effect.flip(client.Carry({ data: new Uint8Array(Packet.maximumPacketBytes) }))
      expect(error).toMatchObject({ _tag: "CallFailed", reason: "message" })
      expect(yield* client.Say({ text: "you" })).toStrictEqual({ text: "hello you" })
    })
  )

  it.scoped("runs beside others, slow ones too", () =>
    Effect.gen(function* () {
      const { client, begun } = yield* calling
      yield* Effect.forkScoped(client.Wait({}))
      yield* Deferred.await(begun)
      const answers = yield* Effect.forEach(
        Array.from({ length: 50 }, (_, n) => `${n}`),
        (text) => client.Say({ text }),
        { concurrency: "unbounded" }
      )
      expect(texts(answers)).toStrictEqual(Array.from({ length: 50 }, (_, n) => `hello ${n}`))
    })
  )

  it.scoped("may be repeated more often than streams may be open", () =>
    Effect.gen(function* () {
      const { client } = yield* calling
      for (let n = 0; n < 1100; n++) yield* client.Say({ text: "you" })
    })
  )
})

describe("canceling", () => {
  it.scoped("a call interrupts its handler", () =>
    Effect.gen(function* () {
      const { client, begun, interrupted } = yield* calling
      const call = yield* Effect.fork(client.Wait({}))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(call)
      yield* Deferred.await(interrupted)
    })
  )

  it.scoped("a stream of responses by taking a few ends it at the server", () =>
    Effect.gen(function* () {
      const { client, interrupted } = yield* calling
      const some = yield* Stream.runCollect(Stream.take(client.Tick({ text: "tick" }), 3))
      expect(texts(some)).toStrictEqual(["tick", "tick", "tick"])
      yield* Deferred.await(interrupted)
    })
  )

  it.scoped("a stream whose responses are not read is ended at the server", () =>
    Effect.gen(function* () {
      const { client, interrupted } = yield* calling
      const scope = yield* Scope.make()
      const pull = yield* Scope.extend(Stream.toPull(client.Tick({ text: "x".repeat(100_000) })), scope)
      yield* pull
      yield* Effect.repeatN(Effect.yieldNow(), 1000)
      yield* Scope.close(scope, Exit.void)
      yield* Deferred.await(interrupted)
      expect(yield* client.Say({ text: "you" })).toStrictEqual({ text: "hello you" })
    })
  )

  it.scoped("the session interrupts handlers and fails calls", () =>
    Effect.gen(function* () {
      const [near, far] = yield* transportPair
      const scope = yield* Scope.make()
      const server = yield* Scope.extend(Session.make(far, { role: "server" }), scope)
      const interrupted = yield* Deferred.make<void>()
      const begun = yield* Deferred.make<void>()
      const Slow = Service.service("test.Slow", { Wait: Service.unary(Text, Text) })
      const router = Router.make(Slow, {
        Wait: () =>
          Deferred.succeed(begun, undefined).pipe(
            Effect.zipRight(Effect.never),
            Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
          )
      })
      const serving = yield* Effect.fork(DrpcServer.serveSession(server, router))
      const client = DrpcClient.make(Slow, yield* Session.make(near, { role: "client" }))
      const call = yield* Effect.fork(Effect.flip(client.Wait({})))
      yield* Deferred.await(begun)
      yield* Scope.close(scope, Exit.void)
      yield* Deferred.await(interrupted)
      yield* Fiber.join(serving)
      expect(yield* Fiber.join(call)).toMatchObject({ _tag: "CallFailed", reason: "connection" })
      expect(yield* Effect.flip(client.Wait({}))).toMatchObject({ _tag: "CallFailed", reason: "connection" })
    })
  )
})

describe("a slow handler", () => {
  it.scoped("makes the client wait, instead of piling requests up", () =>
    Effect.gen(function* () {
      const { client, near, taken } = yield* calling
      const sent = yield* Ref.make(0)
      const requests = Stream.repeatEffect(
        Effect.as(
          Ref.updateAndGet(sent, (n) => n + 1),
          { text: "x".repeat(60_000) }
        )
      )
      const scope = yield* Scope.make()
      const pull = yield* Scope.extend(Stream.toPull(client.Chat(requests)), scope)
      yield* pull
      yield* Effect.repeatN(Effect.yieldNow(), 5000)
      const [first, handled] = [yield* Ref.get(sent), yield* Ref.get(taken)]
      yield* Effect.repeatN(Effect.yieldNow(), 5000)
      expect(yield* Ref.get(sent)).toBe(first)
      expect(first - handled).toBeLessThan(60)
      yield* Scope.close(scope, Exit.void)
      yield* near.ping
    })
  )
})

describe("a client", () => {
  /** What a call sends, and how it ends when its server answers with these packets. */
  const answeredWith = (...packets: ReadonlyArray<Packet.Packet>) =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "client" })
      const client = DrpcClient.make(Echo, session, { metadata: new Map([["trace", "1"]]) })
      const call = yield* Effect.fork(Effect.either(client.Say({ text: "you" })))
      yield* peer.next
      const decoder = new Packet.Decoder()
      const sent = decoder.decode((yield* peer.next).payload)
      for (const packet of packets) yield* peer.send({ type: Frame.Type.Data, flags: Frame.Flag.ACK, streamId: 1 }, Packet.encode(packet))
      yield* peer.send({ type: Frame.Type.WindowUpdate, flags: Frame.Flag.FIN, streamId: 1 })
      const result = yield* Fiber.join(call)
      const after = yield* peer.next
      return { sent, result, after: after.header.type === Frame.Type.Data ? decoder.decode(after.payload) : [] }
    })

  const answer = (kind: Packet.Kind, messageId: number, data: Uint8Array = new Uint8Array(0), streamId = 1): Packet.Packet => ({
    kind,
    streamId,
    messageId,
    data
  })
  const { Message, CloseSend, Close, Cancel, Invoke, InvokeMetadata } = Packet.Kind
  const you = Uint8Array.from([0x0a, 3, 0x79, 0x6f, 0x75])

  it.scoped("sends InvokeMetadata, Invoke, Message and CloseSend, and Close after the answer", () =>
    Effect.gen(function* () {
      const { sent, result, after } = yield* answeredWith(answer(Message, 1, you), answer(CloseSend, 2))
      expect(sent).toStrictEqual([
        answer(InvokeMetadata, 1, Uint8Array.from([0x0a, 10, 0x0a, 5, ...new TextEncoder().encode("trace"), 0x12, 1, 0x31])),
        answer(Invoke, 2, new TextEncoder().encode("/test.Echo/Say")),
        answer(Message, 3, you),
        answer(CloseSend, 4)
      ])
      expect(result).toStrictEqual(Either.right({ text: "you" }))
      expect(after).toStrictEqual([answer(Close, 5)])
    })
  )

  const senseless: Record<string, { readonly packets: ReadonlyArray<Packet.Packet>; readonly reason: CallFailed["reason"] }> = {
    "nothing but an end of its messages": { packets: [answer(CloseSend, 1)], reason: "protocol" },
    "nothing but an end": { packets: [answer(Close, 1)], reason: "protocol" },
    "a cancellation": { packets: [answer(Cancel, 1)], reason: "protocol" },
    "an invocation": { packets: [answer(Invoke, 1)], reason: "protocol" },
    "decreasing ids": { packets: [answer(CloseSend, 2, undefined, 3), answer(Message, 1, you, 2)], reason: "protocol" },
    "no valid message": { packets: [answer(Message, 1, new Uint8Array([0x0a, 9]))], reason: "message" },
    "an answer to another call": { packets: [answer(Message, 1, you, 2)], reason: "connection" },
    "the end of the stream": { packets: [], reason: "connection" }
  }
  for (const [what, { packets, reason }] of Object.entries(senseless))
    it.scoped(`answered with ${what} fails because of the ${reason}`, () =>
      Effect.gen(function* () {
        const { result } = yield* answeredWith(...packets)
        expect(Either.flip(result)).toMatchObject(Either.right({ _tag: "CallFailed", reason }))
      })
    )

  it.scoped("of a service that the server lacks fails with code 12", () =>
    Effect.gen(function* () {
      const { near } = yield* calling
      const agent = DrpcClient.make(AgentService, near)
      expect(yield* Effect.flip(agent.PushContextState({ initial: true }))).toMatchObject({ _tag: "RpcError", code: unimplementedCode })
      const tailnet = DrpcClient.make(TailnetService, near)
      expect(yield* Effect.flip(Stream.runDrain(tailnet.StreamDERPMaps({})))).toMatchObject({ _tag: "RpcError", code: unimplementedCode })
    })
  )
})

describe("the services", () => {
  it("have the methods of the specification", () => {
    expect(Object.keys(AgentService.methods).map((name) => Service.path(AgentService, name))).toContain("/coder.agent.v2.Agent/GetManifest")
    expect(Object.keys(AgentService.methods)).toHaveLength(19)
    expect(Object.entries(TailnetService.methods).map(([name, { kind }]) => `${Service.path(TailnetService, name)} ${kind}`)).toStrictEqual(
      [
        "/coder.tailnet.v2.Tailnet/PostTelemetry unary",
        "/coder.tailnet.v2.Tailnet/StreamDERPMaps serverStreaming",
        "/coder.tailnet.v2.Tailnet/RefreshResumeToken unary",
        "/coder.tailnet.v2.Tailnet/Coordinate bidirectional",
        "/coder.tailnet.v2.Tailnet/WorkspaceUpdates serverStreaming"
      ]
    )
  })
})
