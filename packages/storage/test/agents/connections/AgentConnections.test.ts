import { AgentConnections, AgentRepository, type AgentWorkspace, type Retired, statusAt } from "@atelier/core/agents"
import { Events, Ids, StoreUnavailable, Timestamp } from "@atelier/core/platform"
import { workspaceEvents } from "@atelier/core/workspaces"
import { expect, layer } from "@effect/vitest"
import { Chunk, Clock, Context, Deferred, Duration, Effect, Exit, Fiber, Layer, Logger, Metric, Option, Stream, TestClock } from "effect"
import { aBuild } from "../../../../../test/records/agentWorkspaces.js"
import { databases, type sqlite } from "../../../../../test/store/databases.js"
import { Statements } from "../../../src/platform/Statements.js"
import { aRunningAgent, rowOf, until } from "../runningAgent.js"
import { agentServices } from "../services.js"

/** Whether the store is away for the signs of life of agents. */
let isAway = false

/** The agents whose connections were stored together, and one that cannot be. */
let connected: Array<ReadonlyArray<string>> = []
let refused: string | undefined

/** What the store waits for before it notes that a connection has ended. */
let mayEnd: Effect.Effect<void> = Effect.void

/** The agents whose signs of life were stored together. */
let touched: Array<ReadonlyArray<string>> = []

const failing = <E>(database: Layer.Layer<Layer.Layer.Success<typeof sqlite>, E>) =>
  Layer.map(database, (context) => {
    const repository = Context.get(context, AgentRepository)
    const touch: typeof repository.touch = (signs, at) =>
      Effect.suspend(() => {
        if (isAway) return Effect.die(new StoreUnavailable({ reason: "away", cause: undefined }))
        touched.push(signs.map(({ agentId }) => agentId))
        return repository.touch(signs, at)
      })
    const connect: typeof repository.connect = (connections, at) =>
      Effect.suspend(() => {
        const ids = connections.map(({ agentId }) => agentId)
        connected.push(ids)
        return ids.some((id) => id === refused) ? Effect.die("no such agent") : repository.connect(connections, at)
      })
    const disconnect: typeof repository.disconnect = (...given) =>
      Effect.zipRight(Effect.uninterruptible(mayEnd), repository.disconnect(...given))
    return Context.add(context, AgentRepository, { ...repository, connect, disconnect, touch })
  })

/** Keeps an agent connected, and answers why the connection has to be closed. */
const monitoring = Effect.map(
  AgentConnections,
  ({ connect }) =>
    (current: () => AgentWorkspace, ping: Effect.Effect<unknown, unknown>) =>
      Effect.scoped(
        Effect.gen(function* () {
          const retired = yield* Deferred.make<Retired>()
          yield* connect(current, ping, (why) => Deferred.unsafeDone(retired, Effect.succeed(why)))
          return yield* Deferred.await(retired)
        })
      )
)

/** Waits until the next check sleeps until it is due: it may wait for the store, and a clock that moved before that would make it late. */
const untilAsleep = Effect.gen(function* () {
  const now = yield* Clock.currentTimeMillis
  yield* until(TestClock.sleeps(), (times) => Chunk.some(times, (time) => time > now && time <= now + 15_000))
})

for (const [name, database] of databases) {
  layer(agentServices(failing(database)))(`connections on ${name}`, (it) => {
    /** Watches an agent whose answers to pings are given. */
    const monitored = (ping: Effect.Effect<unknown, unknown>) =>
      Effect.gen(function* () {
        const agent = yield* aRunningAgent()
        const events = yield* Events.subscribe(workspaceEvents(agent.owner.id))
        const monitor = yield* monitoring
        const fiber = yield* Effect.fork(agent.act((self) => monitor(() => self, ping)))
        const connected = yield* Stream.runHead(events)
        yield* untilAsleep
        return { ...agent, connected, fiber }
      })

    it.scoped("are noted when they begin, every 15 seconds, and when they end", () =>
      Effect.gen(function* () {
        const began = yield* Timestamp.now
        const { connected, fiber, id, owner, workspace } = yield* monitored(Effect.void)
        expect(connected).toStrictEqual(
          Option.some({ _tag: "Event", event: { kind: "agt_connection_update", workspace_id: workspace.id, agent_id: id } })
        )
        expect(yield* rowOf(id)).toMatchObject({ first_connected_at: began, last_connected_at: began, disconnected_at: null })
        for (let seconds = 15; seconds <= 60; seconds += 15) {
          yield* TestClock.adjust("15 seconds")
          const seen = Timestamp.plus(began, `${seconds} seconds`)
          expect(yield* until(rowOf(id), ({ last_connected_at }) => last_connected_at === seen)).toMatchObject({
            first_connected_at: began
          })
          yield* untilAsleep
        }
        const events = yield* Events.subscribe(workspaceEvents(owner.id))
        yield* TestClock.adjust("1 second")
        const ended = yield* Timestamp.now
        yield* Fiber.interrupt(fiber)
        expect(yield* rowOf(id)).toMatchObject({ last_connected_at: Timestamp.plus(began, "60 seconds"), disconnected_at: ended })
        expect(yield* Stream.runHead(events)).toMatchObject(Option.some({ event: { kind: "agt_connection_update" } }))
      })
    )

    it.scoped("are noted together when agents connect at the same time", () =>
      Effect.gen(function* () {
        const [first, second, third] = yield* Effect.all([aRunningAgent(), aRunningAgent(), aRunningAgent()])
        const { connect } = yield* AgentConnections
        const selves = yield* Effect.forEach([first, second, third, first], ({ act }) => act((self) => Effect.succeed(self)))
        connected = []
        refused = second.id
        const connecting = (self: AgentWorkspace) =>
          Effect.exit(
            connect(
              () => self,
              Effect.void,
              () => undefined
            )
          )
        const exits = yield* Effect.forEach(selves, connecting, { concurrency: "unbounded" })
        refused = undefined
        expect(exits.map(Exit.isSuccess)).toStrictEqual([true, false, true, true])
        expect(connected[0]).toStrictEqual([first.id, second.id, third.id])
        expect(connected.slice(1).toSorted()).toStrictEqual([[first.id], [second.id], [third.id]].toSorted())
        const now = yield* Timestamp.now
        for (const { id } of [first, third]) expect(yield* rowOf(id)).toMatchObject({ first_connected_at: now, last_connected_at: now })
        expect((yield* rowOf(second.id)).first_connected_at).toBeNull()
      })
    )

    it.scoped("are noted again after the store has failed", () =>
      Effect.gen(function* () {
        const { fiber, id } = yield* monitored(Effect.void)
        const began = (yield* rowOf(id)).last_connected_at
        isAway = true
        yield* TestClock.adjust("31 seconds")
        isAway = false
        expect((yield* rowOf(id)).last_connected_at).toBe(began)
        yield* TestClock.adjust("20 seconds")
        yield* until(rowOf(id), ({ last_connected_at }) => last_connected_at !== began)
        expect(yield* Fiber.poll(fiber)).toStrictEqual(Option.none())
      }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
    )

    it.scoped("end when the agent has not answered for 30 seconds", () =>
      Effect.gen(function* () {
        const { fiber, id } = yield* monitored(Effect.never)
        const start = yield* Clock.currentTimeMillis
        for (let round = 1; round <= 2; round++) {
          yield* TestClock.adjust("15 seconds")
          yield* until(rowOf(id), ({ last_connected_at }) => last_connected_at === Timestamp.fromMillis(start + round * 15_000))
          yield* untilAsleep
        }
        yield* TestClock.adjust("15 seconds")
        expect(yield* Fiber.join(fiber)).toBe("unresponsive")
        expect((yield* rowOf(id)).disconnected_at).toBe(yield* Timestamp.now)
      })
    )

    it.scoped("are noted together, those of agents that are due at the same time", () =>
      Effect.gen(function* () {
        const agents = yield* Effect.all([monitored(Effect.void), monitored(Effect.void), monitored(Effect.void)])
        const began = yield* Timestamp.now
        touched = []
        yield* TestClock.adjust("15 seconds")
        for (const { id } of agents) yield* until(rowOf(id), ({ last_connected_at }) => last_connected_at !== began)
        expect(touched.filter((ids) => agents.some(({ id }) => ids.includes(id)))).toHaveLength(1)
      })
    )

    it.scoped("end when a newer build has begun", () =>
      Effect.gen(function* () {
        const agent = yield* monitored(Effect.void)
        yield* aBuild(agent, { status: "pending" })
        yield* TestClock.adjust("15 seconds")
        expect(yield* Fiber.join(agent.fiber)).toBe("outdated")
      })
    )

    it.scoped("make the agent connected after a clock was set back", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const { act, fiber, id } = yield* monitored(Effect.void)
        const monitor = yield* monitoring
        yield* Fiber.interrupt(fiber)
        const endsIn = (time: Duration.DurationInput) =>
          Effect.flatMap(
            Timestamp.now,
            (now) => sql`UPDATE workspace_agents SET disconnected_at = ${Timestamp.plus(now, time)} WHERE id = ${id}`
          )
        yield* endsIn("1 hour")
        yield* Effect.fork(act((self) => monitor(() => self, Effect.void)))
        yield* until(rowOf(id), ({ disconnected_at }) => disconnected_at === null)
        yield* untilAsleep
        yield* endsIn("1 hour")
        yield* TestClock.adjust("15 seconds")
        yield* until(rowOf(id), ({ disconnected_at }) => disconnected_at === null)
        yield* untilAsleep
        // The end of a connection may be stored before its last sign of life
        yield* endsIn("16 seconds")
        const before = (yield* rowOf(id)).last_connected_at
        yield* TestClock.adjust("15 seconds")
        expect((yield* until(rowOf(id), ({ last_connected_at }) => last_connected_at !== before)).disconnected_at).not.toBeNull()
      })
    )

    it.scoped("end half a minute after they ended if the store does not note it", () =>
      Effect.gen(function* () {
        const { fiber } = yield* monitored(Effect.void)
        const answer = yield* Deferred.make<void>()
        const asked = yield* Deferred.make<void>()
        mayEnd = Effect.zipRight(Deferred.succeed(asked, undefined), Deferred.await(answer))
        const ending = yield* Effect.fork(Fiber.interrupt(fiber))
        yield* Deferred.await(asked)
        yield* Effect.replicateEffect(TestClock.adjust("1 second"), 31)
        const hasEnded = ending.unsafePoll() !== null
        mayEnd = Effect.void
        yield* Deferred.succeed(answer, undefined)
        yield* Fiber.join(ending)
        expect(hasEnded).toBe(true)
      })
    )

    it.scoped("that were replaced do not make the agent disconnected", () =>
      Effect.gen(function* () {
        const { act, fiber, id } = yield* monitored(Effect.void)
        const monitor = yield* monitoring
        const first = (yield* rowOf(id)).last_connected_at
        yield* TestClock.adjust("1 second")
        const latter = yield* Effect.fork(act((self) => monitor(() => self, Effect.void)))
        yield* until(rowOf(id), ({ last_connected_at }) => last_connected_at !== first)
        yield* Fiber.interrupt(fiber)
        expect((yield* rowOf(id)).disconnected_at).toBeNull()
        yield* Fiber.interrupt(latter)
        expect((yield* rowOf(id)).disconnected_at).not.toBeNull()
      })
    )

    it.scoped("that were replaced do not make the agent connected again", () =>
      Effect.gen(function* () {
        const { act, fiber, id } = yield* monitored(Effect.never)
        const monitor = yield* monitoring
        const first = (yield* rowOf(id)).last_connected_at
        yield* TestClock.adjust("1 second")
        const latter = yield* Effect.fork(act((self) => monitor(() => self, Effect.void)))
        const { last_connected_at } = yield* until(rowOf(id), (row) => row.last_connected_at !== first)
        yield* Fiber.interrupt(latter)
        yield* until(Effect.zipRight(TestClock.adjust("15 seconds"), Fiber.poll(fiber)), Option.isSome)
        expect((yield* rowOf(id)).last_connected_at).toBe(last_connected_at)
      })
    )

    it.scoped("keep the agent connected after another one that was noted late, and has ended", () =>
      Effect.gen(function* () {
        const { act, fiber, id } = yield* monitored(Effect.void)
        yield* Fiber.interrupt(fiber)
        const { connect } = yield* AgentConnections
        const repository = yield* AgentRepository
        const { next } = yield* Ids
        yield* Effect.fork(
          act((self) =>
            Effect.scoped(
              Effect.zipRight(
                connect(
                  () => self,
                  Effect.never,
                  () => undefined,
                  () => true
                ),
                Effect.never
              )
            )
          )
        )
        yield* until(rowOf(id), ({ disconnected_at }) => disconnected_at === null)
        yield* untilAsleep
        // The process to which the agent connected before notes it only now, and its end
        const stale = yield* next
        yield* TestClock.adjust("1 second")
        yield* repository.connect([{ agentId: id, connectionId: stale }], yield* Timestamp.now)
        expect(yield* repository.disconnect(id, stale, yield* Timestamp.now)).toBe(true)
        const statusNow = Effect.map(
          Effect.all([rowOf(id), Timestamp.now]),
          ([row, now]) => statusAt(row, now, Duration.seconds(30)).status
        )
        expect(yield* statusNow).toBe("disconnected")
        yield* TestClock.adjust("15 seconds")
        yield* until(statusNow, (status) => status === "connected")
        const { last_connected_at } = yield* rowOf(id)
        yield* untilAsleep
        yield* TestClock.adjust("15 seconds")
        yield* until(rowOf(id), (row) => row.last_connected_at !== last_connected_at)
      })
    )

    it.scoped("are observed when they are the agent's first", () =>
      Effect.gen(function* () {
        const agent = yield* aRunningAgent({ name: `slow-${name.toLowerCase()}` })
        const monitor = yield* monitoring
        yield* TestClock.adjust("40 seconds")
        for (let connection = 0; connection < 2; connection++) {
          const fiber = yield* Effect.fork(agent.act((self) => monitor(() => self, Effect.void)))
          yield* until(rowOf(agent.id), ({ last_connected_at }) => last_connected_at !== null)
          yield* Fiber.interrupt(fiber)
          yield* TestClock.adjust("1 second")
        }
        const observed = (yield* Metric.snapshot).flatMap(({ metricKey, metricState }) =>
          metricKey.name === "agents_first_connection_seconds" && metricKey.tags.some(({ value }) => value === `slow-${name.toLowerCase()}`)
            ? [metricState]
            : []
        )
        expect(observed).toMatchObject([{ count: 1, sum: 40 }])
      })
    )
  })
}
