/**
 * Ends processes together with everything they started.
 */
import { Clock, Data, Duration, Effect } from "effect"
import { type ProcessIdentity, ProcessTable, type RunningProcess } from "./ProcessTable.js"

/** The processes that belong together: leaders of process groups, and all processes with a mark in their environment. */
export interface ProcessTree {
  /** Each leads its own process group; they may have ended. */
  readonly leaders: ReadonlyArray<ProcessIdentity>
  /** `NAME=value`, inherited by what leaves its group, as terminals and background services do. */
  readonly marks: ReadonlyArray<string>
}

/** Processes outlived the signal that nothing can refuse; they belong to another user, or wait in the kernel. */
export class StillRunning extends Data.TaggedError("StillRunning")<{ readonly pids: ReadonlyArray<number> }> {
  override get message(): string {
    return `the processes ${this.pids.join(", ")} could not be ended`
  }
}

/** How long killed processes may take to disappear. */
const killTimeout = Duration.seconds(10)
/** Between two looks at the processes; the system announces the end of children only, not of what they started. */
const lookAgain = { first: 10, longest: 250 }

interface Found {
  readonly processes: ReadonlyArray<RunningProcess>
  /** The leaders' groups that are still theirs. */
  readonly groups: ReadonlySet<number>
}

/** The group of a leader that has ended stays its own until the last member is gone: its id is not used again before. */
const ownGroups = (table: ProcessTable["Type"], leaders: ReadonlyArray<ProcessIdentity>, running: ReadonlyArray<RunningProcess>) => {
  const byPid = new Map(running.map((process) => [process.pid, process]))
  const own = leaders.filter((leader) => {
    const holder = byPid.get(leader.pid)
    return table.isOfThisBoot(leader) && (holder === undefined || holder.started === leader.started)
  })
  return new Set(own.map(({ pid }) => pid))
}

const find = (tree: ProcessTree): Effect.Effect<Found, never, ProcessTable> =>
  Effect.gen(function* () {
    const table = yield* ProcessTable
    const running = (yield* table.all).filter(({ pid }) => pid !== process.pid)
    const groups = ownGroups(table, tree.leaders, running)
    const marked = yield* Effect.filter(running, (process) =>
      groups.has(process.group) ? Effect.succeed(true) : Effect.exists(tree.marks, (mark) => table.hasEnvironment(process, mark))
    )
    const found = new Map(marked.map((process) => [process.pid, process]))
    for (let before = -1; before < found.size;) {
      before = found.size
      for (const process of running) if (found.has(process.parent)) found.set(process.pid, process)
    }
    return { processes: Array.from(found.values()), groups }
  })

/** The processes of the tree that run now. */
export const members = (tree: ProcessTree): Effect.Effect<ReadonlyArray<RunningProcess>, never, ProcessTable> =>
  Effect.map(find(tree), ({ processes }) => processes)

/** False when the process is gone or is not ours to signal. */
const signal = (pid: number, name: "SIGTERM" | "SIGKILL"): Effect.Effect<boolean> =>
  Effect.sync(() => {
    try {
      return process.kill(pid, name)
    } catch {
      return false
    }
  })

/** Signals whole groups if the leader is known, so that new children are included, and the other processes one by one. */
const signalAll = ({ groups, processes }: Found, name: "SIGTERM" | "SIGKILL"): Effect.Effect<void> =>
  Effect.gen(function* () {
    const present = new Set(processes.map(({ group }) => group).filter((group) => groups.has(group)))
    yield* Effect.forEach(present, (group) => signal(-group, name), { discard: true })
    yield* signalEach(
      processes.filter(({ group }) => !groups.has(group)),
      name
    )
  })

const signalEach = (processes: ReadonlyArray<RunningProcess>, name: "SIGTERM" | "SIGKILL"): Effect.Effect<void> =>
  Effect.forEach(processes, ({ pid }) => signal(pid, name), { discard: true })

/** Looks until no process is left, or `until` milliseconds of the clock; answers what is left. */
const awaitEnd = (tree: ProcessTree, until: number, onLeft: (left: Found) => Effect.Effect<void>) =>
  Effect.gen(function* () {
    for (let pause = lookAgain.first; ; pause = Math.min(pause * 2, lookAgain.longest)) {
      const left = yield* find(tree)
      const now = yield* Clock.currentTimeMillis
      if (left.processes.length === 0 || now >= until) return left.processes
      yield* onLeft(left)
      yield* Effect.sleep(Duration.millis(Math.min(pause, until - now)))
    }
  })

/** Kills the tree. */
export const kill = (tree: ProcessTree): Effect.Effect<void, StillRunning, ProcessTable> =>
  Effect.gen(function* () {
    const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(killTimeout)
    const left = yield* awaitEnd(tree, until, (left) => signalAll(left, "SIGKILL"))
    if (left.length > 0) return yield* new StillRunning({ pids: left.map(({ pid }) => pid) })
  })

/**
 * Ends the tree: TERM to the leaders' groups, once, so that leaders may start what they need to end well; TERM to everything else that is
 * there when the leaders are gone; KILL to all that is there after `grace`. Nothing of the tree runs when it succeeds. Interrupted, it
 * kills at once.
 */
export const end = (tree: ProcessTree, grace: Duration.DurationInput): Effect.Effect<void, StillRunning, ProcessTable> =>
  Effect.gen(function* () {
    const leaders = new Set(tree.leaders.map(({ pid }) => pid))
    const asked = new Set<number>()
    const ask = ({ groups, processes }: Found): Effect.Effect<void> => {
      const isFirst = asked.size === 0
      const leaderRuns = processes.some(({ pid }) => leaders.has(pid))
      if (leaderRuns && !isFirst) return Effect.void
      const next = processes.filter(({ group, pid }) => !asked.has(pid) && (!leaderRuns || groups.has(group)))
      for (const { pid } of next) asked.add(pid)
      return isFirst ? signalAll({ processes: next, groups }, "SIGTERM") : signalEach(next, "SIGTERM")
    }
    const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(grace)
    const left = yield* awaitEnd(tree, until, ask)
    if (left.length > 0) yield* kill(tree)
  }).pipe(Effect.onInterrupt(() => Effect.ignore(kill(tree))))
