import type { Uuid } from "@atelier/core/platform"
import {
  canonicalTags,
  type ProvisionerDaemon,
  ProvisionerDaemonRepository,
  ProvisionerTags,
  ProvisionerType
} from "@atelier/core/provisioning"
import { Effect, Schema } from "effect"
import { among } from "../../platform/Among.js"
import { columnList, json, nullable, row, text, timestamp, uuid } from "../../platform/Row.js"
import { all, first, one, run } from "../../platform/Statement.js"
import { tagsContained, tagsValue } from "../queue/Tags.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

const columns = {
  id: uuid,
  created_at: timestamp,
  organization_id: uuid,
  name: text(),
  provisioners: json(Schema.Array(ProvisionerType)),
  tags: json(ProvisionerTags),
  version: text(),
  api_version: text(),
  key_id: uuid,
  last_seen_at: nullable(timestamp)
}

const daemon = row(columns)
const withJobs = row({ ...columns, current_job_id: nullable(uuid), previous_job_id: nullable(uuid) })
const named = row({ id: uuid, name: text() })

export const layer = service(
  ProvisionerDaemonRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const selected = sql.literal(columnList(columns))

    const upsert = (value: ProvisionerDaemon, engines: ReadonlyArray<string> | null, processId: Uuid.Uuid | null) =>
      sql`INSERT INTO provisioner_daemons ${sql.insert({
        ...value,
        owner: (value.tags["owner"] ?? "").toLowerCase(),
        provisioners: JSON.stringify(value.provisioners),
        tags: canonicalTags(value.tags),
        engines: engines === null ? null : JSON.stringify(engines),
        process_id: processId
      })}
      ON CONFLICT (organization_id, name, owner) DO UPDATE
        SET provisioners = excluded.provisioners, tags = excluded.tags, version = excluded.version, api_version = excluded.api_version,
          key_id = excluded.key_id, last_seen_at = excluded.last_seen_at, engines = excluded.engines, process_id = excluded.process_id`

    return ProvisionerDaemonRepository.of({
      register: (value, engines) => one(daemon, sql`${upsert(value, engines, null)} RETURNING ${selected}`),
      registerEmbedded: (value, { engines, free_since, process_id }) =>
        first(
          daemon,
          sql`${upsert(value, engines, process_id)}
            WHERE provisioner_daemons.process_id IS NULL OR provisioner_daemons.last_seen_at <= ${free_since}
            RETURNING ${selected}`
        ),
      release: (processId) => run(sql`UPDATE provisioner_daemons SET process_id = NULL WHERE process_id = ${processId}`),
      seen: (ids, at) => run(sql`UPDATE provisioner_daemons SET last_seen_at = ${at} WHERE id IN ${sql.in(ids)}`),
      list: ({ alive_since, ids, limit, organization_id, seen_since, statuses, tags }) =>
        all(
          withJobs,
          sql`SELECT ${selected}, current_job_id, previous_job_id FROM (
              SELECT *,
                CASE WHEN current_job_id IS NOT NULL THEN 'busy' WHEN last_seen_at > ${alive_since} THEN 'idle' ELSE 'offline' END AS status
              FROM (
                SELECT d.*,
                  (SELECT id FROM provisioner_jobs j WHERE j.worker_id = d.id AND j.completed_at IS NULL
                    ORDER BY j.started_at DESC LIMIT 1) AS current_job_id,
                  (SELECT id FROM provisioner_jobs j WHERE j.worker_id = d.id AND j.completed_at IS NOT NULL
                    ORDER BY j.completed_at DESC LIMIT 1) AS previous_job_id
                FROM provisioner_daemons d
                WHERE d.organization_id = ${organization_id}
              ) AS with_jobs
            ) AS with_status
            WHERE ${sql.and([
              sql`status IN ${sql.in(statuses)}`,
              ...(ids === undefined ? [] : [sql`id IN ${sql.in(ids)}`]),
              ...(tags === undefined ? [] : [tagsContained(sql, sql`tags`, tagsValue(sql, tags))]),
              ...(seen_since === undefined ? [] : [sql`(last_seen_at IS NULL OR last_seen_at >= ${seen_since})`])
            ])}
            ORDER BY created_at DESC, id DESC ${limit === 0 ? sql`` : sql`LIMIT ${limit}`}`
        ),
      names: (ids) => all(named, sql`SELECT id, name FROM provisioner_daemons WHERE ${among(sql, sql`id`, ids)}`),
      deleteUnseen: (since) =>
        run(
          sql`DELETE FROM provisioner_daemons
            WHERE last_seen_at < ${since}
              AND NOT EXISTS (SELECT 1 FROM provisioner_jobs j WHERE j.worker_id = provisioner_daemons.id AND j.completed_at IS NULL)`
        )
    })
  })
)
