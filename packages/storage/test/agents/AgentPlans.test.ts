import { AgentLogRepository, AgentMetadataRepository, AgentRepository, BuildResourceRepository } from "@atelier/core/agents"
import { Timestamp } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { sqlite } from "../../../../test/store/databases.js"
import { planOf, statementsOf } from "../../../../test/store/statements.js"
import { aRunningAgent } from "./runningAgent.js"
import { agentServices } from "./services.js"

layer(agentServices(sqlite))("what is asked about agents", (it) => {
  it.effect("reads no whole table", () =>
    Effect.gen(function* () {
      const { first, id, token, workspace } = yield* aRunningAgent()
      const agents = yield* AgentRepository
      const logs = yield* AgentLogRepository
      const metadata = yield* AgentMetadataRepository
      const resources = yield* BuildResourceRepository
      const now = yield* Timestamp.now
      const source = { workspace_agent_id: id, id: token, created_at: now, display_name: "", icon: "" }
      const { statements } = yield* statementsOf(
        Effect.all([
          agents.byToken(new Uint8Array(32)),
          agents.byId(id),
          agents.isLatest(id),
          agents.latestAmong([id]),
          agents.touch([{ agentId: id, connectionId: token, isHeard: true }], now),
          agents.startsOf(first.build.job_id),
          agents.appsOf(id),
          agents.latestAppState(id),
          logs.addSource(source, 10),
          logs.sourcesOf(id),
          logs.append(
            { agent_id: id, source_id: id, created_at: now, lines: [{ level: "info", output: "x" }], bytes: 1, afterOverflow: false },
            10
          ),
          logs.after(id, 0, 10),
          metadata.ofAgent(id),
          metadata.update([{ workspace_agent_id: id, key: "x", value: "", error: "", collected_at: now }]),
          resources.ofJobs([first.build.job_id]),
          resources.ofAgent(id),
          resources.manifestOf(id),
          resources.deleteAgents(workspace.id, null)
        ])
      )
      for (const statement of statements) {
        // The items of a batch, what a statement has found, and the counters of the tables are read whole
        const scans = (yield* planOf(statement))
          .split("\n")
          .filter((line) => /^SCAN (?!item|json_each|CONSTANT|found_|\(subquery|sqlite_sequence)/.test(line))
        expect([statement.text, scans]).toStrictEqual([statement.text, []])
      }
    })
  )
})
