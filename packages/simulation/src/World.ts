/**
 * The world that replicas live in: one virtual time, and one decision after the other about what happens next. Nothing in it waits for the machine, so a history
 * takes as long as its computations, and the same seed gives the same history.
 */
import { Clock, Duration, Effect, FiberRef, type Scheduler } from "effect"
import type { Chance } from "./Chance.js"

/** Something outside of a process that is under way, such as a statement that was sent. It happens when it is chosen. */
export interface Pending {
  readonly process: Process
  readonly name: string
  /** Whether it can happen now: a statement waits while another connection has the lock. Absent where it always can. */
  readonly isPossible?: () => boolean
  readonly happen: () => void
}

interface Timer {
  readonly at: number
  readonly order: number
  readonly process: Process | undefined
  readonly ring: () => void
  isCanceled: boolean
}

/** A replica's process, or the world outside of all replicas. */
export interface Process {
  readonly name: string
  isAlive: boolean
  /** Milliseconds by which its machine's clock is ahead. */
  skew: number
  readonly scheduler: Scheduler.Scheduler
  readonly clock: Clock.Clock
}

export interface World {
  readonly chance: Chance
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** How many things have happened: statements, deliveries and alarms. */
  readonly steps: () => number
  readonly newProcess: (name: string, skew: number) => Process
  /** Ends a process at once: nothing of it goes on. */
  readonly kill: (process: Process) => void
  readonly submit: (pending: Pending) => () => void
  /** Calls a function after a time, unless the process dies before. */
  readonly after: (millis: number, ring: () => void, process?: Process) => () => void
  /** Lets things happen until a condition holds, or until a time. Returns whether the condition holds. */
  readonly run: (until: () => boolean, limit: number) => boolean
  /** What has happened, the last things only. */
  readonly trace: ReadonlyArray<string>
}

/** Things that are kept of what has happened. */
const keptTrace = 4_000

/** How likely time passes, instead of something happening that is under way. */
const passing = 0.03

/** Milliseconds that may pass while something is pending: a slow store. */
const slowness = [1, 20, 400, 3_000] as const

/**
 * Runs a function without intervals of the machine: a fiber that waits for ever sets one, which does nothing but keep the fiber, also where its
 * process is killed.
 */
const withoutIntervals = <A>(run: () => A): A => {
  const { setInterval } = globalThis
  globalThis.setInterval = (() => 0) as unknown as typeof setInterval
  try {
    return run()
  } finally {
    globalThis.setInterval = setInterval
  }
}

/** Timers in the order of their times. */
const makeTimers = () => {
  const heap: Array<Timer> = []
  const isBefore = (one: Timer, other: Timer): boolean => (one.at === other.at ? one.order < other.order : one.at < other.at)
  const swap = (one: number, other: number): void => {
    const [first, second] = [heap[one], heap[other]]
    if (first === undefined || second === undefined) return
    heap[one] = second
    heap[other] = first
  }
  const isLess = (one: number, other: number): boolean => {
    const [first, second] = [heap[one], heap[other]]
    return first !== undefined && second !== undefined && isBefore(first, second)
  }
  return {
    first: (): Timer | undefined => heap[0],
    push: (timer: Timer): void => {
      let at = heap.push(timer) - 1
      while (at > 0 && isLess(at, (at - 1) >> 1)) {
        swap(at, (at - 1) >> 1)
        at = (at - 1) >> 1
      }
    },
    pop: (): Timer | undefined => {
      const [top] = heap
      const last = heap.pop()
      if (last === undefined || heap.length === 0) return top
      heap[0] = last
      for (let at = 0; ;) {
        const [left, right] = [2 * at + 1, 2 * at + 2]
        let least = at
        if (isLess(left, least)) least = left
        if (isLess(right, least)) least = right
        if (least === at) return top
        swap(at, least)
        at = least
      }
    }
  }
}

/** Makes a world whose decisions follow from `chance`. */
export const makeWorld = (chance: Chance, begin: number): World => {
  let now = begin
  let steps = 0
  let order = 0
  const timers = makeTimers()
  const pending: Array<Pending> = []
  const tasks: Array<{ readonly process: Process; readonly task: () => void }> = []
  const trace: Array<string> = []

  const note = (line: string): void => {
    if (trace.length >= keptTrace) trace.splice(0, keptTrace / 2)
    trace.push(`${((now - begin) / 1_000).toFixed(3)} ${line}`)
  }

  const after: World["after"] = (millis, ring, process) => {
    const timer: Timer = { at: now + Math.max(0, millis), order: order++, process, ring, isCanceled: false }
    timers.push(timer)
    return () => {
      timer.isCanceled = true
    }
  }

  const newProcess: World["newProcess"] = (name, skew) => {
    const clock: Clock.Clock = {
      [Clock.ClockTypeId]: Clock.ClockTypeId,
      unsafeCurrentTimeMillis: () => Math.floor(now + process.skew),
      unsafeCurrentTimeNanos: () => BigInt(Math.floor(now * 1_000)) * 1_000n,
      currentTimeMillis: Effect.sync(() => Math.floor(now + process.skew)),
      currentTimeNanos: Effect.sync(() => BigInt(Math.floor(now * 1_000)) * 1_000n),
      sleep: (duration) => {
        const millis = Duration.toMillis(duration)
        // What sleeps for ever has no timer
        if (!Number.isFinite(millis)) return Effect.async<void>(() => {})
        return Effect.async<void>((resume) => Effect.sync(after(millis, () => resume(Effect.void), process)))
      }
    }
    const process: Process = {
      name,
      isAlive: true,
      skew,
      clock,
      scheduler: {
        shouldYield: (fiber) =>
          fiber.currentOpCount > fiber.getFiberRef(FiberRef.currentMaxOpsBeforeYield)
            ? fiber.getFiberRef(FiberRef.currentSchedulingPriority)
            : false,
        scheduleTask: (task) => void tasks.push({ process, task })
      }
    }
    return process
  }

  /** Lets all processes compute until each of them waits. */
  const compute = (): void => {
    for (let at = 0; at < tasks.length; at++) {
      const next = tasks[at]
      if (next?.process.isAlive === true) next.task()
      if (at === 1_023) at -= tasks.splice(0, 1_024).length
    }
    tasks.length = 0
  }

  /** One thing happens. Returns whether anything could, before the limit. */
  const step = (limit: number): boolean => {
    const possible = pending.filter(({ isPossible }) => isPossible === undefined || isPossible())
    const timer = timers.first()
    // An alarm that is due meets what is under way as two statements meet; time itself passes less often
    const isTimers = timer !== undefined && chance.is(timer.at <= now ? 1 / (possible.length + 1) : passing)
    if (possible.length > 0 && !isTimers) {
      const chosen = possible[possible.length === 1 ? 0 : chance.below(possible.length)]
      if (chosen === undefined) return false
      pending.splice(pending.indexOf(chosen), 1)
      note(`${chosen.process.name} ${chosen.name}`)
      steps++
      chosen.happen()
      return true
    }
    if (timer === undefined || timer.at > limit) {
      if (possible.length > 0) return step(Number.NEGATIVE_INFINITY)
      now = Math.max(now, limit)
      return false
    }
    // With something under way, time passes only a little at once
    const until = possible.length === 0 ? timer.at : Math.min(timer.at, now + chance.pick(slowness))
    now = Math.max(now, until)
    if (until < timer.at) return true
    timers.pop()
    if (timer.isCanceled || timer.process?.isAlive === false) return true
    steps++
    timer.ring()
    return true
  }

  return {
    chance,
    now: () => now,
    steps: () => steps,
    trace,
    newProcess,
    kill: (process) => {
      process.isAlive = false
      for (let at = pending.length - 1; at >= 0; at--) if (pending[at]?.process === process) pending.splice(at, 1)
    },
    submit: (item) => {
      pending.push(item)
      return () => {
        const at = pending.indexOf(item)
        if (at >= 0) pending.splice(at, 1)
      }
    },
    after,
    run: (until, limit) =>
      withoutIntervals(() => {
        compute()
        while (!until()) {
          if (!step(limit)) return until()
          compute()
        }
        return true
      })
  }
}
