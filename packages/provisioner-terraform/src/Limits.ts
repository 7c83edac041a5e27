/** What a job of Terraform may use, and what its author is told when it uses more. */
import { HostOptions } from "@atelier/core/platform"
import { Duration } from "effect"

/** How much a job may use. Templates run programs, so each limit has a value unless given. */
export interface Limits {
  /** MiB of memory that a command may use, with all that it has started; 2048 unless given. Linux only. */
  readonly memory?: number | undefined
  /** Processor time of all commands of a job together, with all that they have started; 30 minutes unless given. Linux only. */
  readonly cpuTime?: Duration.DurationInput | undefined
  /** Processes of a command that run at once, itself included; 256 unless given. Linux only. */
  readonly processes?: number | undefined
  /** MiB that a command may print into the log of its job; 16 unless given. */
  readonly output?: number | undefined
  /** MiB of the state, of a saved plan, and of each as JSON; 32 unless given. */
  readonly state?: number | undefined
  /** MiB that the folder of a job may take on the disk; 2048 unless given. */
  readonly disk?: number | undefined
}

const size = HostOptions.wholeNumber(1)

export const limitsSchema = HostOptions.object<Limits>({
  memory: size,
  cpuTime: HostOptions.Time,
  processes: size,
  output: size,
  state: size,
  disk: size
})

/** The limits in bytes and milliseconds. */
export interface Bounds {
  readonly memory: number
  readonly cpuTime: number
  readonly processes: number
  readonly output: number
  readonly state: number
  readonly disk: number
}

const mebibyte = 1024 * 1024

/** Returns the limits as numbers, with the usual value of each that is not given. */
export const boundsOf = ({ cpuTime, disk, memory, output, processes, state }: Limits = {}): Bounds => ({
  memory: (memory ?? 2048) * mebibyte,
  cpuTime: Duration.toMillis(cpuTime ?? Duration.minutes(30)),
  processes: processes ?? 256,
  output: (output ?? 16) * mebibyte,
  state: (state ?? 32) * mebibyte,
  disk: (disk ?? 2048) * mebibyte
})

/** A bound that a command has exceeded. */
export interface Excess {
  /** Continues "terraform plan was ended: ". */
  readonly said: string
  /**
   * How the command is ended. `interrupt`: as by a user's Ctrl-C, so that it ends what it does. `hurry`: what it has started is killed, and
   * it has seconds to write its state. `kill`: all at once.
   */
  readonly manner: "interrupt" | "hurry" | "kill"
}

const mebibytes = (bytes: number): string => `${bytes / mebibyte} MiB`

const excess = (what: string, option: string, limit: string, manner: Excess["manner"]): Excess => ({
  said: `${what} than the option terraform-${option} allows (${limit})`,
  manner
})

/** The excesses, by the limit that each is above. */
export const excesses = {
  memory: ({ memory }: Bounds, manner: Excess["manner"]) => excess("it used more memory", "memory", mebibytes(memory), manner),
  cpuTime: ({ cpuTime }: Bounds) =>
    excess("its job used more processor time", "cpu-time", Duration.format(Duration.millis(cpuTime)), "interrupt"),
  // Processes may start others faster than they can be ended one by one
  processes: ({ processes }: Bounds) => excess("it ran more processes at once", "processes", String(processes), "kill"),
  output: ({ output }: Bounds) => excess("it printed more", "output", mebibytes(output), "hurry"),
  shown: ({ state }: Bounds) => excess("it printed more", "state", mebibytes(state), "kill"),
  plan: ({ state }: Bounds) => excess("its plan is larger", "state", mebibytes(state), "kill"),
  state: ({ state }: Bounds) => excess("its state is larger", "state", mebibytes(state), "kill"),
  disk: ({ disk }: Bounds) => excess("its job took more of the disk", "disk", mebibytes(disk), "hurry")
} as const
