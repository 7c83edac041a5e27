import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { readdir, readFile } from "node:fs/promises"
import { Clock, Duration, Effect, Either } from "effect"
import type { Marks } from "./Marks.js"

/**
 * The processes a script has started, and their descendants.
 *
 * Scripts stay in the agent's process group, so that killing the group ends them without knowing the agent. Stop scripts are an exception:
 * engines also ask the group to end, which is when these begin. A single script's processes therefore have no group of their own. They are
 * found by descent and, where the system shows environments (Linux), by a variable of the script's environment, which its descendants
 * inherit. This includes orphans and processes with a session of their own.
 */
export interface Family {
  /** The script's own process, while it runs. */
  readonly root: number | undefined
  /** Whether an entry (`NAME=value`) of a process's environment marks it as one of the family. */
  readonly isMark: (entry: string) => boolean
}

interface Process {
  readonly id: number
  readonly parent: number
  readonly isMarked: boolean
}

/** How long processes may take to end when they are asked to. */
export const grace = Duration.seconds(5)

/** How often they are looked up in that time. */
const lookEvery = Duration.millis(50)

/** Times processes are looked for and killed; more are only needed while they keep starting others. */
const maximumRounds = 20

/** A file of a process; undefined when the process is gone or belongs to another user. */
const readSync = (id: string, file: "stat" | "environ"): string | undefined =>
  Either.getOrElse(
    Either.try(() => readFileSync(`/proc/${id}/${file}`, "utf8")),
    () => undefined
  )

const read = (id: string, file: "stat" | "environ"): Promise<string | undefined> =>
  readFile(`/proc/${id}/${file}`, "utf8").catch(() => undefined)

/** The state and the parent of a process: `pid (name) state ppid …`, where the name may contain anything. */
const stateOf = (stat: string): readonly [state: string, parent: number] => {
  const [state = "", parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 2)
  return [state, Number(parent)]
}

/** Processes that are over and only wait for their parent to notice. */
const isOver = (state: string): boolean => state.startsWith("Z") || state.startsWith("X")

/** Other users' environments cannot be read. */
const processOf = (id: string, stat: string | undefined, environment = "", isMark: Family["isMark"]): ReadonlyArray<Process> => {
  if (stat === undefined) return []
  const [state, parent] = stateOf(stat)
  return isOver(state) ? [] : [{ id: Number(id), parent, isMarked: environment.split("\0").some(isMark) }]
}

const isProcess = (name: string): boolean => /^\d+$/.test(name)

const linuxProcesses = (isMark: Family["isMark"]): ReadonlyArray<Process> =>
  readdirSync("/proc")
    .filter(isProcess)
    .flatMap((id) => processOf(id, readSync(id, "stat"), readSync(id, "environ"), isMark))

const otherProcesses = (): ReadonlyArray<Process> =>
  Either.getOrElse(
    Either.try(() => execFileSync("ps", ["-A", "-o", "pid=,ppid=,state="], { encoding: "utf8" })),
    () => ""
  )
    .split("\n")
    .flatMap((line) => {
      const [, id, parent, state] = /^\s*(\d+)\s+(\d+)\s+(\S)/.exec(line) ?? []
      return id === undefined || isOver(state ?? "") ? [] : [{ id: Number(id), parent: Number(parent), isMarked: false }]
    })

/** The ids of a family's processes among these. */
const among = (processes: ReadonlyArray<Process>, root: Family["root"]): ReadonlyArray<number> => {
  const others = processes.filter(({ id }) => id !== process.pid)
  const found = new Set<number>()
  let next = others.filter(({ id, isMarked }) => isMarked || id === root)
  while (next.length > 0) {
    for (const { id } of next) found.add(id)
    next = others.filter(({ id, parent }) => found.has(parent) && !found.has(id))
  }
  return [...found]
}

/** The ids of the family's living processes, never this one. */
export const members = ({ isMark, root }: Family): ReadonlyArray<number> =>
  among(process.platform === "linux" ? linuxProcesses(isMark) : otherProcesses(), root)

/** The ids of the living processes with a mark and of their descendants, on Linux. Other work goes on while they are read. */
export const marked = async (isMark: Family["isMark"]): Promise<ReadonlyArray<number>> => {
  const ids = (await readdir("/proc")).filter(isProcess)
  const processes = await Promise.all(
    ids.map(async (id) => processOf(id, ...(await Promise.all([read(id, "stat"), read(id, "environ")])), isMark))
  )
  return among(processes.flat(), undefined)
}

/** The marks that living processes have, on Linux. Other work goes on while they are read. */
export const marksOfLiving = async (isMark: Family["isMark"]): Promise<ReadonlySet<string>> => {
  const ids = (await readdir("/proc")).filter(isProcess)
  const environments = await Promise.all(ids.map((id) => read(id, "environ")))
  return new Set(environments.flatMap((environment = "") => environment.split("\0").filter(isMark)))
}

/** Whether the signal reached the process: it exists and is ours. */
const signal = (id: number, name: NodeJS.Signals | 0): boolean => Either.isRight(Either.try(() => process.kill(id, name)))

/** Whether a process that was there before still runs. */
const stillRuns = (id: number): boolean => {
  if (process.platform !== "linux") return signal(id, 0)
  const stat = readSync(String(id), "stat")
  return stat !== undefined && !isOver(stateOf(stat)[0])
}

/** Kills the family at once, without waiting for it to be gone. */
export const kill = (family: Family): void => {
  for (let round = 0; round < maximumRounds; round += 1) {
    if (!members(family).some((id) => signal(id, "SIGKILL"))) return
  }
}

/** Asks the family to end, and kills what is left of it after `grace`. */
export const terminate = (family: Family): Effect.Effect<void> =>
  Effect.gen(function* () {
    const asked = members(family).filter((id) => signal(id, "SIGTERM"))
    const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(grace)
    while (asked.some(stillRuns) && (yield* Clock.currentTimeMillis) < until) yield* Effect.sleep(lookEvery)
    kill(family)
  })

/** Ends the processes that have these marks, and their descendants. Reading all processes of the machine takes a while, so it is left out where none has a mark. */
export const terminateMarked = ({ areUsed, isMark }: Marks): Effect.Effect<void> =>
  Effect.suspend(() => (areUsed() ? terminate({ root: undefined, isMark }) : Effect.void))
