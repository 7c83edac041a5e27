/** How background work fares, by its name. */
import { Cause, type Clock, Effect } from "effect"
import * as Timestamp from "../time/Timestamp.js"

/** The state of one kind of background work in this process. Names of errors say nothing of what they are about. */
export interface WorkHealth {
  readonly name: string
  /** Loops that run, such as one for each connection. */
  readonly loops: number
  /** Loops whose last turn failed. */
  readonly failing: number
  readonly last_success_at: Timestamp.Timestamp | null
  readonly last_failure_at: Timestamp.Timestamp | null
  /** The name of the last error; null if there was none. */
  readonly last_failure: string | null
  /** Turns that failed since one succeeded, of whichever loop. */
  readonly consecutive_failures: number
  /** Items, such as rows, that could not be dealt with since the process started. */
  readonly failed_items: number
}

/** With instants in milliseconds since 1970: a turn is noted more often than it is read. */
interface State {
  loops: number
  failing: number
  succeededAt: number | undefined
  failedAt: number | undefined
  failure: string | null
  consecutive: number
  items: number
}

/** Names are the code's own, so there are few. */
const states = new Map<string, State>()

const stateOf = (name: string): State => {
  const known = states.get(name)
  if (known !== undefined) return known
  const state: State = { loops: 0, failing: 0, succeededAt: undefined, failedAt: undefined, failure: null, consecutive: 0, items: 0 }
  states.set(name, state)
  return state
}

const instant = (millis: number | undefined): Timestamp.Timestamp | null => (millis === undefined ? null : Timestamp.fromMillis(millis))

/** The state of all kinds of work that this process has begun, by name. */
export const all: Effect.Effect<ReadonlyArray<WorkHealth>> = Effect.sync(() =>
  Array.from(states, ([name, { consecutive, failedAt, failing, failure, items, loops, succeededAt }]) => ({
    name,
    loops,
    failing,
    last_success_at: instant(succeededAt),
    last_failure_at: instant(failedAt),
    last_failure: failure,
    consecutive_failures: consecutive,
    failed_items: items
  })).toSorted((one, other) => (one.name < other.name ? -1 : 1))
)

/** The name of what ended a turn, without its text, which may quote data. */
const nameOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  if (typeof error !== "object" || error === null) return "Failure"
  if ("_tag" in error && typeof error._tag === "string") return error._tag
  return error instanceof Error ? error.name : "Failure"
}

const noteFailure = (state: State, cause: Cause.Cause<unknown>, clock: Clock.Clock): void => {
  state.failedAt = clock.unsafeCurrentTimeMillis()
  state.failure = nameOf(cause)
}

/** A loop, which says how its turns end. */
export interface ObservedLoop {
  readonly succeeded: () => void
  readonly failed: (cause: Cause.Cause<unknown>) => void
  readonly ended: () => void
}

/** A loop of some work begins. */
export const observe = (name: string): Effect.Effect<ObservedLoop> =>
  Effect.map(Effect.clock, (clock) => {
    const state = stateOf(name)
    let isFailing = false
    const turn = (fails: boolean): void => {
      if (fails === isFailing) return
      isFailing = fails
      state.failing += fails ? 1 : -1
    }
    state.loops += 1
    return {
      succeeded: () => {
        turn(false)
        state.consecutive = 0
        state.succeededAt = clock.unsafeCurrentTimeMillis()
      },
      failed: (cause) => {
        turn(true)
        state.consecutive += 1
        noteFailure(state, cause, clock)
      },
      ended: () => {
        turn(false)
        state.loops -= 1
        if (state.loops === 0) state.consecutive = 0
      }
    }
  })

/** An item of some work could not be dealt with. */
export const itemFailed = (name: string, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.map(Effect.clock, (clock) => {
    const state = stateOf(name)
    state.items += 1
    noteFailure(state, cause, clock)
  })
