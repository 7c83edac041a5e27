import { SqlError } from "@effect/sql"
import { StoreUnavailable } from "@atelier/core/platform"
import { Effect, Option } from "effect"
import type { Statements } from "./Statements.js"

/** The drivers' codes and, where they give none, their messages. PostgreSQL's codes: its manual, appendix A. */
const reasons: ReadonlyArray<readonly [StoreUnavailable["reason"], RegExp]> = [
  ["full", /^(53100|SQLITE_FULL|ENOSPC|EDQUOT)$/],
  // A disk that fails is often mounted again for reading alone, and so is a standby of PostgreSQL
  ["read-only", /^(25006|SQLITE_READONLY(_\w+)?)$/],
  ["damaged", /^(XX00[12]|SQLITE_(CORRUPT|NOTADB)(_\w+)?)$/],
  // PostgreSQL aborts one of two transactions that wait for each other or could not have run one after the other. SQLite refuses the first write of a
  // transaction when something else has written to the file since it read
  ["contended", /^(40001|40P01|SQLITE_BUSY_SNAPSHOT)$/],
  // The pool's own limit, or the server's
  ["exhausted", /^(53300|timeout exceeded when trying to connect)$/],
  [
    // 57014 and 55P03: the server has ended a wait for a lock. 26000: so ended the preparation of a statement that other reads of the connection use.
    // 28000, 28P01 and 3D000 refuse a new connection: a password was changed, or a database renamed, since the start
    "away",
    /^(0800[013467]|26000|28000|28P01|3D000|57014|55P03|57P0[1-3]|SQLITE_BUSY(_(RECOVERY|TIMEOUT))?|SQLITE_(IOERR|CANTOPEN)(_\w+)?|E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN)|Connection terminated.*|timeout expired|Query read timeout|Client has encountered a connection error.*|The database connection is not open)$/
  ]
]

const textOf = (cause: Error): string => ("code" in cause && typeof cause.code === "string" ? cause.code : cause.message)

/** The unavailability that a driver's error reports, if the store cannot answer at present. */
export const unavailabilityOf = (cause: unknown): StoreUnavailable | undefined => {
  if (!(cause instanceof Error)) return undefined
  const text = textOf(cause)
  const reason = reasons.find(([, pattern]) => pattern.test(text))?.[0]
  return reason && new StoreUnavailable({ reason, cause })
}

/** Whether the store cannot answer at present. */
export const isUnavailable = ({ cause }: SqlError.SqlError): boolean => unavailabilityOf(cause) !== undefined

/** Whether a row was to refer to one that does not exist. */
export const missesReference = ({ cause }: SqlError.SqlError): boolean =>
  cause instanceof Error && /^(23503|SQLITE_CONSTRAINT_FOREIGNKEY)$/.test(textOf(cause))

/** Dies of a failed statement: with `StoreUnavailable` if the store cannot answer at present, else with the driver's error. */
export const dieOf = (error: SqlError.SqlError): Effect.Effect<never> => Effect.die(unavailabilityOf(error.cause) ?? error)

/** A statement whose failures are defects. */
export const orDefect = <A, R>(statement: Effect.Effect<A, SqlError.SqlError, R>): Effect.Effect<A, never, R> =>
  Effect.catchAll(statement, dieOf)

/** Runs an effect in a transaction of the client. A failed commit, such as on a full disk, is a defect as that of a statement. */
export const inTransaction = <A, E, R>(sql: Statements, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.catchSomeDefect(sql.transaction(effect), (defect) =>
    defect instanceof SqlError.SqlError ? Option.some(dieOf(defect)) : Option.none()
  )
