import { SqlClient } from "@effect/sql"
import { nextTurn, streamInTurns } from "@atelier/core/platform"
import { FileRepository } from "@atelier/core/provisioning"
import { Effect, Layer, Option, Stream } from "effect"
import { accessCondition } from "../platform/AccessPredicate.js"
import { bytes, number, row, text, timestamp, uuid } from "../platform/Row.js"
import { applied, first, runUnique } from "../platform/Statement.js"

const file = row({ id: uuid, hash: text(), created_at: timestamp, created_by: uuid, mimetype: text(), size: number })
const chunk = row({ data: bytes })

/** Bytes of a row of content: what a database connection holds at once. */
const chunkSize = 1024 * 1024

export const layer = Layer.effect(
  FileRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal("id, hash, created_at, created_by, mimetype, size")

    return FileRepository.of({
      byId: (id) => first(file, sql`SELECT ${columns} FROM files WHERE id = ${id}`),
      byHash: (hash, createdBy) => first(file, sql`SELECT ${columns} FROM files WHERE hash = ${hash} AND created_by = ${createdBy}`),
      insert: (value, content) =>
        runUnique(
          sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`INSERT INTO files ${sql.insert({ ...value })}`
              for (let start = 0; start < content.length; start += chunkSize) {
                yield* nextTurn
                const data = content.subarray(start, start + chunkSize)
                yield* sql`INSERT INTO file_chunks ${sql.insert({ file_id: value.id, number: start / chunkSize, data })}`
              }
            })
          )
        ),
      content: (id) =>
        Stream.paginateEffect(0, (number) =>
          Effect.map(first(chunk, sql`SELECT data FROM file_chunks WHERE file_id = ${id} AND number = ${number}`), (found) => [
            Option.match(found, { onNone: () => new Uint8Array(0), onSome: ({ data }) => data }),
            Option.map(found, () => number + 1)
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
