import { AgentLogRepository, AgentLogs, maximumLogsLength } from "@atelier/core/agents"
import { Access, SystemActor } from "@atelier/core/access"
import { EventBus, Timestamp, Uuid } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Array as Arr, Effect, Exit, Option, Queue, Stream } from "effect"
import { aBuild } from "../../../../../test/records/agentWorkspaces.js"
import { databases } from "../../../../../test/store/databases.js"
import { statementsOf } from "../../../../../test/store/statements.js"
import { whilePassing } from "../../../../../test/store/time.js"
import { aRunningAgent, aToken, rowOf } from "../runningAgent.js"
import { agentServices } from "../services.js"
import { Statements } from "../../../src/platform/Statements.js"

for (const [name, database] of databases) {
  layer(agentServices(database))(`logs on ${name}`, (it) => {
    const batchOf = (agent_id: Uuid.Uuid, outputs: Arr.NonEmptyReadonlyArray<string>) =>
      Effect.map(Timestamp.now, (created_at) => ({
        agent_id,
        source_id: agent_id,
        created_at,
        lines: Arr.map(outputs, (output) => ({ level: "info" as const, output })),
        bytes: outputs.join("").length,
        afterOverflow: true
      }))

    const line = { level: "info", output: "line" }

    /** The statements of a report, but for those that send events, as PostgreSQL does. */
    const statementsFor = (agent: Effect.Effect.Success<ReturnType<typeof aRunningAgent>>, count: number) =>
      Effect.gen(function* () {
        const { report } = yield* AgentLogs
        const logs = Array.from({ length: count }, () => line)
        const { statements, value } = yield* agent.act((self) => statementsOf(report(self, { log_source_id: aToken(), logs })))
        return { ...value, statements: statements.filter(({ text }) => !text.includes("pg_notify")).length }
      })

    it.effect("take one statement for up to 2,000 lines, and more for more", () =>
      Effect.gen(function* () {
        const agent = yield* aRunningAgent()
        const each = name === "PostgreSQL" ? 1 : 2
        for (const [count, times] of [
          [1, 1],
          [2000, 1],
          [4001, 3]
        ] as const) {
          expect(yield* statementsFor(agent, count)).toStrictEqual({ log_limit_exceeded: false, statements: times * each })
        }
      })
    )

    it.effect("take no statement for the rest of a batch once they are full", () =>
      Effect.gen(function* () {
        const agent = yield* aRunningAgent()
        const { after } = yield* AgentLogRepository
        const { report } = yield* AgentLogs
        const filling = Array.from({ length: 2000 }, () => ({ level: "info", output: "x".repeat(516) }))
        yield* agent.act((self) => report(self, { log_source_id: aToken(), logs: filling }))
        // 4,000 of these lines fit; the last statement notes the overflow
        const statements = name === "PostgreSQL" ? 4 : 6
        expect(yield* statementsFor(agent, 10_000)).toStrictEqual({ log_limit_exceeded: true, statements })
        expect(yield* after(agent.id, 0, 10_000)).toHaveLength(6000)
        expect(yield* statementsFor(agent, 10_000)).toStrictEqual({ log_limit_exceeded: true, statements: 2 })
      })
    )

    it.effect("are bounded in number too: empty lines have no bytes", () =>
      Effect.gen(function* () {
        const agent = yield* aRunningAgent()
        const { after, append } = yield* AgentLogRepository
        expect(yield* append(yield* batchOf(agent.id, ["", "", ""]), 3)).toStrictEqual(Option.some(0))
        expect(yield* append(yield* batchOf(agent.id, [""]), 3)).toStrictEqual(Option.none())
        expect(yield* append(yield* batchOf(agent.id, [""]), maximumLogsLength)).toStrictEqual(Option.some(0))
        expect(yield* after(agent.id, 0, 10)).toHaveLength(4)
      })
    )

    it.effect("have increasing times within one millisecond too", () =>
      Effect.gen(function* () {
        const agent = yield* aRunningAgent()
        const { after } = yield* AgentLogRepository
        const { report } = yield* AgentLogs
        const logs = Array.from({ length: 1500 }, () => ({ level: "info", output: "line" }))
        yield* agent.act((self) =>
          Effect.zipRight(report(self, { log_source_id: undefined, logs }), report(self, { log_source_id: undefined, logs }))
        )
        const micros = (yield* after(agent.id, 0, 3000)).map(({ created_at }) => Number(created_at.slice(20, -1).padEnd(6, "0")))
        const [first = 0] = micros
        expect(micros).toStrictEqual(Array.from({ length: 3000 }, (_, line) => first + line))
      })
    )

    it.effect("hold any text", () =>
      Effect.gen(function* () {
        const agent = yield* aRunningAgent()
        const { after } = yield* AgentLogRepository
        const { report } = yield* AgentLogs
        const outputs = [`'";--$1?`, "\\u0000 \\ \n\t", "日本 😀", "\u0001\u001b[0m"]
        yield* agent.act((self) => report(self, { log_source_id: undefined, logs: outputs.map((output) => ({ level: "info", output })) }))
        expect((yield* after(agent.id, 0, 10)).map(({ output }) => output)).toStrictEqual(outputs)
      })
    )

    it.effect("keep the level of each line", () =>
      Effect.gen(function* () {
        const agent = yield* aRunningAgent()
        const { after } = yield* AgentLogRepository
        const { report } = yield* AgentLogs
        const logs = ["info", "error", "info", "warn"].map((level) => ({ level, output: `of ${level}` }))
        yield* agent.act((self) => report(self, { log_source_id: undefined, logs }))
        expect((yield* after(agent.id, 0, 10)).map(({ level, output }) => ({ level, output }))).toStrictEqual(logs)
      })
    )

    it.effect("are read from rows that have a level and a time for each line", () =>
      Effect.gen(function* () {
        const agent = yield* aRunningAgent()
        const { after, append } = yield* AgentLogRepository
        const sql = yield* Statements
        yield* append(yield* batchOf(agent.id, ["first", "second"]), maximumLogsLength)
        const more = JSON.stringify([["warn", "older", "2026-01-31T23:59:59.000007Z"]])
        yield* sql`UPDATE workspace_agent_logs SET more = ${more} WHERE workspace_agent_id = ${agent.id}`
        const [, line] = yield* after(agent.id, 0, 10)
        expect(line).toMatchObject({ level: "warn", output: "older", created_at: "2026-01-31T23:59:59.000007Z" })
      })
    )

    it.effect("are readable beside lines that a newer version stores in another form", () =>
      Effect.gen(function* () {
        const agent = yield* aRunningAgent()
        const { after, append } = yield* AgentLogRepository
        const sql = yield* Statements
        yield* append(yield* batchOf(agent.id, ["first", "second", "third"]), maximumLogsLength)
        const more = JSON.stringify([{ output: "newer" }, "third"])
        yield* sql`UPDATE workspace_agent_logs SET more = ${more} WHERE workspace_agent_id = ${agent.id}`
        const lines = yield* after(agent.id, 0, 10)
        expect(lines.map(({ output }) => output)).toStrictEqual(["first", "(This line was stored by a newer version.)", "third"])
      })
    )

    it.effect("are read from any line on, also within a batch, and beside rows of one line", () =>
      Effect.gen(function* () {
        const [agent, other] = [yield* aRunningAgent(), yield* aRunningAgent()]
        const { after, append } = yield* AgentLogRepository
        const store = (id: Uuid.Uuid, outputs: Arr.NonEmptyReadonlyArray<string>) =>
          Effect.flatMap(batchOf(id, outputs), (batch) => append(batch, maximumLogsLength))
        const outputsOf = (after: Effect.Effect<ReadonlyArray<{ readonly output: string }>>) =>
          Effect.map(after, (lines) => lines.map(({ output }) => output))
        yield* store(agent.id, ["1"])
        yield* store(agent.id, ["2", "3", "4"])
        yield* store(other.id, ["other"])
        yield* store(agent.id, ["5", "6"])
        const lines = yield* after(agent.id, 0, 10)
        expect(lines.map(({ output }) => output)).toStrictEqual(["1", "2", "3", "4", "5", "6"])
        expect(lines.map(({ id }) => id)).toStrictEqual(lines.map(({ id }) => id).toSorted((left, right) => left - right))
        for (const [index, { id }] of lines.entries()) {
          expect(yield* outputsOf(after(agent.id, id, 2))).toStrictEqual(["1", "2", "3", "4", "5", "6"].slice(index + 1, index + 3))
        }
        expect(yield* outputsOf(after(other.id, 0, 10))).toStrictEqual(["other"])
      })
    )

    it.effect("fill rows of at most a hundred lines", () =>
      Effect.gen(function* () {
        const agent = yield* aRunningAgent()
        const { after, append } = yield* AgentLogRepository
        const sql = yield* Statements
        const outputs = Arr.makeBy(250, String)
        yield* append(yield* batchOf(agent.id, outputs), maximumLogsLength)
        yield* append(yield* batchOf(agent.id, Arr.makeBy(100, String)), maximumLogsLength)
        const rows = yield* sql`SELECT id, lines FROM workspace_agent_logs WHERE workspace_agent_id = ${agent.id} ORDER BY id`
        expect(rows.map(({ lines }) => lines)).toStrictEqual([100, 100, 50, 100])
        const lines = yield* after(agent.id, 0, 250)
        expect(lines.map(({ output }) => output)).toStrictEqual(outputs)
        const [first] = lines
        expect(lines.map(({ id }) => id - (first?.id ?? 0))).toStrictEqual(Arr.makeBy(250, (line) => line))
        // From within a row, over the next, to within the one after that
        expect((yield* after(agent.id, lines[49]?.id ?? 0, 175)).map(({ output }) => output)).toStrictEqual(outputs.slice(50, 225))
      })
    )

    it.effect("are read without the rows behind a page", () =>
      Effect.gen(function* () {
        const agent = yield* aRunningAgent()
        const { after, append } = yield* AgentLogRepository
        const sql = yield* Statements
        yield* append(
          yield* batchOf(
            agent.id,
            Arr.makeBy(500, () => "")
          ),
          maximumLogsLength
        )
        const lines = yield* after(agent.id, 0, 500)
        // The line at which the page ends is in the second row
        yield* sql`UPDATE workspace_agent_logs SET more = 'unreadable' WHERE workspace_agent_id = ${agent.id} AND id > ${lines[200]?.id ?? 0}`
        expect(yield* after(agent.id, 0, 150)).toStrictEqual(lines.slice(0, 150))
        expect(yield* after(agent.id, lines[49]?.id ?? 0, 150)).toStrictEqual(lines.slice(50, 200))
        expect(Exit.isFailure(yield* Effect.exit(after(agent.id, 0, 201)))).toBe(true)
      })
    )

    it.effect("are read in two steps where a page has many rows of few lines", () =>
      Effect.gen(function* () {
        const [full, short] = [yield* aRunningAgent(), yield* aRunningAgent()]
        const { after, append } = yield* AgentLogRepository
        const outputs = Arr.makeBy(1100, String)
        yield* append(yield* batchOf(full.id, outputs), maximumLogsLength)
        for (const output of outputs.slice(0, 40)) yield* append(yield* batchOf(short.id, [output]), maximumLogsLength)
        yield* append(yield* batchOf(short.id, ["last", "line"]), maximumLogsLength)
        const page = (agent: { readonly id: Uuid.Uuid }, limit: number) =>
          Effect.map(statementsOf(after(agent.id, 0, limit)), ({ statements, value }) => ({
            statements: statements.length,
            outputs: value.map(({ output }) => output)
          }))
        expect(yield* page(full, 1000)).toStrictEqual({ statements: 1, outputs: outputs.slice(0, 1000) })
        expect(yield* page(short, 1000)).toStrictEqual({ statements: 2, outputs: [...outputs.slice(0, 40), "last", "line"] })
        expect(yield* page(short, 41)).toStrictEqual({ statements: 2, outputs: [...outputs.slice(0, 40), "last"] })
      })
    )

    const followed = (agent: { readonly id: Uuid.Uuid }) =>
      Effect.gen(function* () {
        const { follow } = yield* AgentLogs
        const { values: batches } = yield* Access.actingAs(SystemActor.systemRestricted)(follow(agent.id, 0))
        const received = yield* Queue.unbounded<ReadonlyArray<string> | "end">()
        yield* batches.pipe(
          Stream.runForEach((logs) =>
            Queue.offer(
              received,
              logs.map(({ output }) => output)
            )
          ),
          Effect.ensuring(Queue.offer(received, "end")),
          Effect.forkScoped
        )
        return Queue.take(received)
      })

    it.scoped("are read again by followers who missed events", () =>
      Effect.gen(function* () {
        const agent = yield* aRunningAgent()
        const { append } = yield* AgentLogRepository
        const next = yield* followed(agent)
        expect(yield* next).toStrictEqual([])
        yield* append(yield* batchOf(agent.id, ["unannounced"]), maximumLogsLength)
        // What cannot be understood counts as lost
        yield* (yield* EventBus).publish(`agent-logs:${agent.id}`, "?")
        expect(yield* next).toStrictEqual(["unannounced"])
      })
    )

    it.scoped("are looked for every minute, and so is a newer build", () =>
      Effect.gen(function* () {
        const agent = yield* aRunningAgent()
        const { append } = yield* AgentLogRepository
        const next = yield* followed(agent)
        expect(yield* next).toStrictEqual([])
        yield* append(yield* batchOf(agent.id, ["unannounced"]), maximumLogsLength)
        expect(yield* whilePassing("60 seconds", next)).toStrictEqual(["unannounced"])
        yield* aBuild(agent, { status: "pending" })
        yield* append(yield* batchOf(agent.id, ["last words"]), maximumLogsLength)
        expect(yield* whilePassing("60 seconds", next)).toStrictEqual(["last words"])
        expect(yield* next).toBe("end")
      })
    )

    it.scoped("reach followers in batches of a thousand, each line once", () =>
      Effect.gen(function* () {
        const agent = yield* aRunningAgent()
        const { report } = yield* AgentLogs
        const outputs = Array.from({ length: 2500 }, (_, index) => String(index))
        yield* agent.act((self) => report(self, { log_source_id: undefined, logs: outputs.map((output) => ({ level: "", output })) }))
        const next = yield* followed(agent)
        const seen: Array<string> = []
        while (seen.length < outputs.length) {
          const batch = yield* next
          expect(batch.length).toBeLessThanOrEqual(1000)
          seen.push(...batch)
        }
        expect(seen).toStrictEqual(outputs)
        expect((yield* rowOf(agent.id)).logs_length).toBe(outputs.join("").length)
      })
    )
  })
}
