import { type AgentLog, AgentLogRepository, type LogBatch, type WorkspaceAgentId } from "@atelier/core/agents"
import { LogLevel, service, type Timestamp, timesFrom } from "@atelier/core/platform"
import { Array as Arr, Effect, Option, Schema } from "effect"
import { as } from "../../platform/Batch.js"
import { dialectOf } from "../../platform/Dialect.js"
import { type Column, columnList, nullable, number, row, text } from "../../platform/Row.js"
import { all, applied, first, run, sharedWrite } from "../../platform/Statement.js"
import { dieOf, inTransaction } from "../../platform/Unavailability.js"
import { log, logSource } from "../columns.js"
import { Statements } from "../../platform/Statements.js"

/** Lines of a row. One call of an agent has about a hundred; a larger row would be read whole for one of its lines. */
const linesPerRow = 100

/** A line behind the first of its row: its output, with its level if the first has another, and the time in rows that stored one for each line. */
type OtherLine = string | readonly [level: LogLevel, output: string, created_at?: Timestamp.Timestamp]

const isLevel = Schema.is(LogLevel)

const isLine = (value: unknown): value is OtherLine =>
  typeof value === "string" ||
  (Array.isArray(value) && isLevel(value[0]) && typeof value[1] === "string" && (value.length === 2 || typeof value[2] === "string"))

/** Shown for a line of a form that this version does not know, during an upgrade. */
const unknownLine: OtherLine = "(This line was stored by a newer version.)"

/** Checked without a schema, which would take most of the time of reading a page. */
const otherLines: Column<ReadonlyArray<OtherLine>> = {
  read: (value) => {
    const lines: unknown = JSON.parse(text().read(value))
    if (!Array.isArray(lines)) throw new TypeError("The store answered other JSON where lines are declared")
    return lines.every(isLine) ? lines : lines.map((line: unknown) => (isLine(line) ? line : unknownLine))
  },
  type: "json"
}

const batchRow = row({ ...log, more: nullable(otherLines) })
const sourceRow = row(logSource)
const stored = row({ logs_length: number })

/** The lines of a row. Its id is that of the last one. */
const linesOf = (from: object): ReadonlyArray<AgentLog> => {
  const { created_at, id, level, more, output, source_id } = batchRow(from)
  const others = more ?? []
  const timeOf = timesFrom(created_at)
  return [
    { id: id - others.length, created_at, level, output, source_id },
    ...others.map((line, index) => {
      const [ownLevel, output, time] = typeof line === "string" ? [level, line] : line
      return { id: id - others.length + 1 + index, created_at: time ?? timeOf(index + 1), level: ownLevel, output, source_id }
    })
  ]
}

/** The lines of rows behind a cursor: the first row may begin before it. */
const linesBehind = (rows: ReadonlyArray<ReadonlyArray<AgentLog>>, after: number): ReadonlyArray<AgentLog> =>
  rows.flat().filter(({ id }) => id > after)

export const layer = service(
  AgentLogRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const { boolean: bool } = dialectOf(sql)
    const logs = sql.literal(columnList({ ...log, more: true }, "l"))
    const sources = sql.literal(columnList(logSource, "s"))
    const [overriding, from, least] = sql.dialect({
      postgres: () => [sql.literal("OVERRIDING SYSTEM VALUE"), sql.literal("counted,"), sql.literal("LEAST")],
      sqlite: () => [sql.literal(""), sql.literal(""), sql.literal("min")]
    })

    /** Locks the agent's row before any line is stored: batches get their ids in the order in which they become visible. */
    const count = ({ afterOverflow, agent_id, bytes, lines }: LogBatch, maximum: number) =>
      sql`UPDATE workspace_agents SET logs_length = logs_length + ${bytes}, logs_count = logs_count + ${lines.length}
        WHERE id = ${agent_id} AND logs_length + ${bytes} <= ${maximum} AND logs_count + ${lines.length} <= ${maximum}
          AND ${afterOverflow ? sql`1 = 1` : sql`NOT logs_overflowed`}
        RETURNING logs_length`

    /** The id of a row, which is that of its last line. `column5` is its number of lines, `column6` that of the batch up to its end. */
    const lastId = sql.dialect({
      // The sequence counts by the lines that a row may have
      postgres: () => sql`nextval('workspace_agent_logs_id_seq') - ${sql.literal(String(linesPerRow))} + column5`,
      sqlite: () => sql`coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'workspace_agent_logs'), 0) + column6`
    })

    const add = ({ agent_id, created_at, lines, source_id }: LogBatch) => {
      const timeOf = timesFrom(created_at)
      const rows = Arr.chunksOf(lines, linesPerRow).map(([first, ...others], index) => {
        const more = others.map(({ level, output }) => (level === first.level ? output : [level, output]))
        const start = index * linesPerRow
        return sql`(${as(sql, "line_time", sql`${timeOf(start)}`)}, CAST(${first.output} AS TEXT), CAST(${first.level} AS TEXT),
          CAST(${more.length === 0 ? null : JSON.stringify(more)} AS TEXT), CAST(${more.length + 1} AS INTEGER), CAST(${start + more.length + 1} AS INTEGER))`
      })
      return sql`INSERT INTO workspace_agent_logs (id, workspace_agent_id, created_at, output, level, source_id, more, lines) ${overriding}
        SELECT ${lastId}, ${as(sql, "uuid", sql`${agent_id}`)}, column1, column2, column3, ${as(sql, "uuid", sql`${source_id}`)},
          column4, column5 FROM ${from} (VALUES ${sql.csv(rows)}) AS found_batch`
    }

    /**
     * The rows behind a cursor with the lines of a page, at most `maximum` of them. The inner query reads that many rows, whose long texts stand
     * before the numbers of their lines, so it should not read more than a page is likely to have.
     */
    const rowsBehind = (id: WorkspaceAgentId, after: number, limit: number, maximum: number) =>
      all(
        linesOf,
        sql`SELECT ${logs} FROM (
            SELECT id, unread, sum(unread) OVER (ORDER BY id) AS total FROM (
              SELECT id, ${least}(lines, id - ${after}) AS unread FROM workspace_agent_logs
              WHERE workspace_agent_id = ${id} AND id > ${after} ORDER BY id LIMIT ${maximum}) AS found_rows) AS found_page
          JOIN workspace_agent_logs l ON l.id = found_page.id
          WHERE found_page.total - found_page.unread < ${limit} ORDER BY l.id`
      )

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
        sql.dialect({
          postgres: () =>
            Effect.map(
              first(
                stored,
                sharedWrite(sql, sql`WITH counted AS (${count(batch, maximum)}), stored AS (${add(batch)}) SELECT logs_length FROM counted`)
              ),
              Option.map(({ logs_length }) => logs_length)
            ),
          sqlite: () =>
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
        Effect.gen(function* () {
          const firstRows = 2 * Math.ceil(limit / linesPerRow)
          const rows = yield* rowsBehind(id, after, limit, firstRows)
          const lines = linesBehind(rows, after)
          const last = lines.at(-1)
          const missing = limit - lines.length
          if (last === undefined || missing <= 0 || rows.length < firstRows) return lines.slice(0, limit)
          const rest = linesBehind(yield* rowsBehind(id, last.id, missing, missing), last.id)
          return [...lines, ...rest.slice(0, missing)]
        })
    })
  })
)
