import { AgentSessions } from "@atelier/core/agents"
import { expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
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
  })
}
