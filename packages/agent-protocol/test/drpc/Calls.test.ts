import { expect, it } from "@effect/vitest"
import { DrpcClient, DrpcServer, Router, RpcError, Service, Protobuf } from "@atelier/agent-protocol"
import { Chunk, Effect, Stream } from "effect"
import { connected } from "../Connected.js"

const Text = Protobuf.message("test.Text", { text: Protobuf.field(1, Protobuf.string) })

const Echo = Service.service("test.Echo", {
  Say: Service.unary(Text, Text),
  Count: Service.serverStreaming(Text, Text),
  Join: Service.clientStreaming(Text, Text),
  Chat: Service.bidirectional(Text, Text)
})

const echo = Router.make(Echo, {
  Say: ({ text }) =>
    text === "" ? Effect.fail(new RpcError({ code: 0, message: "say something" })) : Effect.succeed({ text: `${text}!` }),
  Count: ({ text }) => Stream.range(1, Number(text)).pipe(Stream.map((n) => ({ text: String(n) }))),
  Join: (requests) =>
    Effect.map(Stream.runCollect(requests), (all) => ({
      text: Chunk.toReadonlyArray(all)
        .map(({ text }) => text)
        .join(",")
    })),
  Chat: (requests) => Stream.map(requests, ({ text }) => ({ text: text.toUpperCase() }))
})

const calling = Effect.gen(function* () {
  const { client, server } = yield* connected()
  yield* Effect.forkScoped(DrpcServer.serveSession(server, echo))
  return DrpcClient.make(Echo, client)
})

it.scoped("a unary call answers one response", () =>
  Effect.gen(function* () {
    const client = yield* calling
    expect(yield* client.Say({ text: "hello" })).toStrictEqual({ text: "hello!" })
  })
)

it.scoped("an application error reaches the caller with code and text", () =>
  Effect.gen(function* () {
    const client = yield* calling
    expect(yield* Effect.flip(client.Say({}))).toStrictEqual(new RpcError({ code: 0, message: "say something" }))
  })
)

it.scoped("a server stream answers all responses in order", () =>
  Effect.gen(function* () {
    const client = yield* calling
    const all = yield* Stream.runCollect(client.Count({ text: "1000" }))
    expect(Chunk.toReadonlyArray(all).map(({ text }) => Number(text))).toStrictEqual(Array.from({ length: 1000 }, (_, index) => index + 1))
  })
)

it.scoped("a client stream is answered once", () =>
  Effect.gen(function* () {
    const client = yield* calling
    expect(yield* client.Join(Stream.make({ text: "a" }, { text: "b" }, { text: "c" }))).toStrictEqual({ text: "a,b,c" })
  })
)

it.scoped("a bidirectional call passes messages both ways", () =>
  Effect.gen(function* () {
    const client = yield* calling
    const all = yield* Stream.runCollect(client.Chat(Stream.make({ text: "a" }, { text: "b" })))
    expect(Chunk.toReadonlyArray(all)).toStrictEqual([{ text: "A" }, { text: "B" }])
  })
)
