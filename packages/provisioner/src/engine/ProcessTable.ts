/**
 * The processes of this machine. A process is told apart by its id and when it started, because ids are used again.
 */
import { later, service } from "@atelier/core/platform"
import { Context, Effect } from "effect"
import { execFile } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"

export interface ProcessIdentity {
  readonly pid: number
  /** Which boot of the machine, and when in it; equal for the same process, comparable for nothing else. */
  readonly started: string
}

export interface RunningProcess extends ProcessIdentity {
  readonly parent: number
  /** The process group: the id of the process it was made by. */
  readonly group: number
}

export class ProcessTable extends Context.Tag("@atelier/provisioner/ProcessTable")<
  ProcessTable,
  {
    /** Every process; those that have ended and wait for their parent to notice are left out. */
    readonly all: Effect.Effect<ReadonlyArray<RunningProcess>>
    readonly find: (pid: number) => Effect.Effect<RunningProcess | undefined>
    /** Whether the process was given the environment variable `NAME=value`; false where the system does not tell. */
    readonly hasEnvironment: (process: ProcessIdentity, variable: string) => Effect.Effect<boolean>
    /** Whether the process started since the machine did; one of an earlier boot has ended, whatever has its id now. */
    readonly isOfThisBoot: (process: ProcessIdentity) => boolean
  }
>() {
  /** On Linux's `/proc`, else on `ps` (POSIX.1-2024, with the `lstart` that BSD, macOS and Linux add). */
  static readonly layer = later(() => (existsSync("/proc/self/stat") ? this.layerProcfs : this.layerPs))

  static readonly layerProcfs = service(
    this,
    Effect.sync(() => {
      const boot = read("/proc/sys/kernel/random/boot_id")?.toString().trim() ?? "unknown"
      const find = (pid: number): RunningProcess | undefined => {
        const stat = read(`/proc/${pid}/stat`)?.toString()
        return stat === undefined ? undefined : fromStat(pid, stat, boot)
      }
      return ProcessTable.of({
        all: Effect.sync(() =>
          readdirSync("/proc").flatMap((name) => {
            const process = /^\d+$/.test(name) ? find(Number(name)) : undefined
            return process === undefined ? [] : [process]
          })
        ),
        find: (pid) => Effect.sync(() => find(pid)),
        hasEnvironment: ({ pid }, variable) =>
          Effect.sync(() => read(`/proc/${pid}/environ`)?.toString().split("\0").includes(variable) ?? false),
        isOfThisBoot: ({ started }) => started.startsWith(`${boot}/`)
      })
    })
  )

  static readonly layerPs = service(
    this,
    Effect.gen(function* () {
      const boot = (yield* output("sysctl", ["-n", "kern.boottime"])).trim() || "unknown"
      const list = (selection: ReadonlyArray<string>) =>
        Effect.map(output("ps", [...selection, "-o", "pid=,ppid=,pgid=,stat=,lstart="]), (text) =>
          text.split("\n").flatMap((line) => fromPs(line, boot) ?? [])
        )
      return ProcessTable.of({
        all: list(["-A"]),
        find: (pid) => Effect.map(list(["-p", String(pid)]), ([process]) => process),
        hasEnvironment: () => Effect.succeed(false),
        isOfThisBoot: ({ started }) => started.startsWith(`${boot}/`)
      })
    })
  )
}

/** Processes come and go during the scan, and other users' processes are not ours. */
const read = (path: string): Buffer | undefined => {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

/** proc_pid_stat(5). The second field is the program's name in parentheses, which may hold anything. */
const fromStat = (pid: number, stat: string, boot: string): RunningProcess | undefined => {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const [state, parent, group] = fields
  return state === undefined || "ZXx".includes(state)
    ? undefined
    : { pid, parent: Number(parent), group: Number(group), started: `${boot}/${fields[19] ?? ""}` }
}

const fromPs = (line: string, boot: string): RunningProcess | undefined => {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line)
  const [, pid, parent, group, state = "Z", started = ""] = match ?? []
  return state.startsWith("Z")
    ? undefined
    : { pid: Number(pid), parent: Number(parent), group: Number(group), started: `${boot}/${started}` }
}

/** The output of a program; empty if it fails. */
const output = (program: string, options: ReadonlyArray<string>): Effect.Effect<string> =>
  Effect.async((resume) => {
    execFile(program, options, { env: { PATH: process.env["PATH"], LC_ALL: "C" }, maxBuffer: 64 * 1024 * 1024 }, (_, stdout) =>
      resume(Effect.succeed(stdout))
    )
  })
