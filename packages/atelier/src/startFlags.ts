/**
 * How V8 runs the program while it starts: with these flags, an idle server takes 24 MiB less, and a start as long as without. Most of what a start makes
 * stays, so a young generation that grows copies it, and keeps its size. What a start runs often is hardly run afterwards, so optimized code of it is of
 * no use.
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
const areGiven = [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].some((option) => /opt|jit|lite|growth/.test(option))

const set = (...flags: ReadonlyArray<string>): void => {
  if (!areGiven) flags.forEach(setFlagsFromString)
}

/** Call this before the modules of the service are loaded. */
export const begin = (): void => {
  for (const name of modules) process.getBuiltinModule?.(name)
  set("--semi-space-growth-factor=1", "--no-opt")
}

/** Call this when requests are answered. */
export const end = (): void => set("--semi-space-growth-factor=2", "--opt")
