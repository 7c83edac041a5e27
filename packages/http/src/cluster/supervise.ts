/** Starts the processes that serve one address, watches over them, and replaces them one after the other. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { begin, type Ending, type Life } from "./Life.js"
import type { Activity, End, Said, WorkerState } from "./messages.js"
import { makeQuestions } from "./Questions.js"

/** Milliseconds between two starts of a process of one number. */
const restartInterval = { least: 1_000, most: 30_000 }

/** The interval of the next start: one that ends again and again before it serves takes its time from the others. */
export const intervalAfter = (interval: number, served: boolean): number =>
  served ? restartInterval.least : Math.min(interval * 2, restartInterval.most)

/** Milliseconds between two looks whether the workers still take turns. */
const pingInterval = 5_000

/** Signs of life that are missing in a row before a worker counts as silent, and before it is killed: it holds connections and answers none. */
const missingUntilSilent = 2
const missingUntilKilled = 12

/** Milliseconds that the workers have to answer a question to all. */
const answerWithin = 3_000

/** Milliseconds that a worker has to get to serve. The first one of all has no such bound: it brings the database up to date. */
const usualStart = 600_000

export interface Supervision {
  /** How many workers. */
  readonly count: number
  /** Resolves when all are to end. */
  readonly ended: Promise<NodeJS.Signals>
  /** Calls a listener at each request to replace the workers one after the other. */
  readonly onRestart: (restart: () => void) => void
  /** Milliseconds that a worker has to end, before it is killed. */
  readonly endWithin: number
  /** Milliseconds that a worker has to get to serve, before it is killed, other than the first one. Default: ten minutes. */
  readonly startWithin?: number
}

/** A worker's number, and its present process. */
interface Slot {
  readonly number: number
  life: Life
  activity: Activity
  since: number
  starts: number
  missing: number
  /** Whether the process was told to end, so that another one takes its place. */
  isReplaced: boolean
}

const say = (line: string): void => void process.stderr.write(`${line}\n`)

const makeCrew = ({ count, endWithin, startWithin = usualStart }: Supervision) => {
  const directory = mkdtempSync(join(tmpdir(), "atelier-"))
  const slots = new Map<number, Slot>()
  const questions = makeQuestions(answerWithin)
  let end: End | undefined

  const states = (): ReadonlyArray<WorkerState> =>
    Array.from(slots.values(), ({ activity, life, number, since, starts }) => ({ number, pid: life.pid, activity, since, starts }))
  const become = (slot: Slot, activity: Activity): void => {
    if (slot.activity === activity) return
    slot.activity = activity
    slot.since = Date.now()
    for (const { life } of slots.values()) life.tell({ kind: "states", states: states() })
  }
  const tellEnd = (slot: Slot, told: End): void => {
    const { life } = slot
    become(slot, "ending")
    life.tell({ kind: "end", end: told })
    const timer = setTimeout(() => {
      say(`Worker ${slot.number} has not ended within ${Math.round(endWithin / 1000)} seconds, and is killed`)
      life.kill()
    }, endWithin)
    void life.over.then(() => clearTimeout(timer))
  }
  const hear = (slot: Slot, message: Said): void => {
    slot.missing = 0
    if (slot.activity === "silent") become(slot, "serving")
    if (message.kind === "serves" && slot.activity === "starting") become(slot, "serving")
    if (message.kind === "listens") {
      slot.life.tell({ kind: "states", states: states() })
      // A message to a process that does not listen yet is lost
      if (end !== undefined) slot.life.tell({ kind: "end", end })
    }
    if (message.kind === "answer") questions.answered(slot.number, message.id, message.value)
    if (message.kind === "ask") {
      const { life } = slot
      const asked = Array.from(slots.values()).filter((other) => other !== slot && other.activity === "serving")
      const put = (number: number, id: number): void => slots.get(number)?.life.tell({ kind: "question", id })
      const numbers = asked.map(({ number }) => number)
      void questions.ask(numbers, put).then((answers) => life.tell({ kind: "answers", id: message.id, answers }))
    }
  }
  /** Kills a process that does not get to serve: its number would have none, and others would wait for it. */
  const bound = ({ life, number }: Slot): void => {
    const timer = setTimeout(() => {
      say(`Worker ${number} does not serve within ${Math.round(startWithin / 1000)} seconds of its start, and is killed`)
      life.kill()
    }, startWithin)
    void life.ready.then(() => clearTimeout(timer))
  }
  const start = (number: number): Slot => {
    const before = slots.get(number)
    const life = begin({ number, directory }, (message) => {
      if (slot.life === life) hear(slot, message)
    })
    const slot: Slot = before ?? { number, life, activity: "dead", since: 0, starts: 0, missing: 0, isReplaced: false }
    Object.assign(slot, { life, starts: slot.starts + 1, missing: 0, isReplaced: false })
    slots.set(number, slot)
    become(slot, "starting")
    if (number !== 1 || slot.starts > 1) bound(slot)
    void life.over.then(() => {
      if (slot.life !== life) return
      become(slot, "dead")
      questions.gone(number)
    })
    return slot
  }
  const look = (): void => {
    for (const slot of slots.values()) {
      if (slot.activity !== "serving" && slot.activity !== "silent") continue
      slot.missing += 1
      if (slot.missing > missingUntilSilent) become(slot, "silent")
      if (slot.missing > missingUntilKilled) {
        say(`Worker ${slot.number} has given no sign of life for ${(missingUntilKilled * pingInterval) / 1000} seconds, and is killed`)
        slot.life.kill()
      } else slot.life.tell({ kind: "ping" })
    }
  }
  const looking = setInterval(look, pingInterval)
  return {
    slots,
    start,
    isEnding: () => end !== undefined,
    endAll: (signal: NodeJS.Signals): void => {
      if (end !== undefined) return
      end = { signal, isReplaced: false }
      for (const slot of slots.values()) tellEnd(slot, end)
    },
    replace: (slot: Slot): void => {
      slot.isReplaced = true
      tellEnd(slot, { signal: "SIGTERM", isReplaced: true })
    },
    othersServe: (slot: Slot): boolean =>
      slots.size === count && Array.from(slots.values()).every((other) => other === slot || other.activity === "serving"),
    release: (): void => {
      clearInterval(looking)
      rmSync(directory, { recursive: true, force: true })
    }
  }
}

type Crew = ReturnType<typeof makeCrew>

/** Replaces the process of a number as often as it dies; resolves with the exit code of the one that was told to end for good. */
const keep = async (crew: Crew, slot: Slot, ended: Promise<unknown>): Promise<number> => {
  let interval = restartInterval.least
  for (;;) {
    const next = Promise.race([sleep(interval), ended])
    const { life } = slot
    const { code, reason } = await life.over
    if (crew.isEnding()) return code
    if (!slot.isReplaced) {
      say(`Worker ${slot.number} ended with ${reason}; another one takes its place`)
      await next
      if (crew.isEnding()) return code
    }
    interval = intervalAfter(interval, (await life.ready) !== undefined)
    crew.start(slot.number)
  }
}

/** Replaces one worker after the other, each once the others serve. A process that does not get to serve stops that, so that the others go on as they are. */
const restart = async (crew: Crew): Promise<void> => {
  for (const slot of crew.slots.values()) {
    if (crew.isEnding()) return
    if (slot.activity !== "serving" || !crew.othersServe(slot)) {
      return say("The workers are not replaced: not all of them serve")
    }
    const { life, starts } = slot
    crew.replace(slot)
    await life.over
    // The one that takes its place is started in the same turn
    await new Promise((resolve) => setImmediate(resolve))
    if (crew.isEnding()) return
    if (slot.starts === starts || (await slot.life.ready) === undefined) {
      if (crew.isEnding()) return
      return say(`The other workers are not replaced: worker ${slot.number} did not serve`)
    }
  }
  say("All workers were replaced")
}

/** The supervisor listens from now on. A request that comes before `begin` is met then. */
const restarting = ({ onRestart }: Supervision, crew: Crew): { readonly begin: () => void } => {
  let hasBegun = false
  let isWanted = false
  let isRunning = false
  const run = async (): Promise<void> => {
    isRunning = true
    while (isWanted && !crew.isEnding()) {
      isWanted = false
      await restart(crew)
    }
    isRunning = false
  }
  onRestart(() => {
    isWanted = true
    if (hasBegun && !isRunning) void run()
  })
  return {
    begin: () => {
      hasBegun = true
      void run()
    }
  }
}

/**
 * Keeps workers until `ended` resolves, which ends them all, and returns the exit code. A process that dies, or gives no sign of life, is replaced; one that
 * does not get to serve at the start ends the server. The first starts alone: it brings the database up to date.
 */
export const supervise = async (supervision: Supervision): Promise<number> => {
  const { count, ended } = supervision
  const crew = makeCrew(supervision)
  try {
    void ended.then(crew.endAll)
    // Without a listener, the signal for it would end this process
    const restarts = restarting(supervision, crew)
    const first = crew.start(1)
    const greeting = await first.life.ready
    const more = greeting === undefined || crew.isEnding() ? 0 : count - 1
    const slots = [first, ...Array.from({ length: more }, (_, index) => crew.start(index + 2))]
    const lives = slots.map(({ life }) => life)
    const greetings = await Promise.all(lives.map(({ ready }) => ready))
    const failed = crew.isEnding() ? -1 : greetings.indexOf(undefined)
    if (failed !== -1) {
      crew.endAll("SIGTERM")
      const endings: ReadonlyArray<Ending> = await Promise.all(lives.map(({ over }) => over))
      const { code = 1, reason } = endings[failed] ?? {}
      say(`Worker ${failed + 1} ended with ${reason} before it served`)
      return code || 1
    }
    if (greeting !== undefined && !crew.isEnding()) process.stdout.write(greeting)
    restarts.begin()
    return Math.max(...(await Promise.all(slots.map((slot) => keep(crew, slot, ended)))))
  } finally {
    crew.release()
  }
}
