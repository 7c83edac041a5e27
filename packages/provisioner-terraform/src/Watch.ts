/** Looks at what a command of Terraform uses while it runs, and tells when it is too much. */
import { Clock, Duration, Effect } from "effect"
import type { ControlGroup } from "./ControlGroup.js"
import { diskUsage } from "./DiskUsage.js"
import { type Bounds, type Excess, excesses } from "./Limits.js"
import { allProcesses, isMeasurable, memoryOf, processOf, type UsedProcess } from "./ProcessUsage.js"

/** Milliseconds between two looks at the processes. A program takes new memory at about 1 GB/s. */
const lookAtProcesses = 100

/** Milliseconds between two looks at the disk. */
const lookAtDisk = 1000

/** A look that took long is followed by a pause of so many times that: looking takes 5 percent of the time at most. */
const rest = 20

/** Processor time of the commands of one job, in milliseconds; commands that run at once share it. */
export interface Spent {
  cpuTime: number
}

interface Watched {
  /** The process that was started; it leads its process group. */
  readonly leader: number
  readonly group: ControlGroup | undefined
  readonly bounds: Bounds
  readonly spent: Spent
  /** The folder of the job. */
  readonly folder: string
}

/** What watches one command. */
export interface Watch {
  /** Ends with the first bound that is exceeded; waits for ever within all. */
  readonly excess: Effect.Effect<Excess>
  /** Looks once more; the last look of a command that ended by itself may say why. */
  readonly look: Effect.Effect<Excess | undefined>
  /** The processes of the command that run now, without its leader. */
  readonly followers: Effect.Effect<ReadonlyArray<number>>
}

/** Returns processes with all that they have started, and the members of a process group. */
const treeIn = (running: ReadonlyArray<UsedProcess>, leader: number, known: ReadonlyMap<number, string>): ReadonlyArray<UsedProcess> => {
  const childrenOf = new Map<number, Array<UsedProcess>>()
  for (const process of running) childrenOf.set(process.parent, [...(childrenOf.get(process.parent) ?? []), process])
  const found = new Map<number, UsedProcess>()
  const isFirst = ({ group, pid, started }: UsedProcess) => pid === leader || group === leader || known.get(pid) === started
  const waiting = running.filter(isFirst)
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next.pid)) continue
    found.set(next.pid, next)
    waiting.push(...(childrenOf.get(next.pid) ?? []))
  }
  return [...found.values()]
}

/** Repeats a look until it finds an excess. */
const every = (pause: number, find: Effect.Effect<Excess | undefined>): Effect.Effect<Excess> =>
  Effect.gen(function* () {
    for (;;) {
      const begun = yield* Clock.currentTimeMillis
      const found = yield* find
      if (found !== undefined) return found
      const taken = (yield* Clock.currentTimeMillis) - begun
      yield* Effect.sleep(Duration.millis(Math.max(pause, taken * rest)))
    }
  })

/** Ends with the first bound that a look finds exceeded, each `pause` milliseconds, or that the folder of the job exceeds. */
export const firstExcess = (
  { bounds, folder }: Pick<Watched, "bounds" | "folder">,
  pause: number,
  look: Effect.Effect<Excess | undefined>
): Effect.Effect<Excess> => {
  const disk = Effect.map(
    Effect.promise(() => diskUsage(folder, bounds.disk)),
    (used) => (used > bounds.disk ? excesses.disk(bounds) : undefined)
  )
  return Effect.raceFirst(every(pause, look), every(lookAtDisk, disk))
}

/** Returns the watch of a command. */
export const watch = ({ bounds, folder, group, leader, spent }: Watched): Watch => {
  /** When the processes started that were seen, by their ids: one whose parent has ended still belongs to the command. */
  let known: ReadonlyMap<number, string> = new Map()
  let counted = 0

  const members = (): ReadonlyArray<UsedProcess> => {
    const found = group === undefined ? treeIn(allProcesses(), leader, known) : group.pids().flatMap((pid) => processOf(pid) ?? [])
    known = new Map(found.map(({ pid, started }) => [pid, started]))
    return found
  }

  const look = Effect.sync((): Excess | undefined => {
    if (!isMeasurable) return undefined
    const found = members()
    if (found.length > bounds.processes || group?.isOutOfProcesses() === true) return excesses.processes(bounds)
    const cpuTime = group?.cpuTime() ?? found.reduce((sum, process) => sum + process.cpuTime, 0)
    // Time of a process whose parent has ended first is told by a control group alone
    spent.cpuTime += Math.max(0, cpuTime - counted)
    counted = Math.max(counted, cpuTime)
    if (spent.cpuTime > bounds.cpuTime) return excesses.cpuTime(bounds)
    const used = found.reduce((sum, { pid }) => sum + memoryOf(pid), 0)
    if (used <= bounds.memory && group?.isOutOfMemory() !== true) return undefined
    return excesses.memory(bounds, memoryOf(leader) > bounds.memory / 2 ? "kill" : "hurry")
  })

  return {
    excess: firstExcess({ bounds, folder }, lookAtProcesses, look),
    look,
    followers: Effect.sync(() => (isMeasurable ? members().flatMap(({ pid }) => (pid === leader ? [] : [pid])) : []))
  }
}
