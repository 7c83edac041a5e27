import { SqlClient } from "@effect/sql"
import { type AgentLog, AgentLogRepository, type LogBatch } from "@atelier/core/agents"
import { LogLevel, Timestamp } from "@atelier/core/platform"
import { Effect, Layer, Option, Schema } from "effect"
import { as } from "../platform/Batch.js"
import { dialectOf } from "../platform/Dialect.js"
import { columnList, json, nullable, number, row } from "../platform/Row.js"
import { all, applied, first, run } from "../platform/Statement.js"
import { dieOf, inTransaction } from "../platform/Unavailability.js"
import { log, logSource } from "./columns.js"

const batchRow = row({ ...log, more: nullable(json(Schema.Array(Schema.Tuple(LogLevel, Schema.String, Timestamp.Timestamp)))) })
const sourceRow = row(logSource)
const stored = row({ logs_length: number })

/** The lines of a row. Its id is that of the last one. */
const linesOf = (from: object): ReadonlyArray<AgentLog> => {
  const { created_at, id, level, more, output, source_id } = batchRow(from)
  const others = more ?? []
  return [
    { id: id - others.length, created_at, level, output, source_id },
    ...others.map(([level, output, created_at], index) => ({ id: id - others.length + 1 + index, created_at, level, output, source_id }))
  ]
}

export const layer = Layer.effect(
  AgentLogRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { boolean: bool } = dialectOf(sql)
    const logs = sql.literal(columnList({ ...log, more: true }, "l"))
    const sources = sql.literal(columnList(logSource, "s"))
    const [overriding, from] = sql.onDialectOrElse({
      pg: () => [sql.literal("OVERRIDING SYSTEM VALUE"), sql.literal("FROM counted")],
      orElse: () => [sql.literal(""), sql.literal("")]
    })

    /** Locks the agent's row before any line is stored: batches get their ids in the order in which they become visible. */
    const count = ({ afterOverflow, agent_id, bytes, lines }: LogBatch, maximum: number) =>
      sql`UPDATE workspace_agents SET logs_length = logs_length + ${bytes}, logs_count = logs_count + ${lines.length}
        WHERE id = ${agent_id} AND logs_length + ${bytes} <= ${maximum} AND logs_count + ${lines.length} <= ${maximum}
          AND ${afterOverflow ? sql`1 = 1` : sql`NOT logs_overflowed`}
        RETURNING logs_length, CAST(${lines.length} AS INTEGER) AS added`

    /** Takes an id for each line; the row has the last. */
    const lastId = (added: number) =>
      sql.onDialectOrElse({
        pg: () => sql`(SELECT max(nextval('workspace_agent_logs_id_seq')) FROM generate_series(1, counted.added))`,
        orElse: () => sql`coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'workspace_agent_logs'), 0) + ${added}`
      })

    const add = ({ agent_id, lines, source_id }: LogBatch) => {
      const [first, ...others] = lines
      const more = others.length === 0 ? null : JSON.stringify(others.map(({ created_at, level, output }) => [level, output, created_at]))
      return sql`INSERT INTO workspace_agent_logs (id, workspace_agent_id, created_at, output, level, source_id, more) ${overriding}
        SELECT ${lastId(lines.length)}, ${as(sql, "uuid", sql`${agent_id}`)}, ${as(sql, "line_time", sql`${first.created_at}`)},
          ${first.output}, ${first.level}, ${as(sql, "uuid", sql`${source_id}`)}, CAST(${more} AS TEXT) ${from}`
    }

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
              first(stored, sql`WITH counted AS (${count(batch, maximum)}), stored AS (${add(batch)}) SELECT logs_length FROM counted`),
              Option.map(({ logs_length }) => logs_length)
            ),
          orElse: () =>
            Effect.catchTag(
              inTransaction(
                sql,
                Effect.gen(function* () {
                  const length = yield* first(stored, count(batch, maximum))
                  if (Option.isNone(length)) return Option.none()
                  yield* run(add(batch))
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
        Effect.map(
          all(
            linesOf,
            sql`SELECT ${logs} FROM workspace_agent_logs l WHERE l.workspace_agent_id = ${id} AND l.id > ${after} ORDER BY l.id LIMIT ${limit}`
          ),
          (batches) =>
            batches
              .flat()
              .filter((line) => line.id > after)
              .slice(0, limit)
        )
    })
  })
)
