import { SqlClient, SqlError } from "@effect/sql"
import { StoreUnavailable, Transactor, service } from "@atelier/core/platform"
import { run } from "../Statement.js"
import { dieOf, inTransaction, missesReference, unavailabilityOf } from "../Unavailability.js"
import { Cause, Context, Effect, FiberRef, GlobalValue, Schedule } from "effect"
import { Statements } from "../Statements.js"

/** What the store said of an attempt at a transaction, as failures or as defects of its statements. */
const reasonsOf = <E>(cause: Cause.Cause<E>): ReadonlyArray<unknown> => [...Cause.failures(cause), ...Cause.defects(cause)]

/** Whether a row was missing to which another was to refer. If the transaction had read it, it has been deleted since: the next attempt finds it missing. */
const hasLostReference = (error: unknown): boolean => error instanceof SqlError.SqlError && missesReference(error)

/** Whether the store has aborted an attempt for the sake of other transactions. */
const isContended = (error: unknown): boolean => {
  const unavailable = error instanceof SqlError.SqlError ? unavailabilityOf(error.cause) : error
  return unavailable instanceof StoreUnavailable && unavailable.reason === "contended"
}

const depth = GlobalValue.globalValue("@atelier/storage/Transactor/depth", () => FiberRef.unsafeMake(0))

/** The context of an effect without the connection of a transaction. */
const withoutConnection = <R>(context: Context.Context<R>): Context.Context<R> => {
  const services = new Map(context.unsafeMap)
  services.delete(SqlClient.TransactionConnection.key)
  return Context.unsafeMake(services)
}

/** At most five attempts, 10 ms to 160 ms apart. */
const backoff = Schedule.intersect(Schedule.jittered(Schedule.exponential("10 millis")), Schedule.recurs(4))

/**
 * Transactions of the SQL client. Aborted ones run again, and once, without a pause, those that missed a row to refer to; any other failure of the store is a
 * defect.
 */
export const layer = service(
  Transactor,
  Effect.map(Statements, (sql) =>
    Transactor.of({
      hurried: sql.dialect({ postgres: () => run(sql`SET LOCAL lock_timeout = '1s'`), sqlite: () => Effect.void }),
      outside: (effect) => Effect.locally(Effect.mapInputContext(effect, withoutConnection), depth, 0),
      atomically: (effect) =>
        Effect.gen(function* () {
          // Nested work joins the outermost transaction: there is nothing to keep of a part whose whole fails
          if ((yield* FiberRef.get(depth)) > 0) return yield* effect
          return yield* inTransaction(sql, Effect.locally(effect, depth, 1)).pipe(
            // The statements' failures are defects of the effect; those of the transaction itself are failures
            Effect.sandbox,
            Effect.retry({ times: 1, while: (cause) => reasonsOf(cause).some(hasLostReference) }),
            Effect.retry({ schedule: backoff, while: (cause) => reasonsOf(cause).some(isContended) }),
            Effect.unsandbox,
            Effect.catchIf((error): error is SqlError.SqlError => error instanceof SqlError.SqlError, dieOf)
          )
        })
    })
  )
)
