/** What processes of this machine use, as Linux tells it in `/proc`. proc_pid_stat(5), proc_pid_status(5). */
import { existsSync, readdirSync, readFileSync } from "node:fs"

/** A process, with what it uses. */
export interface UsedProcess {
  readonly pid: number
  /** Ticks from the machine's start to its own: tells it from a later process with the same id. */
  readonly started: string
  readonly parent: number
  readonly group: number
  /** Milliseconds of processor time, with those of its ended children. */
  readonly cpuTime: number
}

/** Whether the system tells what processes use. */
export const isMeasurable: boolean = existsSync("/proc/self/stat")

/** Processes come and go during a look. */
const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, "latin1")
  } catch {
    return undefined
  }
}

/** USER_HZ, which is 100 on each platform that Node runs on. */
const millisecondsOfTick = 10

/** A process that runs; undefined if it has ended, also where its parent has not noticed. */
export const processOf = (pid: number): UsedProcess | undefined => {
  const stat = read(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  // The second field is the program's name in parentheses, which may hold anything
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const [state, parent, group] = fields
  if (state === undefined || "ZXx".includes(state)) return undefined
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  return { pid, started: fields[19] ?? "", parent: Number(parent), group: Number(group), cpuTime: ticks * millisecondsOfTick }
}

/** All processes of the machine that run. */
export const allProcesses = (): ReadonlyArray<UsedProcess> =>
  readdirSync("/proc").flatMap((name) => {
    const process = /^\d+$/.test(name) ? processOf(Number(name)) : undefined
    return process === undefined ? [] : [process]
  })

/** Bytes of memory of a process that no other program shares: a provider's file of 700 MB counts as little as it is in use. */
export const memoryOf = (pid: number): number => {
  const status = read(`/proc/${pid}/status`) ?? ""
  const kibibytes = (name: string): number | undefined => {
    const written = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]
    return written === undefined ? undefined : Number(written)
  }
  const own = kibibytes("RssAnon")
  // Kernels before 4.5 and some sandboxes tell the sum alone
  const resident = own === undefined ? (kibibytes("VmRSS") ?? 0) : own + (kibibytes("RssShmem") ?? 0)
  return (resident + (kibibytes("VmSwap") ?? 0)) * 1024
}
