import { AgentLogRepository, AgentLogs, agentOutages } from "@atelier/core/agents"
import { type AgentOutage, ProvisionerEngines, type TellOutage } from "@atelier/core/provisioning"
import { expect, layer } from "@effect/vitest"
import { Effect, Exit, Queue, Redacted, TestClock } from "effect"
import { databases } from "../../../../../test/store/databases.js"
import { testEngine } from "../../../../../test/outside/engine.js"
import { aRunningAgent, aToken } from "../runningAgent.js"
import { agentServices } from "../services.js"
import { Statements } from "../../../src/platform/Statements.js"

for (const [name, database] of databases) {
  layer(agentServices(database))(`outages on ${name}`, (it) => {
    it.scoped("are lines of the agent's log, once: told again after a failed write, and dropped for an unknown token", () =>
      Effect.gen(function* () {
        const agent = yield* aRunningAgent()
        const { after } = yield* AgentLogRepository
        const { report } = yield* AgentLogs
        const sql = yield* Statements
        const message = "The agent has not reached http://dev.localhost:3000 for 30 seconds: connection refused"
        const outages: Array<AgentOutage> = [aToken(), agent.token].map((token) => ({ token: Redacted.make(token), message }))
        const turns = yield* Queue.unbounded<"told" | "failed" | "nothing to tell">()
        /** Forgets an outage once it is told, as engines do. */
        const engine = {
          ...testEngine,
          tellOutages: (tell: TellOutage) =>
            Effect.gen(function* () {
              const [outage] = outages
              if (outage === undefined) return yield* Queue.offer(turns, "nothing to tell")
              const told = yield* Effect.exit(tell(outage))
              if (Exit.isSuccess(told)) outages.shift()
              yield* Queue.offer(turns, Exit.isSuccess(told) ? "told" : "failed")
              return yield* told
            })
        }
        const next = Effect.zipRight(TestClock.adjust("5 seconds"), Queue.take(turns))

        yield* Effect.provideService(agentOutages, ProvisionerEngines, [engine])
        expect(yield* Queue.take(turns)).toBe("told")
        // The store takes no second line of this level
        yield* agent.act((self) => report(self, { log_source_id: undefined, logs: [{ level: "error", output: "its own" }] }))
        yield* sql`CREATE UNIQUE INDEX one_of_a_level ON workspace_agent_logs (level)`
        expect(yield* next).toBe("failed")
        yield* sql`DROP INDEX one_of_a_level`
        expect(yield* next).toBe("told")
        expect(yield* next).toBe("nothing to tell")
        const lines = yield* after(agent.id, 0, 10)
        expect(lines.map(({ level, output }) => `${level}: ${output}`)).toStrictEqual(["error: its own", `error: ${message}`])
      })
    )
  })
}
