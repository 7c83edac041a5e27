import { Clock, Effect, type Scope } from "effect"
import { Timestamp } from "@atelier/agent-protocol"
import type { Connection } from "../connection/Connection.js"
import * as Outbox from "./Outbox.js"

/** The states an agent reports, in the only order it may report them. Spec: agents-and-apps.md §4. */
const order = [
  "CREATED",
  "STARTING",
  "START_TIMEOUT",
  "START_ERROR",
  "READY",
  "SHUTTING_DOWN",
  "SHUTDOWN_TIMEOUT",
  "SHUTDOWN_ERROR",
  "OFF"
] as const

export type State = (typeof order)[number]

/** How a set of scripts ended: failures count more than timeouts. */
export type Outcome = "ok" | "timeout" | "error"

/** The state after the start scripts, or after the stop scripts. */
export const after = {
  start: { ok: "READY", timeout: "START_TIMEOUT", error: "START_ERROR" },
  stop: { ok: "OFF", timeout: "SHUTDOWN_TIMEOUT", error: "SHUTDOWN_ERROR" }
} as const satisfies Record<string, Record<Outcome, State>>

/** Whether an agent that is in `current` may go to `next`: only forwards. */
export const mayFollow = (current: State, next: State): boolean => order.indexOf(next) > order.indexOf(current)

export interface Lifecycle {
  /** Goes to a state and tells the server; a state that may not follow is left out. */
  readonly enter: (state: State) => Effect.Effect<void>
  /** Completes when the server knows the state. */
  readonly drain: Effect.Effect<void>
}

export const make = (connection: Connection): Effect.Effect<Lifecycle, never, Scope.Scope> =>
  Effect.gen(function* () {
    let current: State = "CREATED"
    const outbox = yield* Outbox.make<{ readonly state: State; readonly at: number }>({
      capacity: order.length,
      deliver: ({ at, state }) =>
        connection.deliver(`the state ${state}`, (client) =>
          client.UpdateLifecycle({ lifecycle: { state, changed_at: Timestamp.fromMillis(at) } })
        )
    })
    return {
      enter: (state) =>
        Effect.flatMap(Clock.currentTimeMillis, (at) => {
          if (!mayFollow(current, state)) return Effect.void
          current = state
          outbox.add({ state, at })
          return Effect.logInfo(`The state is ${state}`)
        }),
      drain: outbox.drain
    }
  })
