/**
 * How V8 runs the program while it starts: with these flags, an idle server takes 24 MiB less, and a start as long as without. Most of what a start makes
 * stays, so a young generation that grows copies it, and keeps its size. What a start runs often is hardly run afterwards, so optimized code of it is of
 * no use. A collection of the whole heap in the middle of a start finds little to free, and takes 10 to 20 ms of processor time (Node 22 makes it all the same).
 */
import { setFlagsFromString } from "node:v8"

/**
 * What the start loads of Node's own modules. Node has compiled code of them, which V8 does not take while its flags are changed. Their names are texts,
 * because bundlers leave out imports without names. Node 22.2 and older ones of 21 and 22 load them later.
 */
const modules = [
  "child_process",
  "cluster",
  "crypto",
  "dns",
  "fs/promises",
  "http",
  "https",
  "inspector",
  "os",
  "path/posix",
  "perf_hooks",
  "stream/consumers",
  "timers/promises",
  "tls",
  "tty",
  "zlib"
]

/** Flags of an operator stay as they are. */
const areGiven = [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].some((option) => /opt|jit|lite|growth|marking/.test(option))

const set = (...flags: ReadonlyArray<string>): void => {
  if (!areGiven) flags.forEach(setFlagsFromString)
}

/** Milliseconds after which the heap of a start is collected as usual. A start that takes longer, because it migrates the store, may make much that is soon free. */
const usualStart = 2_000

/** At its limit the old generation asks for a task that begins a collection, and grows. Without such tasks, a collection begins at the limit of the whole heap. */
const withoutMarking = (): void => set("--incremental-marking-soft-trigger=100", "--no-incremental-marking-task")

const withMarking = (): void => set("--incremental-marking-soft-trigger=0", "--incremental-marking-task")

/** Call this before the modules of the service are loaded. */
export const begin = (): void => {
  for (const name of modules) process.getBuiltinModule?.(name)
  set("--semi-space-growth-factor=1", "--no-opt")
  withoutMarking()
  setTimeout(withMarking, usualStart).unref()
}

/** Call this when requests are answered. */
export const end = (): void => {
  set("--semi-space-growth-factor=2", "--opt")
  withMarking()
}
