/**
 * Starts agents again that end without having been asked to, as long as this process lives.
 */
import type { Uuid } from "@atelier/core/platform"
import { Duration, Effect, FiberMap, Schedule, type Scope } from "effect"
import type { Launched } from "../engine/AgentProcess.js"
import { type ProcessIdentity, ProcessTable } from "../engine/ProcessTable.js"

/** A process and how its end is noticed. */
export type Watched = Pick<Launched, "pid" | "started" | "ended">

/** An agent that is watched. */
export interface Supervised {
  readonly workspaceId: Uuid.Uuid
  readonly agent: string
  /** By which the service knows it now; undefined for one that is not wanted any more. */
  readonly token: () => Uuid.Uuid | undefined
}

export interface Supervisors {
  /** Watches an agent's process. `restart` is asked for the next one, which is undefined when the agent is not wanted any more. */
  readonly watch: <E>(
    subject: Supervised,
    process: Watched,
    restart: (last: ProcessIdentity) => Effect.Effect<Watched | undefined, E, ProcessTable>
  ) => Effect.Effect<void>
  /** No agent of the workspace is watched any more. */
  readonly forget: (workspaceId: Uuid.Uuid) => Effect.Effect<void>
  /** The agents that are watched. */
  readonly watched: Effect.Effect<ReadonlyArray<Supervised>>
}

/** Unexpected ends in a row after which an agent is given up. */
const maximumRestarts = 10
/** An agent that ran this long is well again. */
const wellAfter = Duration.minutes(1)
const longestDelay = Duration.minutes(1)
/** How often processes that are not children of this one are looked at: the system announces the end of children alone. */
const lookInterval = Duration.seconds(1)

/** A process that another one started. */
export const adopted = (process: ProcessIdentity): Effect.Effect<Watched, never, ProcessTable> =>
  Effect.map(ProcessTable, (table) => ({
    ...process,
    ended: table
      .find(process.pid)
      .pipe(Effect.repeat({ while: (found) => found?.started === process.started, schedule: Schedule.spaced(lookInterval) }), Effect.asVoid)
  }))

/** `firstDelay` doubles with every end in a row. The supervisors end with the scope; the agents do not. */
export const makeSupervisors = (firstDelay: Duration.DurationInput): Effect.Effect<Supervisors, never, ProcessTable | Scope.Scope> =>
  Effect.gen(function* () {
    const context = yield* Effect.context<ProcessTable>()
    const fibers = yield* FiberMap.make<string>()
    const subjects = new Map<string, Supervised>()

    const watch: Supervisors["watch"] = (subject, first, restart) => {
      const { agent, workspaceId } = subject
      const key = `${workspaceId}/${agent}`
      return Effect.gen(function* () {
        let current = first
        for (let restarts = 1; ; restarts++) {
          const [lasted] = yield* Effect.timed(current.ended)
          if (Duration.greaterThanOrEqualTo(lasted, wellAfter)) restarts = 1
          if (restarts > maximumRestarts) return yield* Effect.logError("the agent keeps ending; it is not started again")
          const delay = Duration.min(Duration.times(firstDelay, 2 ** (restarts - 1)), longestDelay)
          yield* Effect.logWarning(`the agent has ended; it is started again in ${Duration.format(delay)}`)
          yield* Effect.sleep(delay)
          const next = yield* Effect.catchAllCause(restart(current), (cause) =>
            Effect.as(Effect.logError("the agent cannot be started again", cause), current)
          )
          if (next === undefined) return
          current = next
        }
      }).pipe(
        Effect.annotateLogs({ workspace_id: workspaceId, agent }),
        Effect.provide(context),
        FiberMap.run(fibers, key),
        Effect.zipRight(Effect.sync(() => void subjects.set(key, subject)))
      )
    }

    const ofWorkspace = (workspaceId: Uuid.Uuid) => Array.from(subjects).filter(([, subject]) => subject.workspaceId === workspaceId)

    return {
      watch,
      forget: (workspaceId) =>
        Effect.forEach(
          ofWorkspace(workspaceId),
          ([key]) =>
            Effect.zipRight(
              Effect.sync(() => subjects.delete(key)),
              FiberMap.remove(fibers, key)
            ),
          { discard: true }
        ),
      watched: Effect.sync(() => Array.from(subjects.values()))
    }
  })
