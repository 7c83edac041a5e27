import { SqlClient, SqlError } from "@effect/sql"
import { StoreUnavailable, Transactor, service } from "@atelier/core/platform"
import { run } from "../Statement.js"
import { dieOf, inTransaction, missesReference, unavailabilityOf } from "../Unavailability.js"
import { Cause, Context, Effect, FiberRef, GlobalValue, Schedule } from "effect"
import { Statements } from "../Statements.js"

/**
 * Whether another attempt at the transaction may succeed at once: the store has aborted it for others, or a row that it had read was deleted before it referred
 * to it. The next attempt finds it missing.
 */
const isOvertaken = (error: unknown): boolean => {
  if (error instanceof SqlError.SqlError && missesReference(error)) return true
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

/** Transactions of the SQL client. Aborted ones run again; any other failure of the store is a defect. */
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
            Effect.retry({ schedule: backoff, while: (cause) => [...Cause.failures(cause), ...Cause.defects(cause)].some(isOvertaken) }),
            Effect.unsandbox,
            Effect.catchIf((error): error is SqlError.SqlError => error instanceof SqlError.SqlError, dieOf)
          )
        })
    })
  )
)
