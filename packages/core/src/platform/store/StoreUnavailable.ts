import { Cause, Chunk, Data, Effect, Option, type Schedule } from "effect"

/**
 * The store cannot answer at present: it is away, its connections are all in use, its disk is full, it can only be read, it is damaged, or it is contended:
 * it has refused a change for others that were made at the same time.
 * Repositories die with it, because no use case can act on it; the same work may succeed later.
 */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable")<{
  readonly reason: "away" | "contended" | "damaged" | "exhausted" | "full" | "read-only"
  /** The driver's error. */
  readonly cause: unknown
}> {}

/** The reason why the store could not answer, if the cause contains one. */
export const storeUnavailable = (cause: Cause.Cause<unknown>): Option.Option<StoreUnavailable> =>
  Chunk.findFirst(
    Chunk.appendAll<unknown, unknown>(Cause.failures(cause), Cause.defects(cause)),
    (error): error is StoreUnavailable => error instanceof StoreUnavailable
  )

/** Repeats work while the store cannot answer it, until the schedule ends. Doing the work twice must do no harm. */
export const whileUnavailable =
  (schedule: Schedule.Schedule<unknown>) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    work.pipe(Effect.sandbox, Effect.retry({ schedule, while: (cause) => Option.isSome(storeUnavailable(cause)) }), Effect.unsandbox)

/** Runs work that a start can do without while the store has no room: it is done later. Other failures stay. */
export const unlessFull = <E, R>(work: Effect.Effect<unknown, E, R>): Effect.Effect<void, E, R> =>
  Effect.catchAllCause(Effect.asVoid(work), (cause) =>
    Option.exists(storeUnavailable(cause), ({ reason }) => reason === "full")
      ? Effect.logWarning("the store has no room: work of the start is left for later", cause)
      : Effect.failCause(cause)
  )

/** Runs a write that a read can do without. Returns None if the store has no room or can only be read. Other failures stay. */
export const ifWritable = <A, E, R>(write: Effect.Effect<A, E, R>): Effect.Effect<Option.Option<A>, E, R> =>
  Effect.catchAllCause(Effect.map(write, Option.some), (cause) =>
    Option.exists(storeUnavailable(cause), ({ reason }) => reason === "full" || reason === "read-only")
      ? Effect.succeedNone
      : Effect.failCause(cause)
  )
