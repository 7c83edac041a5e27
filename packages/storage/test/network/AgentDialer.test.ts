import {
  AgentDialer,
  AgentLinks,
  type AgentStream,
  AgentUnreachable,
  Coordinator,
  EngineDialer,
  layerDialer,
  NetworkDialer,
  terminalPort
} from "@atelier/core/network"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Option, TestClock, Fiber } from "effect"
import { sqlite } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"
import { aToken } from "../agents/runningAgent.js"

const agent_id = aToken()

/** A way to agents: streams of it say its name. */
const through = (name: string): AgentStream => ({
  read: Effect.succeedSome(Buffer.from(name)),
  write: () => Effect.void,
  finish: Effect.void
})

const node = { addresses: [], allowed_ips: [], content: new Uint8Array([1]) }

/** The ways of an agent that is in the private network, has a connection of its own, and runs beside this process, with a host's dialer. */
const ways = (host: AgentDialer["Type"]) => {
  const given = Layer.mergeAll(
    Layer.succeed(AgentDialer, host),
    Layer.succeed(EngineDialer, { dial: () => Effect.succeed(through("engine")) }),
    Layer.succeed(NetworkDialer, { isMember: true, dial: () => Effect.succeed(through("network")) })
  )
  return layerDialer.pipe(
    Layer.provideMerge(Layer.mergeAll(AgentLinks.layer, Coordinator.layer)),
    Layer.provide(given),
    Layer.provide(sqlite),
    Layer.provide(runtime)
  )
}

const used = (port = 8080) =>
  Effect.gen(function* () {
    const { dial } = yield* AgentDialer
    const { read } = yield* dial({ agent_id, workspace_id: agent_id, port })
    return Buffer.from(Option.getOrThrow(yield* read)).toString()
  }).pipe(Effect.scoped)

/** The agent enters the private network. */
const joined = Effect.gen(function* () {
  const { connect } = yield* Coordinator
  const { handle } = yield* connect(agent_id, {
    refuseNode: () => undefined,
    mayBeReady: false,
    openTunnel: () => Effect.succeed(undefined)
  })
  yield* handle({ node, addTunnel: undefined, removeTunnel: undefined, disconnects: false, readyFor: [] })
})

const linked = Effect.flatMap(AgentLinks, ({ offer }) => offer(agent_id, { open: () => Effect.succeed(through("link")) }))

it.scoped("a host's dialer comes first, but for the agent's own ports", () =>
  Effect.gen(function* () {
    yield* joined
    expect([yield* used(), yield* used(terminalPort)]).toStrictEqual(["host", "network"])
    yield* linked
    expect([yield* used(), yield* used(terminalPort)]).toStrictEqual(["host", "link"])
  }).pipe(Effect.provide(ways({ dial: () => Effect.succeed(through("host")) })))
)

it.scoped("what a host's dialer does not reach is left to the other ways, in their order", () =>
  Effect.gen(function* () {
    expect(yield* used()).toBe("engine")
    yield* joined
    expect(yield* used()).toBe("network")
    yield* linked
    expect(yield* used()).toBe("link")
  }).pipe(Effect.provide(ways({ dial: () => new AgentUnreachable({ message: "The host does not know this agent." }) })))
)

it.scoped("a host's dialer that does not answer is given up after 10 seconds", () =>
  Effect.gen(function* () {
    const waiting = yield* Effect.fork(used())
    yield* TestClock.adjust("10 seconds")
    expect(yield* Fiber.join(waiting)).toBe("engine")
  }).pipe(Effect.provide(ways({ dial: () => Effect.never })))
)
