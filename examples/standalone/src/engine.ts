/**
 * How V8 runs the program while it starts, and afterwards. What a start runs often is of no use then: optimizing it takes a fifth of a start's processor time
 * and 10 MiB. And of what a start makes, most stays: a young generation that grows copies it, and keeps 30 MiB that an idle server does not need.
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
  "fs/promises",
  "http",
  "https",
  "inspector",
  "perf_hooks",
  "stream/consumers",
  "tls",
  "tty",
  "zlib"
]

/** Flags of an operator stay as they are. */
const areGiven = [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].some((option) =>
  /opt|jit|lite|turbo|maglev|growth|pretenuring/.test(option)
)

const set = (flags: ReadonlyArray<string>): void => {
  if (!areGiven) for (const flag of flags) setFlagsFromString(flag)
}

/** Runs the start as it is best run. */
export const begin = (): void => {
  for (const name of modules) process.getBuiltinModule?.(name)
  set(["--no-opt", "--semi-space-growth-factor=1"])
}

/**
 * Loads modules whose errors name functions and no lines. When Effect is loaded it looks for a function in a stack, and V8 would count the lines of the whole
 * program for that.
 */
export const withoutLines = async <A>(load: () => Promise<A>): Promise<A> => {
  const { prepareStackTrace } = Error
  Error.prepareStackTrace = (error, frames) => [String(error), ...frames.map((frame) => `    at ${frame.getFunctionName()}`)].join("\n")
  try {
    return await load()
  } finally {
    Error.prepareStackTrace = prepareStackTrace
  }
}

/**
 * Runs requests as they are best run. V8 allocates objects directly in the old generation if earlier objects from the same code survived collections. With many
 * requests at a time it does so for objects of requests, and each of them keeps its whole request until a full collection. V8 compiles scripts that are loaded
 * afterwards anew, because the flags differ from its own.
 */
export const end = (): void => set(["--opt", "--semi-space-growth-factor=2", "--no-allocation-site-pretenuring"])
