import type { Options } from "../Options.js"

/** What a check has found. */
export interface Finding {
  /** `error` keeps the server, or a part of it, from working. */
  readonly severity: "ok" | "warning" | "error"
  readonly text: string
  /** What the operator does about it. */
  readonly advice?: string
}

export type Check = (options: Options) => Promise<ReadonlyArray<Finding>>

export const ok = (text: string): Finding => ({ severity: "ok", text })
export const warning = (text: string, advice: string): Finding => ({ severity: "warning", text, advice })
export const fault = (text: string, advice: string): Finding => ({ severity: "error", text, advice })

/** Milliseconds by which two clocks may differ: signed times of other machines are refused beyond. */
const tolerance = 5_000

/** Compares another machine's clock, which was read between two moments of this one. */
export const clockFinding = (name: string, other: number, before: number, after: number): Finding => {
  const difference = Math.max(before - other, other - after, 0)
  const text = `the clock of ${name} differs by ${(difference / 1000).toFixed(1)} s`
  return difference <= tolerance ? ok(text) : warning(text, "let both machines set their clocks by NTP: logins and tokens expire by them")
}
