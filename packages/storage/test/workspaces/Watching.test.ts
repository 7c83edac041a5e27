/** Watched workspaces that nothing tells of. workspaces.md §6.2. */
import { setImmediate } from "node:timers/promises"
import { Access, testActor } from "@atelier/core/access"
import { AgentRepository } from "@atelier/core/agents"
import { Ids, Timestamp, Uuid } from "@atelier/core/platform"
import { WorkspaceRepository, Workspaces } from "@atelier/core/workspaces"
import { expect, layer } from "@effect/vitest"
import { Context, Effect, type Exit, Layer, Stream, TestClock } from "effect"
import { aBuild, aWorkspace } from "../../../../test/records/agentWorkspaces.js"
import { anAgent, aResource } from "../../../../test/records/resources.js"
import { databases } from "../../../../test/store/databases.js"
import { agentServices } from "../agents/services.js"

/** The workspaces that were read as a whole, and those whose states were read. */
class Read extends Context.Tag("Read")<Read, Record<"wholes" | "states", Array<Uuid.Uuid>>>() {}

/** Records what is read of workspaces. */
const recording = Layer.effect(
  WorkspaceRepository,
  Effect.gen(function* () {
    const repository = yield* WorkspaceRepository
    const { states, wholes } = yield* Read
    const { detailsOf, statesOf } = repository
    const recorded: Pick<typeof repository, "detailsOf" | "statesOf"> = {
      detailsOf: (ids) => Effect.tap(detailsOf(ids), () => Effect.sync(() => wholes.push(...ids))),
      statesOf: (ids) => Effect.tap(statesOf(ids), () => Effect.sync(() => states.push(...ids)))
    }
    return { ...repository, ...recorded }
  })
).pipe(Layer.provideMerge(Layer.sync(Read, () => ({ states: [], wholes: [] }))))

/** Workspaces with a connected agent, and what a watcher of each was told. */
const watchedWorkspaces = (count: number) =>
  Effect.gen(function* () {
    const agents = yield* AgentRepository
    const { watch } = yield* Workspaces
    const made = yield* Effect.forEach(Array.from({ length: count }), () =>
      Effect.gen(function* () {
        const stored = yield* aWorkspace()
        const built = yield* aBuild(stored, { resources: [aResource({ agents: [anAgent()] })] })
        const sign = { agentId: built.agents[0]?.id ?? Uuid.nil, connectionId: yield* (yield* Ids).next }
        yield* agents.connect([sign], yield* Timestamp.now)
        const actor = testActor({ userId: stored.owner.id, siteRoles: ["owner"] })
        const { values } = yield* Access.actingAs(actor)(watch(stored.workspace.id))
        const told: Array<Exit.Exit<unknown, unknown>> = []
        yield* Effect.forkScoped(Stream.runForEach(values, (view) => Effect.sync(() => void told.push(view))))
        return { workspace: stored.workspace, sign, told }
      })
    )
    /** Half a minute, in which the agents go on. */
    const halfMinute = Effect.gen(function* () {
      yield* TestClock.adjust("15 seconds")
      yield* agents.touch(
        made.map(({ sign }) => ({ ...sign, isHeard: true })),
        yield* Timestamp.now
      )
      yield* TestClock.adjust("15 seconds")
    })
    yield* until(() => made.every(({ told }) => told.length === 1))
    return { made, counts: () => made.map(({ told }) => told.length), halfMinute }
  })

/** Waits, in turns of the event loop, in which answers of the store arrive. */
const until = (isReached: () => boolean): Effect.Effect<void> =>
  Effect.repeat(
    Effect.promise(() => setImmediate()),
    { until: isReached }
  )

for (const [name, database] of databases) {
  layer(Workspaces.layer.pipe(Layer.provideMerge(recording), Layer.provideMerge(agentServices(database))))(
    `watched workspaces on ${name}`,
    (it) => {
      it.scoped("are told after half a minute only of a change that has had no event", () =>
        Effect.gen(function* () {
          const { counts, halfMinute, made } = yield* watchedWorkspaces(3)
          const { updateSettings } = yield* WorkspaceRepository
          for (const [round, autostart_schedule] of ["CRON_TZ=UTC 30 9 * * 1-5", "CRON_TZ=UTC 30 8 * * 1-5"].entries()) {
            const [first] = made
            if (first === undefined) return yield* Effect.dieMessage("there is no workspace")
            yield* updateSettings({ ...first.workspace, autostart_schedule })
            yield* halfMinute
            yield* until(() => first.told.length > 1 + round)
            expect(counts()).toStrictEqual([2 + round, 1, 1])
            expect(first.told.at(-1)).toMatchObject({ value: { autostart_schedule } })
          }
        })
      )

      it.scoped("are read as a whole once more, and then only after changes", () =>
        Effect.gen(function* () {
          const { halfMinute, made } = yield* watchedWorkspaces(2)
          const { updateSettings } = yield* WorkspaceRepository
          const [first, second] = made
          if (first === undefined || second === undefined) return yield* Effect.dieMessage("there are no workspaces")
          const { states, wholes } = yield* Read
          const timesOf = (ids: ReadonlyArray<Uuid.Uuid>) => made.map(({ workspace }) => ids.filter((id) => id === workspace.id).length)
          expect(timesOf(wholes)).toStrictEqual([1, 1])
          yield* halfMinute
          // Before the whole and behind it
          yield* until(() => timesOf(states).every((times) => times === 2))
          expect(timesOf(wholes)).toStrictEqual([2, 2])
          yield* halfMinute
          yield* until(() => timesOf(states).every((times) => times === 3))
          yield* updateSettings({ ...first.workspace, autostart_schedule: "CRON_TZ=UTC 30 9 * * 1-5" })
          yield* halfMinute
          yield* until(() => first.told.length === 2)
          expect(timesOf(wholes)[1]).toBe(2)
          expect(second.told).toHaveLength(1)
        })
      )

      it.scoped("are told of an agent that is not heard of any more", () =>
        Effect.gen(function* () {
          const { made } = yield* watchedWorkspaces(1)
          yield* TestClock.adjust("1 minutes")
          yield* until(() => made.every(({ told }) => told.length > 1))
          const resources = [{ agents: [{ status: "disconnected" }] }]
          expect(made[0]?.told.at(-1)).toMatchObject({ value: { latest_build: { resources } } })
        })
      )
    }
  )
}
