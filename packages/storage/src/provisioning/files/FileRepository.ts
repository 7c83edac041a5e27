import { nextTurn, streamInTurns, service } from "@atelier/core/platform"
import { FileQuotaExceeded, FileRepository } from "@atelier/core/provisioning"
import { Effect, Option, Stream } from "effect"
import { accessCondition } from "../../platform/AccessPredicate.js"
import { bytes, number, row, text, timestamp, uuid } from "../../platform/Row.js"
import { applied, first, runUnique, touched } from "../../platform/Statement.js"
import { inTransaction } from "../../platform/Unavailability.js"
import { Statements } from "../../platform/Statements.js"

const file = row({ id: uuid, hash: text(), created_at: timestamp, created_by: uuid, mimetype: text(), size: number })
const stored = row({ bytes: number })
const chunk = row({ data: bytes })

/** Bytes of a row of content: what a database connection holds at once. */
const chunkSize = 1024 * 1024

export const layer = service(
  FileRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const columns = sql.literal("id, hash, created_at, created_by, mimetype, size")

    /** Uploads of one user are counted one after the other; SQLite's transactions are anyway. */
    const lockUploader = (id: string) =>
      sql.dialect({
        postgres: () => Effect.asVoid(sql`SELECT id FROM users WHERE id = ${id} FOR NO KEY UPDATE`),
        sqlite: () => Effect.void
      })

    return FileRepository.of({
      byId: (id) => first(file, sql`SELECT ${columns} FROM files WHERE id = ${id}`),
      byHash: (hash, createdBy) => first(file, sql`SELECT ${columns} FROM files WHERE hash = ${hash} AND created_by = ${createdBy}`),
      insert: (value, content, maximumBytes) =>
        runUnique(
          inTransaction(
            sql,
            Effect.gen(function* () {
              yield* lockUploader(value.created_by)
              const [used] = Number.isFinite(maximumBytes)
                ? yield* sql`SELECT coalesce(sum(size), 0) AS bytes FROM files WHERE created_by = ${value.created_by}`
                : []
              if (used !== undefined && stored(used).bytes + value.size > maximumBytes) return false
              yield* sql`INSERT INTO files ${sql.insert({ ...value, used_at: value.created_at })}`
              for (let start = 0; start < content.length; start += chunkSize) {
                yield* nextTurn
                const data = content.subarray(start, start + chunkSize)
                yield* sql`INSERT INTO file_chunks ${sql.insert({ file_id: value.id, number: start / chunkSize, data })}`
              }
              return true
            })
          )
        ).pipe(Effect.flatMap((isStored) => (isStored ? Effect.void : new FileQuotaExceeded()))),
      usedSince: (id, since) => applied(sql`SELECT id FROM files WHERE id = ${id} AND used_at >= ${since}`),
      use: (id, at) => applied(sql`UPDATE files SET used_at = ${at} WHERE id = ${id} RETURNING id`),
      // A file that is used while this waits for its row is judged anew, by the instant of its use
      purge: (before, limit) =>
        touched(
          sql`DELETE FROM files WHERE used_at < ${before} AND id IN (
            SELECT f.id FROM files f WHERE f.used_at < ${before} AND NOT EXISTS (SELECT 1 FROM provisioner_jobs j WHERE j.file_id = f.id)
              AND NOT EXISTS (SELECT 1 FROM template_version_modules m WHERE m.file_id = f.id)
            ORDER BY f.used_at LIMIT ${limit}) RETURNING id`
        ),
      content: (id) =>
        Stream.paginateEffect(0, (number) =>
          Effect.map(first(chunk, sql`SELECT data FROM file_chunks WHERE file_id = ${id} AND number = ${number}`), (found) => [
            Option.match(found, { onNone: () => new Uint8Array(0), onSome: ({ data }) => data }),
            // A row that is not full is the last one
            Option.flatMap(found, ({ data }) => (data.length < chunkSize ? Option.none() : Option.some(number + 1)))
          ])
        ).pipe(
          Stream.filter((data) => data.length > 0),
          streamInTurns(1)
        ),
      isSourceOf: (id, templates) =>
        applied(
          sql`SELECT 1 FROM provisioner_jobs j
            JOIN template_versions v ON v.job_id = j.id
            JOIN templates t ON t.id = v.template_id
            WHERE j.file_id = ${id}
              AND ${accessCondition(sql, templates, { id: "t.id", org: "t.organization_id", userAcl: "t.user_acl", groupAcl: "t.group_acl" })}
            LIMIT 1`
        )
    })
  })
)
