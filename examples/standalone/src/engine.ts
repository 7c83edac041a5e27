/**
 * How V8 runs the program while it starts. What a start runs often is of no use afterwards: optimizing it takes a fifth of a start's processor time
 * and 10 MiB. And of what a start makes, most stays: a young generation that grows copies it, and keeps 30 MiB that an idle server does not need.
 */
import { setFlagsFromString } from "node:v8"
// Node has compiled code of its own modules, which V8 does not take while its flags are changed
import "node:child_process"
import "node:cluster"
import "node:crypto"
import "node:fs/promises"
import "node:http"
import "node:https"
import "node:inspector"
import "node:stream/consumers"
import "node:tls"
import "node:zlib"

/** Flags of an operator stay as they are. */
const areGiven = [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].some((option) => /opt|jit|lite|turbo|maglev|growth/.test(option))

const set = (flags: ReadonlyArray<string>): void => {
  if (!areGiven) for (const flag of flags) setFlagsFromString(flag)
}

/** Runs the start as it is best run. */
export const begin = (): void => set(["--no-opt", "--semi-space-growth-factor=1"])

/** Runs what follows with V8's own defaults. */
export const end = (): void => set(["--opt", "--semi-space-growth-factor=2"])
