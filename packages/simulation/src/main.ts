/** The command `npm run simulate`. */
import { Effect } from "effect"
import { parseArgs } from "node:util"
import { type Plan, planOf, runHistory, shrunk } from "./History.js"
import { makeSetting } from "./Setting.js"

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    histories: { type: "string", default: "100" },
    /** The actions of one seed that are replayed, by their numbers in its plan. */
    only: { type: "string" },
    /** How many broken histories end the run. */
    failures: { type: "string", default: "1" },
    progress: { type: "boolean", default: false },
    log: { type: "boolean", default: false }
  }
})

const say = (line: string): void => void process.stdout.write(`${line}\n`)

const setting = Effect.runSync(makeSetting)
const first = Number(values.seed)
const count = values.only === undefined ? Number(values.histories) : 1
const run = (plan: Plan, onLog?: (line: string) => void) => Effect.runSync(runHistory(setting, plan, onLog))

const chosen = (plan: Plan): Plan => {
  if (values.only === undefined) return plan
  const kept = new Set(values.only.split(",").filter(Boolean).map(Number))
  return { ...plan, actions: plan.actions.filter((_, index) => kept.has(index)) }
}

const begun = process.cpuUsage()
let steps = 0
let failures = 0
let done = 0
for (let seed = first; seed < first + count && failures < Number(values.failures); seed++) {
  const whole = planOf(seed)
  const plan = chosen(whole)
  const outcome = run(plan, values.log ? say : undefined)
  steps += outcome.steps
  done++
  if (values.progress) say(`seed ${seed}: ${outcome.steps} steps`)
  if (outcome.broken.length === 0) {
    if (values.log) for (const line of outcome.told) say(`  ${line}`)
    continue
  }
  failures++
  const small = values.only === undefined ? shrunk(plan, (fewer) => run(fewer).broken.length > 0) : plan
  const { broken, told, trace } = small === plan ? outcome : run(small)
  say(`seed ${seed} breaks:`)
  for (const line of broken) say(`  ${line}`)
  say("actions:")
  for (const line of told) say(`  ${line}`)
  if (values.log) for (const line of trace) say(`  ${line}`)
  say(`replay: npm run simulate -- --seed ${seed} --only ${small.actions.map((action) => whole.actions.indexOf(action)).join(",")} --log`)
}
const { system, user } = process.cpuUsage(begun)
const seconds = (system + user) / 1_000_000
say(
  `${done} histories, ${steps} steps, ${failures} broken, ${seconds.toFixed(1)} s of processor time, ${Math.round(steps / seconds)} steps a second`
)
process.exitCode = failures === 0 ? 0 : 1
