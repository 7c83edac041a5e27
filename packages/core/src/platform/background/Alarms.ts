/** Functions that are called later, by one fiber for all of them: a fiber that sleeps takes eight kilobytes, an alarm a fraction of one. */
import { Duration, Effect, type Scope } from "effect"
import * as Monotonic from "../time/Monotonic.js"
import * as Background from "./Background.js"
import { turnAfterStarted } from "./Turns.js"

/** Calls a function later, once or after each period. */
export interface Alarm {
  /** The function is not called any more. */
  cancel(): void
}

export interface Alarms {
  /** Calls a function, which must not throw, once after a time; unless the alarm is canceled before. */
  readonly set: (after: Duration.DurationInput, ring: () => void) => Alarm
  /** Calls a function, which must not throw, after each period until the alarm is canceled. The first period may be a thirtieth shorter. */
  readonly repeat: (period: Duration.DurationInput, ring: () => void) => Alarm
}

/** Alarms of one length, in the order of ringing. */
type List = Set<SetAlarm>

/**
 * Repeated alarms ring at whole parts of their period, and up to one part early. So those of a thousand streams ring together a few times in each second: to wake once for
 * each takes more than most of them do.
 */
const partsOfPeriod = 30

/** It is no closure: each open stream has several. */
class SetAlarm implements Alarm {
  /** Milliseconds of a clock that only goes forward: one of the day may be set. */
  at = 0

  constructor(
    private readonly lists: Map<number, List>,
    readonly length: number,
    readonly ring: () => void,
    readonly isRepeated: boolean
  ) {}

  add(now: number): void {
    const { isRepeated, length, lists } = this
    const at = now + length
    this.at = isRepeated ? at - (at % Math.max(1, Math.floor(length / partsOfPeriod))) : at
    lists.set(this.key, (lists.get(this.key) ?? new Set()).add(this))
  }

  private get key(): number {
    return this.isRepeated ? -this.length : this.length
  }

  /** Answers whether it was set. */
  remove(): boolean {
    const { key, lists } = this
    const list = lists.get(key)
    const wasSet = list?.delete(this) === true
    if (list?.size === 0) lists.delete(key)
    return wasSet
  }

  cancel(): void {
    this.remove()
  }
}

/** Alarms that ring in one turn of the event loop: each may have a fiber read, and hundreds of streams that were opened together ring together. */
const atOnce = 16

/** Makes alarms that ring until the scope closes. */
export const makeAlarms: Effect.Effect<Alarms, never, Scope.Scope> = Effect.gen(function* () {
  const clock = yield* Effect.clock
  const current = (): number => Monotonic.of(clock)
  /** By the time after which they ring; those that are repeated by its negative, as they ring a little earlier. */
  const lists = new Map<number, List>()
  /** Opens when an alarm is set that rings before what is waited for. */
  const isEarlier = yield* Effect.makeLatch(false)
  let waitedFor = Number.POSITIVE_INFINITY

  const add = (alarm: SetAlarm): Alarm => {
    alarm.add(current())
    if (alarm.at < waitedFor) isEarlier.unsafeOpen()
    return alarm
  }

  const dueAt = (now: number): Array<SetAlarm> => {
    const due: Array<SetAlarm> = []
    for (const list of lists.values()) {
      for (const alarm of list) {
        if (alarm.at > now) break
        due.push(alarm)
      }
    }
    return due
  }

  const ringDue = Effect.gen(function* () {
    for (const [index, alarm] of dueAt(current()).entries()) {
      if (index > 0 && index % atOnce === 0) yield* turnAfterStarted
      // One alarm may have canceled another
      if (!alarm.remove()) continue
      if (alarm.isRepeated) add(alarm)
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
  // An alarm that throws and is not repeated is not set any more; those behind it ring in the next turn
  yield* Background.repeat("alarms", Effect.zipRight(ringDue, wait))

  const make =
    (isRepeated: boolean): Alarms["set"] =>
    (after, ring) =>
      add(new SetAlarm(lists, Duration.toMillis(after), ring, isRepeated))

  return { set: make(false), repeat: make(true) }
})
