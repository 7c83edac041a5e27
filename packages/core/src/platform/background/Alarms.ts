/** Functions that are called later, by one fiber for all of them: a fiber that sleeps takes eight kilobytes, an alarm a fraction of one. */
import { Duration, Effect, type Scope } from "effect"
import * as Monotonic from "../time/Monotonic.js"
import * as Background from "./Background.js"
import { turnAfterStarted } from "./Turns.js"

export interface Alarms {
  /** Calls a function, which must not throw, once after a time; unless the function that it returns is called before. */
  readonly set: (after: Duration.DurationInput, ring: () => void) => () => void
  /** Calls a function, which must not throw, after each period until the function that it returns is called. */
  readonly repeat: (period: Duration.DurationInput, ring: () => void) => () => void
}

interface Alarm {
  /** Milliseconds of a clock that only goes forward: one of the day may be set. */
  readonly at: number
  readonly ring: () => void
}

/** Alarms that ring in one turn of the event loop: each may have a fiber read, and hundreds of streams that were opened together ring together. */
const atOnce = 16

/** Makes alarms that ring until the scope closes. */
export const makeAlarms: Effect.Effect<Alarms, never, Scope.Scope> = Effect.gen(function* () {
  const clock = yield* Effect.clock
  const current = (): number => Monotonic.of(clock)
  /** By the time after which they ring, so that each list is in the order of ringing. */
  const lists = new Map<number, Set<Alarm>>()
  /** Opens when an alarm is set that rings before what is waited for. */
  const isEarlier = yield* Effect.makeLatch(false)
  let waitedFor = Number.POSITIVE_INFINITY

  const remove = (length: number, alarm: Alarm): void => {
    const list = lists.get(length)
    list?.delete(alarm)
    if (list?.size === 0) lists.delete(length)
  }

  const set: Alarms["set"] = (after, ring) => {
    const length = Duration.toMillis(after)
    const alarm = { at: current() + length, ring }
    lists.set(length, (lists.get(length) ?? new Set()).add(alarm))
    if (alarm.at < waitedFor) isEarlier.unsafeOpen()
    return () => remove(length, alarm)
  }

  const dueAt = (now: number): Array<readonly [number, Alarm]> => {
    const due: Array<readonly [number, Alarm]> = []
    for (const [length, list] of lists) {
      for (const alarm of list) {
        if (alarm.at > now) break
        due.push([length, alarm])
      }
    }
    return due
  }

  const ringDue = Effect.gen(function* () {
    const due = dueAt(current())
    for (const [index, [length, alarm]] of due.entries()) {
      if (index > 0 && index % atOnce === 0) yield* turnAfterStarted
      // One alarm may have canceled another
      if (lists.get(length)?.has(alarm) !== true) continue
      remove(length, alarm)
      alarm.ring()
    }
  })

  /** When the next alarm rings. */
  const next = (): number => {
    let earliest = Number.POSITIVE_INFINITY
    for (const [first] of lists.values()) if (first !== undefined) earliest = Math.min(earliest, first.at)
    return earliest
  }

  const wait = Effect.suspend(() => {
    isEarlier.unsafeClose()
    waitedFor = next()
    if (waitedFor === Number.POSITIVE_INFINITY) return isEarlier.await
    return Effect.raceFirst(clock.sleep(Duration.millis(Math.max(0, waitedFor - current()))), isEarlier.await)
  })
  // An alarm that throws is not set any more; those behind it ring in the next turn
  yield* Background.repeat("alarms", Effect.zipRight(ringDue, wait))

  return {
    set,
    repeat: (period, ring) => {
      const again = (): void => {
        cancel = set(period, again)
        ring()
      }
      let cancel = set(period, again)
      return () => cancel()
    }
  }
})
