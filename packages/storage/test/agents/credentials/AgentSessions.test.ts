import { setImmediate } from "node:timers/promises"
import { CurrentActor, StreamRights } from "@atelier/core/access"
import { AgentSessions, BuildResourceRepository } from "@atelier/core/agents"
import { expect, layer } from "@effect/vitest"
import { Effect, Either, Redacted, TestClock } from "effect"
import { aBuild } from "../../../../../test/records/agentWorkspaces.js"
import { databases } from "../../../../../test/store/databases.js"
import { aRunningAgent, aToken } from "../runningAgent.js"
import { agentServices } from "../services.js"

for (const [name, database] of databases) {
  layer(agentServices(database))(`agents' sessions on ${name}`, (it) => {
    it.scoped("are renewed by a token of the same agent alone", () =>
      Effect.gen(function* () {
        const [own, other] = [yield* aRunningAgent(), yield* aRunningAgent()]
        const { renew } = yield* AgentSessions
        const renewed = yield* own.act(() => renew(Redacted.make(own.token)))
        expect([renewed.actor.agentId, renewed.agent.agent_id, renewed.right.actor]).toStrictEqual([own.id, own.id, renewed.actor])
        for (const token of [other.token, aToken(), "not a token"]) {
          const refused = yield* own.act(() => Effect.flip(renew(Redacted.make(token))))
          expect(refused._tag).toBe("Unauthenticated")
        }
      })
    )

    it.scoped("end with their agents, which others outlive", () =>
      Effect.gen(function* () {
        const agents = yield* Effect.all([aRunningAgent(), aRunningAgent(), aRunningAgent()])
        const { rightToConnect } = yield* AgentSessions
        const { begin } = yield* StreamRights
        const ended: Array<number> = []
        for (const [index, { act }] of agents.entries()) {
          const [right] = yield* act(() => rightToConnect)
          begin(right, () => void ended.push(index))
        }
        const [, deleted, replaced] = agents
        yield* (yield* BuildResourceRepository).deleteAgents(deleted.workspace.id, null)
        yield* aBuild(replaced, { status: "succeeded" })
        yield* TestClock.adjust("22 seconds")
        yield* Effect.repeat(
          Effect.promise(() => setImmediate()),
          { until: () => ended.length === 2 }
        )
        expect(ended.toSorted()).toStrictEqual([1, 2])
      }).pipe(Effect.provide(StreamRights.layer))
    )

    it.scoped("are renewed together, as each is alone", () =>
      Effect.gen(function* () {
        const agents = yield* Effect.all([aRunningAgent(), aRunningAgent(), aRunningAgent()])
        const { authenticate, current } = yield* AgentSessions
        const actors = yield* Effect.forEach(agents, ({ token }, index) => authenticate(Redacted.make(token), { ip: `10.0.0.${index}` }))
        const [first, replaced, last] = agents
        yield* aBuild(replaced, { status: "succeeded" })
        const together = actors[0]?.credential?.together
        const renewedOf = yield* together?.(actors) ?? Effect.dieMessage("they are renewed alone")
        const renewed = actors.map(renewedOf)
        expect(renewed.map(Either.isRight)).toStrictEqual([true, false, true])
        for (const [index, { id }] of [
          [0, first],
          [2, last]
        ] as const) {
          const actor = Either.getOrThrow(renewed[index] ?? Either.left(undefined))
          expect([actor.ip, actor.subject, actor.credential]).toStrictEqual([
            `10.0.0.${index}`,
            actors[index]?.subject,
            actors[index]?.credential
          ])
          expect((yield* Effect.provideService(current, CurrentActor, actor)).agent_id).toBe(id)
        }
      })
    )
  })
}
