import { AgentMetadataRepository, MetadataReports } from "@atelier/core/agents"
import { Access, SystemActor } from "@atelier/core/access"
import { NotFound, Timestamp } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Clock, Effect, Exit, Queue, Ref, Stream, TestClock } from "effect"
import { setImmediate } from "node:timers/promises"
import { databases } from "../../../../../test/store/databases.js"
import { statementsOf } from "../../../../../test/store/statements.js"
import { aRunningAgent, until } from "../runningAgent.js"
import { agentServices } from "../services.js"

const item = (key: string, order: number) => ({ key, display_name: key.toUpperCase(), script: "true", interval: 10, timeout: 1, order })

for (const [name, database] of databases) {
  layer(agentServices(database))(`metadata on ${name}`, (it) => {
    const anObservedAgent = aRunningAgent({ metadata: [item("b", 1), item("a", 1), item("c", 0)] })
    const stored = (agent: { readonly id: Parameters<AgentMetadataRepository["Type"]["ofAgent"]>[0] }) =>
      Effect.flatMap(AgentMetadataRepository, (metadata) => metadata.ofAgent(agent.id))

    it.scoped("is stored within 5 seconds, the newest value of each key", () =>
      Effect.gen(function* () {
        const agent = yield* anObservedAgent
        const { report } = yield* MetadataReports
        const send = (...values: ReadonlyArray<readonly [key: string, value: string]>) =>
          agent.act((self) =>
            report(
              self,
              values.map(([key, value]) => ({ key, value, error: "" }))
            )
          )
        yield* send(["a", "old"], ["b", " kept\n"], ["nobody", "x"])
        yield* TestClock.adjust("1 second")
        yield* send(["a", "new"])
        const collected = yield* Timestamp.now
        expect((yield* stored(agent)).map(({ key, value }) => [key, value])).toStrictEqual([
          ["c", ""],
          ["a", ""],
          ["b", ""]
        ])
        yield* TestClock.adjust("5 seconds")
        const rows = yield* until(stored(agent), ([, a]) => a?.value !== "")
        expect(rows.map(({ collected_at, key, value }) => [key, value, collected_at])).toStrictEqual([
          ["c", "", Timestamp.never],
          ["a", "new", collected],
          ["b", "kept", Timestamp.minus(collected, "1 second")]
        ])
      })
    )

    it.scoped("is taken up to the key that is too much, and the report refused", () =>
      Effect.gen(function* () {
        const long = ["x", "y", "z"].map((letter) => letter.repeat(127))
        const agent = yield* aRunningAgent({ metadata: long.map((key, order) => item(key, order)) })
        const { report } = yield* MetadataReports
        const padding = Array.from({ length: 46 }, (_, index) => String(index).padEnd(128, "p"))
        const keys = [...long.slice(0, 2), ...padding, ...long.slice(2)]
        const values = keys.map((key) => ({ key, value: "v", error: "" }))
        const error = yield* Effect.flip(agent.act((self) => report(self, values)))
        expect(error).toMatchObject({ _tag: "Invalid", message: expect.stringMatching(/6269.*6144/) })
        yield* TestClock.adjust("5 seconds")
        const rows = yield* until(stored(agent), ([first]) => first?.value !== "")
        expect(rows.map(({ value }) => value)).toStrictEqual(["v", "v", ""])
      })
    )

    it.scoped("is watched: at once, a second after a change, and every 5 seconds", () =>
      Effect.gen(function* () {
        const agent = yield* anObservedAgent
        const { report, watch } = yield* MetadataReports
        const { values: views } = yield* Access.actingAs(SystemActor.systemRestricted)(watch(agent.id))
        const received = yield* Queue.unbounded<ReadonlyArray<readonly [value: string, age: number]>>()
        yield* Effect.forkScoped(
          Stream.runForEach(views, (view) =>
            Queue.offer(
              received,
              view.map(({ result }) => [result.value, result.age] as const)
            )
          )
        )
        const take = Queue.take(received)
        const second = Effect.zipRight(Effect.promise(setImmediate), TestClock.adjust("1 second"))
        // A round ends a little before its second, and the next begins then: the clock waits for it, or it would step over rounds
        const round = Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const sleeps = Effect.zipRight(Effect.promise(setImmediate), TestClock.sleeps())
          return Effect.zipRight(
            until(sleeps, (ends) => [...ends].some((end) => end > now && end < now + 1_000)),
            second
          )
        })
        expect((yield* take).map(([value]) => value)).toStrictEqual(["", "", ""])
        yield* Effect.repeatN(round, 4)
        expect((yield* take).map(([value]) => value)).toStrictEqual(["", "", ""])
        const collected = yield* Clock.currentTimeMillis
        yield* agent.act((self) => report(self, [{ key: "c", value: "hot", error: "" }]))
        const seen = yield* until(Effect.raceFirst(take, Effect.forever(second)), ([first]) => first?.[0] === "hot")
        const age = ((yield* Clock.currentTimeMillis) - collected) / 1_000
        expect(seen[0]?.[1]).toBeLessThanOrEqual(age)
      })
    )

    it.scoped("is read once for a hundred watchers", () =>
      Effect.gen(function* () {
        const agent = yield* anObservedAgent
        const { report, watch } = yield* MetadataReports
        const watchers = 100
        const seen = yield* Ref.make(0)
        const isHot = ([first]: ReadonlyArray<{ readonly result: { readonly value: string } }>) => first?.result.value === "hot"
        const { statements } = yield* statementsOf(
          Effect.gen(function* () {
            const follow = Effect.flatMap(Access.actingAs(SystemActor.systemRestricted)(watch(agent.id)), ({ values }) =>
              Stream.runForEach(values, (view) => (isHot(view) ? Ref.update(seen, (count) => count + 1) : Effect.void))
            )
            yield* Effect.forEach(Array.from({ length: watchers }), () => Effect.forkScoped(follow), { discard: true })
            yield* agent.act((self) => report(self, [{ key: "c", value: "hot", error: "" }]))
            const second = Effect.zipRight(Effect.promise(setImmediate), TestClock.adjust("1 second"))
            yield* until(Effect.zipRight(second, Ref.get(seen)), (count) => count >= watchers)
          })
        )
        const reads = statements.filter(({ text }) => /^\s*SELECT[^]*FROM workspace_agent_metadata/.test(text))
        // One before the change, one after it, and those of whole rounds; a hundred times as many if each watcher read by itself
        expect(reads.length).toBeLessThan(50)
      })
    )

    it.effect("is shown to readers of the workspace alone", () =>
      Effect.gen(function* () {
        const agent = yield* anObservedAgent
        const stranger = yield* aRunningAgent()
        const { watch } = yield* MetadataReports
        const exit = yield* Effect.exit(stranger.act(() => watch(agent.id)))
        expect(Exit.isFailure(exit) && exit.cause).toMatchObject({ error: expect.any(NotFound) })
      })
    )
  })
}
