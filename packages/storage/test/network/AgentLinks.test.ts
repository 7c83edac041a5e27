import { type AgentLink, AgentLinkRepository, AgentLinks, AgentUnreachable, type StoredLink } from "@atelier/core/network"
import { it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope, TestClock } from "effect"
import { expect } from "vitest"
import { sqlite } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"
import { aToken } from "../agents/runningAgent.js"

const link: AgentLink = { open: () => new AgentUnreachable({ message: "Nothing is there." }) }

/** The links that are stored, the agents of each statement, and what happens before the next one. */
const observed = () => {
  const stored = new Set<string>()
  const told: Array<ReadonlyArray<string>> = []
  const next = { before: Effect.void }
  const put = (links: ReadonlyArray<StoredLink>) =>
    Effect.gen(function* () {
      const agents = links.map(({ agent_id }) => agent_id)
      told.push(agents)
      yield* next.before
      for (const agent of agents) stored.add(agent)
    })
  const repository = Layer.mock(AgentLinkRepository, { put, remove: (agent) => Effect.sync(() => void stored.delete(agent)) })
  const services = AgentLinks.layer.pipe(Layer.provide(Layer.provideMerge(repository, sqlite)), Layer.provide(runtime))
  return { stored, told, next, services }
}

/** Offers an agent's link, and returns what ends it. */
const offered = (agent: ReturnType<typeof aToken>) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    yield* Scope.extend((yield* AgentLinks).offer(agent, link), scope)
    return Scope.close(scope, Exit.void)
  })

it.scoped("links are told again every five minutes, all together", () => {
  const { services, stored, told } = observed()
  return Effect.gen(function* () {
    const agents = [aToken(), aToken(), aToken()]
    const leave = yield* Effect.forEach(agents, offered)
    expect(stored).toStrictEqual(new Set(agents))
    stored.clear()
    told.length = 0
    yield* TestClock.adjust("5 minutes")
    expect(told).toStrictEqual([agents])
    expect(stored).toStrictEqual(new Set(agents))
    yield* Effect.all(leave)
    expect(stored).toStrictEqual(new Set())
  }).pipe(Effect.provide(services))
})

it.scoped("the link of an agent that leaves while it is told again does not remain", () => {
  const { next, services, stored } = observed()
  return Effect.gen(function* () {
    const [agent, other] = [aToken(), aToken()]
    next.before = yield* offered(agent)
    yield* TestClock.adjust("5 minutes")
    expect(stored).toStrictEqual(new Set())
    next.before = Effect.void
    yield* offered(other)
    yield* TestClock.adjust("5 minutes")
    expect(stored).toStrictEqual(new Set([other]))
  }).pipe(Effect.provide(services))
})
