/** Statements on PostgreSQL that wait for rows which others' transactions have locked. */
import { Effect } from "effect"
import { Statements } from "../../packages/storage/src/platform/Statements.js"

/** Waits until as many statements of the database wait for others' rows. */
export const untilLockWaiters = (count: number) =>
  Effect.repeat(
    Effect.flatMap(
      Statements,
      (sql) => sql<{ waiting: number }>`SELECT CAST(count(*) AS integer) AS waiting FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`
    ),
    { until: ([row]) => row?.waiting === count }
  )
