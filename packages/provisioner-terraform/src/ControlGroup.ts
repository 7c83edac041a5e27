/**
 * Control groups of Linux, of version 2 or 1, for commands of Terraform: the kernel then holds the limits of memory and processes, and no process
 * of a command leaves its group without the right to. cgroups(7).
 */
import { Effect, Schedule } from "effect"
import { createHash, randomUUID } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Bounds, boundsOf } from "./Limits.js"

/** The group of one command. */
export interface ControlGroup {
  /** Moves a process into the group. Throws if the kernel refuses it. */
  readonly add: (pid: number) => void
  readonly pids: () => ReadonlyArray<number>
  /** Milliseconds of processor time of all processes that were in the group; undefined if the kernel does not tell. */
  readonly cpuTime: () => number | undefined
  /** Whether the kernel has ended a process for the memory of the group. */
  readonly isOutOfMemory: () => boolean
  /** Whether the kernel has refused a process because of the group's number of them. */
  readonly isOutOfProcesses: () => boolean
  /** Ends all processes and removes the group. */
  readonly end: Effect.Effect<void>
}

/** Where groups are made. */
export interface ControlGroups {
  readonly make: (bounds: Bounds) => ControlGroup | undefined
  /** Ends and removes the groups that a server left which was killed. */
  readonly clear: Effect.Effect<void>
}

/** The kernel counts threads, and a Go program starts a few for each processor. */
const threadsOfProcess = 64

const attempt = <A>(run: () => A): A | undefined => {
  try {
    return run()
  } catch {
    return undefined
  }
}

const numberIn = (file: string, name: string): number => {
  const text = attempt(() => readFileSync(file, "utf8")) ?? ""
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1] ?? 0)
}

const pidsIn = (folder: string): ReadonlyArray<number> =>
  (attempt(() => readFileSync(join(folder, "cgroup.procs"), "utf8")) ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map(Number)

const kill = (pid: number): void => void attempt(() => process.kill(pid, "SIGKILL"))

/** Ends the processes of groups, removes their folders and tells how many are left: a group with processes cannot be removed. */
const removeOnce = (folders: ReadonlyArray<string>): number => {
  for (const folder of folders) {
    attempt(() => writeFileSync(join(folder, "cgroup.kill"), "1"))
    for (const pid of pidsIn(folder)) kill(pid)
    attempt(() => rmdirSync(folder))
  }
  return folders.filter((folder) => existsSync(folder)).length
}

/** Between two attempts: killed processes take a moment to disappear. */
const pauses = Schedule.exponential("2 millis").pipe(Schedule.union(Schedule.spaced("100 millis")), Schedule.upTo("5 seconds"))

const remove = (folders: ReadonlyArray<string>): Effect.Effect<void> =>
  Effect.sync(() => removeOnce(folders)).pipe(Effect.repeat({ while: (left) => left > 0, schedule: pauses }), Effect.asVoid)

/** Writes a limit, and throws where the kernel does not keep it. */
const limit = (file: string, value: number): void => writeFileSync(file, String(value))

/** The files of both versions that a command's limits are in. `folders` are those of the memory, the processes and the processor time. */
interface Version {
  readonly parents: ReadonlyArray<string>
  readonly prepare: (folders: ReadonlyArray<string>, bounds: Bounds) => void
  readonly cpuTime: (folders: ReadonlyArray<string>) => number | undefined
  readonly isOutOfMemory: (folders: ReadonlyArray<string>) => boolean
  readonly isOutOfProcesses: (folders: ReadonlyArray<string>) => boolean
}

const versionTwo = (parent: string): Version => ({
  parents: [parent],
  prepare: ([folder = ""], { memory, processes }) => {
    limit(join(folder, "memory.max"), memory)
    limit(join(folder, "pids.max"), processes * threadsOfProcess)
    // Without swap in the kernel there is no such file
    attempt(() => limit(join(folder, "memory.swap.max"), 0))
  },
  cpuTime: ([folder = ""]) => numberIn(join(folder, "cpu.stat"), "usage_usec") / 1000,
  isOutOfMemory: ([folder = ""]) => numberIn(join(folder, "memory.events"), "oom_kill") > 0,
  isOutOfProcesses: ([folder = ""]) => numberIn(join(folder, "pids.events"), "max") > 0
})

const versionOne = (memory: string, pids: string, cpuacct: string): Version => ({
  parents: [memory, pids, cpuacct],
  prepare: ([ofMemory = "", ofPids = ""], bounds) => {
    limit(join(ofMemory, "memory.limit_in_bytes"), bounds.memory)
    attempt(() => limit(join(ofMemory, "memory.memsw.limit_in_bytes"), bounds.memory))
    limit(join(ofPids, "pids.max"), bounds.processes * threadsOfProcess)
  },
  cpuTime: ([, , folder = ""]) => {
    const nanoseconds = attempt(() => Number(readFileSync(join(folder, "cpuacct.usage"), "utf8")))
    return nanoseconds === undefined ? undefined : nanoseconds / 1_000_000
  },
  isOutOfMemory: ([folder = ""]) => numberIn(join(folder, "memory.oom_control"), "oom_kill") > 0,
  isOutOfProcesses: ([, folder = ""]) => numberIn(join(folder, "pids.events"), "max") > 0
})

/** Makes the folders of a group; undefined if the kernel refuses them or a limit. */
const makeFolders = (version: Version, name: string, bounds: Bounds): ReadonlyArray<string> | undefined => {
  const folders = version.parents.map((parent) => join(parent, name))
  const made = attempt(() => {
    // A kernel may have several controllers in one hierarchy
    for (const folder of folders) mkdirSync(folder, { recursive: true })
    version.prepare(folders, bounds)
    return folders
  })
  if (made === undefined) removeOnce(folders)
  return made
}

/** The group that a command gets by folders. */
const groupOf = (version: Version, folders: ReadonlyArray<string>): ControlGroup => ({
  add: (pid) => folders.forEach((folder) => writeFileSync(join(folder, "cgroup.procs"), String(pid))),
  pids: () => [...new Set(folders.flatMap(pidsIn))],
  cpuTime: () => version.cpuTime(folders),
  isOutOfMemory: () => version.isOutOfMemory(folders),
  isOutOfProcesses: () => version.isOutOfProcesses(folders),
  end: remove(folders)
})

/** Groups of a version for the engine of a directory; undefined if one cannot be made. */
const groupsIn = (version: Version, directory: string): ControlGroups | undefined => {
  const prefix = `atelier-terraform-${createHash("sha256").update(directory).digest("hex").slice(0, 16)}-`
  const nameOfNew = (): string => `${prefix}${randomUUID()}`
  const trial = makeFolders(version, nameOfNew(), boundsOf())
  if (trial === undefined) return undefined
  removeOnce(trial)
  return {
    make: (bounds) => {
      const folders = makeFolders(version, nameOfNew(), bounds)
      return folders === undefined ? undefined : groupOf(version, folders)
    },
    clear: Effect.suspend(() =>
      remove(
        version.parents.flatMap((parent) =>
          (attempt(() => readdirSync(parent)) ?? []).filter((name) => name.startsWith(prefix)).map((name) => join(parent, name))
        )
      )
    )
  }
}

/** The folder of this process's own group in the hierarchy of a controller, or in that of version 2 without one. */
const ownFolder = (controller?: string): string | undefined => {
  const groups = (attempt(() => readFileSync("/proc/self/cgroup", "utf8")) ?? "").split("\n").map((line) => line.split(":"))
  const own = groups.find(([, controllers = ""]) =>
    controller === undefined ? controllers === "" : controllers.split(",").includes(controller)
  )
  const path = own?.slice(2).join(":")
  const mounts = (attempt(() => readFileSync("/proc/self/mountinfo", "utf8")) ?? "").split("\n").map((line) => line.split(" - "))
  for (const [place = "", kind = ""] of mounts) {
    const [type = "", , options = ""] = kind.split(" ")
    const isIt = controller === undefined ? type === "cgroup2" : type === "cgroup" && options.split(",").includes(controller)
    const [, , , root = "/", folder = ""] = place.split(" ")
    if (!isIt || path === undefined) continue
    if (root === "/") return join(folder, path)
    return path === root || path.startsWith(`${root}/`) ? join(folder, path.slice(root.length)) : folder
  }
  return undefined
}

const inVersionTwo = (parent: string, directory: string): ControlGroups | undefined => {
  attempt(() => writeFileSync(join(parent, "cgroup.subtree_control"), "+memory +pids"))
  return groupsIn(versionTwo(parent), directory)
}

/**
 * Where control groups for the engine of a directory are made: in the group of version 2 that is named, or else below this process's own
 * group. Undefined where the kernel or the rights of this process allow none.
 */
export const controlGroups = (directory: string, named: string | undefined): ControlGroups | undefined => {
  if (named !== undefined) return inVersionTwo(named, directory)
  const [memory, pids, cpuacct] = ["memory", "pids", "cpuacct"].map(ownFolder)
  if (memory !== undefined && pids !== undefined) return groupsIn(versionOne(memory, pids, cpuacct ?? memory), directory)
  const own = ownFolder()
  return own === undefined ? undefined : inVersionTwo(own, directory)
}
