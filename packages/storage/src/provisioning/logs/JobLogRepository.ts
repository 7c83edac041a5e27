import { type JobLog, JobLogRepository } from "@atelier/core/provisioning"
import { Effect, Option } from "effect"
import { dialectOf } from "../../platform/Dialect.js"
import { number, row, text, timestamp } from "../../platform/Row.js"
import { all, first, run } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

const log = row({
  id: number,
  created_at: timestamp,
  log_source: text<JobLog["log_source"]>(),
  log_level: text<JobLog["log_level"]>(),
  stage: text(),
  output: text()
})
const staged = row({ stage: text() })

export const layer = service(
  JobLogRepository,
  Effect.map(Statements, (sql) => {
    const dialect = dialectOf(sql)

    return JobLogRepository.of({
      append: (id, rows, length, overflowed) =>
        Effect.gen(function* () {
          yield* run(
            sql`UPDATE provisioner_jobs SET logs_length = ${length}, logs_overflowed = ${dialect.boolean(overflowed)} WHERE id = ${id}`
          )
          if (rows.length === 0) return Option.none()
          const inserted = yield* all(
            row({ id: number }),
            sql`INSERT INTO provisioner_job_logs ${sql.insert(rows.map((value) => ({ job_id: id, ...value })))} RETURNING id`
          )
          return Option.some(Math.min(...inserted.map((value) => value.id)))
        }),
      after: (id, after, limit) =>
        all(
          log,
          sql`SELECT id, created_at, log_source, log_level, stage, output FROM provisioner_job_logs
            WHERE job_id = ${id} AND id > ${after} ORDER BY id LIMIT ${limit}`
        ),
      lastStage: (id) =>
        Effect.map(
          first(staged, sql`SELECT stage FROM provisioner_job_logs WHERE job_id = ${id} ORDER BY id DESC LIMIT 1`),
          Option.map(({ stage }) => stage)
        )
    })
  })
)
