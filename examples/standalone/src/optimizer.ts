/**
 * V8's optimizing compiler. What a start runs often is of no use afterwards, and optimizing it takes a fifth of a start's processor time and
 * 10 MiB of memory.
 */
import { setFlagsFromString } from "node:v8"
// Compiled beforehand within Node, which V8 does not use while its flags are changed
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

/** An operator's own choice of compilers stays as it is. */
const isChosen = [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].some((option) => /opt|jit|lite|turbo|maglev/.test(option))

/** Leaves code as it is until `resume` is called. */
export const pause = (): void => {
  if (!isChosen) setFlagsFromString("--no-opt")
}

/** Optimizes what is run often from now on. */
export const resume = (): void => {
  if (!isChosen) setFlagsFromString("--opt")
}
