import { Context, Effect, FiberRef, GlobalValue, Schema } from "effect"
import { type Channel, EventBus } from "../events/EventBus.js"
import type { Series } from "../Measure.js"

/** Runs writes as one. */
export class Transactor extends Context.Tag("@atelier/core/Transactor")<
  Transactor,
  {
    /**
     * All of the effect's writes are stored, or none. Nested calls join the outermost one. A store that may abort for a concurrent
     * writer runs the effect again, so it must not do anything but read, decide and write.
     */
    readonly atomically: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Has the transaction at hand die with `StoreUnavailable` where it would wait for the lock of a row for more than a second. */
    readonly hurried: Effect.Effect<void>
    /** Runs an effect without a part in the transaction at hand: its statements neither wait for the commit nor use the connection of it. */
    readonly outside: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>() {}

type Outgoing = Effect.Effect<void, never, EventBus>

interface Current {
  /** Events and log messages that wait for the commit. */
  readonly pending: Array<Outgoing>
  readonly outside: Transactor["Type"]["outside"]
}

/** The transaction that the fiber is in; null outside of one. A fiber that is forked in a transaction inherits it. */
const current = GlobalValue.globalValue("@atelier/core/Transactor/current", () => FiberRef.unsafeMake<Current | null>(null))

/**
 * Writes, and events published inside, commit together: events and log messages are sent after the commit and dropped with a roll-back.
 * Fails as the effect does.
 */
export const transaction = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Transactor | EventBus> =>
  Effect.gen(function* () {
    const { atomically, outside } = yield* Transactor
    if ((yield* FiberRef.get(current)) !== null) return yield* atomically(effect)
    let pending: Array<Outgoing> = []
    // A caller that is interrupted during the commit finds the change stored, and waiters rely on its events: only the work itself can be
    // interrupted
    return yield* Effect.uninterruptibleMask((restore) => {
      const attempt = Effect.suspend(() => {
        pending = []
        return restore(Effect.locally(effect, current, { pending, outside }))
      })
      return Effect.tap(atomically(attempt), () => Effect.all(pending, { discard: true }))
    })
  })

/**
 * As `transaction`, for work on many rows: one that another transaction keeps locked is left for later, and does not keep the rest from its turn.
 */
export const hurriedTransaction = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Transactor | EventBus> =>
  transaction(Effect.flatMap(Transactor, ({ hurried }) => Effect.zipRight(hurried, effect)))

/**
 * Runs work that may outlive the transaction in which it is started, so has no part in it: what it publishes goes out at once, and what it writes does not
 * reach the connection, which serves other requests after the commit. Every fork of this package that may outlive its fiber is of such work.
 */
export const afterwards = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(FiberRef.get(current), (transaction) =>
    transaction === null ? work : transaction.outside(Effect.locally(work, current, null))
  )

/** Sends an event on a channel; within a transaction, after its commit. */
export const publish = <A>(to: Channel<A>, event: NoInfer<A>): Effect.Effect<void, never, EventBus> =>
  Effect.gen(function* () {
    const message = Schema.encodeSync(to.schema)(event)
    const transaction = yield* FiberRef.get(current)
    const sent = Effect.flatMap(EventBus, (bus) => bus.publish(to.name, message))
    if (transaction === null) yield* sent
    else transaction.pending.push(sent)
  })

/** Tells the process of a change; within a transaction, after its commit. */
export const tellChange = (telling: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.gen(function* () {
    const transaction = yield* FiberRef.get(current)
    if (transaction === null) yield* telling
    else transaction.pending.push(telling)
  })

/** Logs a message about a change, in one line with its fields; within a transaction, after its commit. */
export const logChange = (message: string, fields: Readonly<Record<string, unknown>>): Effect.Effect<void> =>
  tellChange(Effect.annotateLogs(Effect.logInfo(message), fields))

/** Counts a change in metrics; within a transaction, after its commit. */
export const countChange = (series: Series): Effect.Effect<void> => tellChange(Effect.sync(() => series.update(1)))
