/** The command `npm run simulate`. */
import { Effect } from "effect"
import { fork } from "node:child_process"
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { runHistory } from "./History.js"
import { type Plan, planOf, shrunk } from "./Plan.js"
import { makeSetting } from "./Setting.js"

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    histories: { type: "string", default: "100" },
    /** Processes that share the histories: one for each core, unless given. */
    workers: { type: "string", default: `${availableParallelism()}` },
    /** The distance between the seeds of one process. */
    every: { type: "string", default: "1" },
    /** The actions of one seed that are replayed, by their numbers in its plan. */
    only: { type: "string" },
    /** How many broken histories end the run of a process. */
    failures: { type: "string", default: "1" },
    progress: { type: "boolean", default: false },
    log: { type: "boolean", default: false }
  }
})

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** What a process has run. */
interface Totals {
  readonly histories: number
  readonly steps: number
  readonly broken: number
  /** Of processor time. */
  readonly seconds: number
}

const first = Number(values.seed)
const count = values.only === undefined ? Number(values.histories) : 1
const every = Number(values.every)

const simulate = (): Totals => {
  const begun = process.cpuUsage()
  const setting = Effect.runSync(makeSetting)
  const run = (plan: Plan, onLog?: (line: string) => void) => Effect.runSync(runHistory(setting, plan, onLog))

  const chosen = (plan: Plan): Plan => {
    if (values.only === undefined) return plan
    const kept = new Set(values.only.split(",").filter(Boolean).map(Number))
    return { ...plan, actions: plan.actions.filter((_, index) => kept.has(index)) }
  }

  let steps = 0
  let broken = 0
  let histories = 0
  for (let seed = first; seed < first + count * every && broken < Number(values.failures); seed += every) {
    const whole = planOf(seed)
    const plan = chosen(whole)
    const outcome = run(plan, values.log ? say : undefined)
    steps += outcome.steps
    histories++
    if (values.progress) say(`seed ${seed}: ${outcome.steps} steps`)
    if (outcome.broken.length === 0) {
      if (values.log) for (const line of outcome.told) say(`  ${line}`)
      continue
    }
    broken++
    const small = values.only === undefined ? shrunk(plan, (fewer) => run(fewer).broken.length > 0) : plan
    const shown = small === plan ? outcome : run(small)
    say(`seed ${seed} breaks:`)
    for (const line of shown.broken) say(`  ${line}`)
    say("actions:")
    for (const line of shown.told) say(`  ${line}`)
    if (values.log) for (const line of shown.trace) say(`  ${line}`)
    say(`replay: npm run simulate -- --seed ${seed} --only ${small.actions.map((action) => whole.actions.indexOf(action)).join(",")} --log`)
  }
  const { system, user } = process.cpuUsage(begun)
  return { histories, steps, broken, seconds: (system + user) / 1_000_000 }
}

/** Runs each of several shares of the seeds in a process of its own. */
const inProcesses = (workers: number): Promise<ReadonlyArray<Totals>> =>
  Promise.all(
    Array.from({ length: workers }, (_, index) => {
      const share = Math.ceil((count - index) / workers)
      const options = [
        "--seed",
        `${first + index}`,
        "--histories",
        `${share}`,
        "--every",
        `${workers}`,
        "--failures",
        values.failures,
        "--workers",
        "1"
      ]
      const flags = [...(values.progress ? ["--progress"] : []), ...(values.log ? ["--log"] : [])]
      const child = fork(fileURLToPath(import.meta.url), [...options, ...flags])
      return new Promise<Totals>((resolve, reject) => {
        child.once("message", (totals) => resolve(totals as Totals))
        child.once("exit", (code) => reject(new Error(`A process ended with ${code ?? "a signal"}.`)))
      })
    })
  )

const shareOf = (workers: number): ReadonlyArray<Totals> | Promise<ReadonlyArray<Totals>> =>
  workers > 1 && values.only === undefined ? inProcesses(workers) : [simulate()]

const begun = performance.now()
const totals = await shareOf(Math.min(count, Number(values.workers)))
if (process.send === undefined) {
  const sum = (of: (one: Totals) => number): number => totals.reduce((whole, one) => whole + of(one), 0)
  const [histories, steps, broken, seconds] = [
    sum((one) => one.histories),
    sum((one) => one.steps),
    sum((one) => one.broken),
    sum((one) => one.seconds)
  ]
  const memory = Math.round(process.resourceUsage().maxRSS / 1_024)
  say(
    `${histories} histories, ${steps} steps, ${broken} broken, ${((performance.now() - begun) / 1_000).toFixed(0)} s, ${seconds.toFixed(1)} s of processor time, ` +
      `${Math.round(steps / seconds)} steps a second of it, ${memory} MiB at most in this process`
  )
  process.exitCode = broken === 0 ? 0 : 1
} else process.send(totals[0])
