import { ReplicaRepository } from "@atelier/core/deployment"
import { Effect, Option } from "effect"
import { columnList, number, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, first, run } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../platform/Statements.js"

const columns = {
  id: uuid,
  hostname: text(),
  created_at: timestamp,
  relay_address: text(),
  region_id: number,
  error: text(),
  database_latency: number,
  updated_at: timestamp
}

const replica = row(columns)
const silent = row({ id: uuid, updated_at: timestamp })
const clock = row({ now: timestamp })

export const layer = service(
  ReplicaRepository,
  Effect.map(Statements, (sql) =>
    ReplicaRepository.of({
      put: (value) =>
        run(
          sql`INSERT INTO replicas ${sql.insert({ ...value })}
            ON CONFLICT (id) DO UPDATE SET error = excluded.error, database_latency = excluded.database_latency, updated_at = excluded.updated_at`
        ),
      time: sql.dialect({
        postgres: () =>
          Effect.map(
            first(clock, sql`SELECT CAST(clock_timestamp() AS timestamptz(3)) AS now`),
            Option.map(({ now }) => now)
          ),
        sqlite: () => Effect.succeedNone
      }),
      remove: (id) =>
        Effect.zipRight(run(sql`DELETE FROM agent_links WHERE replica_id = ${id}`), run(sql`DELETE FROM replicas WHERE id = ${id}`)),
      removeBefore: (time) =>
        Effect.zipRight(
          run(sql`DELETE FROM agent_links WHERE replica_id IN (SELECT id FROM replicas WHERE updated_at < ${time})`),
          run(sql`DELETE FROM replicas WHERE updated_at < ${time}`)
        ),
      silentSince: (time) => all(silent, sql`SELECT id, updated_at FROM replicas WHERE updated_at < ${time} ORDER BY updated_at, id`),
      setBack: ({ id, updated_at }, time) =>
        run(sql`UPDATE replicas SET updated_at = ${time} WHERE id = ${id} AND updated_at = ${updated_at}`),
      since: (time) =>
        all(replica, sql`SELECT ${sql.literal(columnList(columns))} FROM replicas WHERE updated_at >= ${time} ORDER BY created_at, id`)
    })
  )
)
