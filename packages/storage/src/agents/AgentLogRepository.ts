import { SqlClient, type Statement } from "@effect/sql"
import { AgentLogRepository, type LogBatch } from "@atelier/core/agents"
import { Effect, Layer, Option } from "effect"
import { as, items } from "../platform/Batch.js"
import { dialectOf } from "../platform/Dialect.js"
import { columnList, number, row } from "../platform/Row.js"
import { all, applied, first, run } from "../platform/Statement.js"
import { dieOf, inTransaction } from "../platform/Unavailability.js"
import { log, logSource } from "./columns.js"

const logRow = row(log)
const sourceRow = row(logSource)
const stored = row({ logs_length: number })

export const layer = Layer.effect(
  AgentLogRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { boolean: bool } = dialectOf(sql)
    const logs = sql.literal(columnList(log, "l"))
    const sources = sql.literal(columnList(logSource, "s"))

    /** Locks the agent's row before any line is stored: batches get their ids in the order in which they become visible. */
    const count = ({ afterOverflow, agent_id, bytes, lines }: LogBatch, maximum: number) =>
      sql`UPDATE workspace_agents SET logs_length = logs_length + ${bytes}, logs_count = logs_count + ${lines.length}
        WHERE id = ${agent_id} AND logs_length + ${bytes} <= ${maximum} AND logs_count + ${lines.length} <= ${maximum}
          AND ${afterOverflow ? sql`1 = 1` : sql`NOT logs_overflowed`}
        RETURNING logs_length`

    const add = ({ agent_id, lines, source_id }: LogBatch, condition: Statement.Fragment) =>
      sql`INSERT INTO workspace_agent_logs (workspace_agent_id, created_at, output, level, source_id)
        SELECT ${as(sql, "uuid", sql`${agent_id}`)}, ${as(sql, "line_time", sql`item.value ->> 2`)}, item.value ->> 1, item.value ->> 0,
          ${as(sql, "uuid", sql`${source_id}`)}
        FROM ${items(
          sql,
          lines.map(({ created_at, level, output }) => [level, output, created_at])
        )} ${condition} ORDER BY item.position`

    return AgentLogRepository.of({
      addSource: ({ created_at, display_name, icon, id, workspace_agent_id }, maximum) =>
        Effect.flatMap(
          applied(
            sql`INSERT INTO workspace_agent_log_sources (workspace_agent_id, id, created_at, display_name, icon)
              SELECT a.id, ${as(sql, "uuid", sql`${id}`)}, ${as(sql, "timestamp", sql`${created_at}`)}, ${display_name}, ${icon}
              FROM workspace_agents a WHERE a.id = ${workspace_agent_id}
                AND (SELECT count(*) FROM workspace_agent_log_sources WHERE workspace_agent_id = a.id) < ${maximum}
              ON CONFLICT DO NOTHING RETURNING id`
          ),
          (isNew) =>
            isNew
              ? Effect.succeed(true)
              : applied(sql`SELECT id FROM workspace_agent_log_sources WHERE workspace_agent_id = ${workspace_agent_id} AND id = ${id}`)
        ),
      sourcesOf: (id) => all(sourceRow, sql`SELECT ${sources} FROM workspace_agent_log_sources s WHERE s.workspace_agent_id = ${id}`),
      append: (batch, maximum) =>
        sql.onDialectOrElse({
          pg: () =>
            Effect.map(
              first(
                stored,
                sql`WITH counted AS (${count(batch, maximum)}), added AS (${add(batch, sql`CROSS JOIN counted`)}) SELECT logs_length FROM counted`
              ),
              Option.map(({ logs_length }) => logs_length)
            ),
          orElse: () =>
            Effect.catchTag(
              inTransaction(
                sql,
                Effect.gen(function* () {
                  const length = yield* first(stored, count(batch, maximum))
                  if (Option.isNone(length)) return Option.none()
                  yield* run(add(batch, sql``))
                  return Option.some(length.value.logs_length)
                })
              ),
              "SqlError",
              dieOf
            )
        }),
      markOverflowed: (id) =>
        applied(sql`UPDATE workspace_agents SET logs_overflowed = ${bool(true)} WHERE id = ${id} AND NOT logs_overflowed RETURNING id`),
      after: (id, after, limit) =>
        all(
          logRow,
          sql`SELECT ${logs} FROM workspace_agent_logs l WHERE l.workspace_agent_id = ${id} AND l.id > ${after} ORDER BY l.id LIMIT ${limit}`
        )
    })
  })
)
