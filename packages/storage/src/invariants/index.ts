/** What holds of the rows of every database, after any crash: for tests of faults, and for the doctor. */
import { Effect } from "effect"
import { Statements } from "../platform/Statements.js"
import { orDefect } from "../platform/Unavailability.js"
import type { Invariant } from "./Invariant.js"
import { countInvariants } from "./counts.js"
import { jobInvariants } from "./jobs.js"
import { workspaceInvariants } from "./workspaces.js"

export type { Invariant } from "./Invariant.js"

/** All of them. */
export const invariants: ReadonlyArray<Invariant> = [...jobInvariants, ...workspaceInvariants, ...countInvariants]

/** A row that breaks an invariant. */
export interface Violation {
  readonly invariant: Invariant
  readonly row: string
}

const inTheirOrder = (sql: Statements): Effect.Effect<ReadonlyArray<Violation>> =>
  Effect.map(
    Effect.forEach(invariants, (invariant) =>
      Effect.map(invariant.violations(sql), (rows) => rows.map((row): Violation => ({ invariant, row })))
    ),
    (found) => found.flat()
  )

/** Checks a database as it is at one moment, while servers may use it. Reads only. Dies if it cannot be read. */
export const violationsIn: Effect.Effect<ReadonlyArray<Violation>, never, Statements> = Effect.flatMap(Statements, (sql) =>
  orDefect(
    sql.transaction(
      Effect.zipRight(
        sql.dialect({
          postgres: () => Effect.asVoid(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY`),
          sqlite: () => Effect.void
        }),
        inTheirOrder(sql)
      )
    )
  )
)
