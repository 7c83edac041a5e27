import { prebuildsUserId } from "@atelier/core/access"
import { ParameterValue, PrebuildPolicy } from "@atelier/core/provisioning"
import { PrebuildRepository, type WantedPrebuilds, type WorkspaceStatus } from "@atelier/core/workspaces"
import type { PrebuildStatus } from "@atelier/core/templates"
import { Effect, Option, Schema } from "effect"
import { among } from "../../platform/Among.js"
import { dialectOf, locking } from "../../platform/Dialect.js"
import { boolean, json, nullable, number, row, text, timestamp, uuid } from "../../platform/Row.js"
import { all, first, run, runUnique } from "../../platform/Statement.js"
import { service, type Uuid } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

const preset = row({
  id: uuid,
  template_version_id: uuid,
  name: text(),
  parameters: json(Schema.Array(ParameterValue)),
  desired: number,
  policy: json(PrebuildPolicy),
  last_invalidated_at: nullable(timestamp),
  status: text<PrebuildStatus>(),
  standing: text<WantedPrebuilds["standing"]>(),
  template_id: uuid,
  organization_id: uuid
})

const prebuild = row({
  id: uuid,
  created_at: timestamp,
  status: text<WorkspaceStatus>(),
  preset_id: nullable(uuid),
  build_id: uuid,
  job_id: uuid,
  build_created_at: timestamp,
  build_number: number,
  build_transition: text<"start" | "stop" | "delete">()
})

const names = row({ template_name: text(), template_version_name: text(), preset_name: text() })
const identified = row({ id: uuid })
const readyPrebuild = row({ id: uuid, latest_build_id: uuid })
const paused = row({ reconciliation_paused: boolean })

export const layer = service(
  PrebuildRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const { boolean: bool } = dialectOf(sql)
    const locked = locking(sql, "FOR SHARE")
    const skipLocked = locking(sql, "FOR NO KEY UPDATE OF w SKIP LOCKED")

    /** The preset of the last start with one. */
    const presetOf = sql.literal(`(SELECT s.template_version_preset_id FROM workspace_builds s
      WHERE s.workspace_id = w.id AND s.transition = 'start' AND s.template_version_preset_id IS NOT NULL
      ORDER BY s.build_number DESC LIMIT 1)`)

    /** Those of a preset that can be claimed. */
    const ready = (presetId: Uuid.Uuid) => sql`FROM workspaces w
              JOIN workspace_builds b ON b.id = w.latest_build_id
              JOIN templates t ON t.id = w.template_id
              WHERE w.owner_id = ${prebuildsUserId} AND NOT w.deleted AND w.latest_status = 'running'
                AND b.template_version_preset_id = ${presetId} AND b.template_version_id = t.active_version_id AND NOT t.deleted
                AND EXISTS (SELECT 1 FROM workspace_resources r JOIN workspace_agents a ON a.resource_id = r.id
                  WHERE r.job_id = b.job_id AND a.parent_id IS NULL AND NOT a.deleted)
                AND NOT EXISTS (SELECT 1 FROM workspace_resources r JOIN workspace_agents a ON a.resource_id = r.id
                  WHERE r.job_id = b.job_id AND a.parent_id IS NULL AND NOT a.deleted AND a.lifecycle_state <> 'ready')`

    const chosen = (choice: Parameters<PrebuildRepository["Type"]["claim"]>[2]) => {
      if ("id" in choice) return sql`AND w.id = ${choice.id} AND w.latest_build_id = ${choice.latest_build_id}`
      return choice.except.length === 0 ? sql`` : sql`AND NOT (${among(sql, sql`w.id`, choice.except)})`
    }

    const pausedNow = sql`SELECT reconciliation_paused FROM prebuilds_settings WHERE id = 1`
    const flagOf = Option.map(({ reconciliation_paused }: { readonly reconciliation_paused: boolean }) => reconciliation_paused)

    return PrebuildRepository.of({
      presets: all(
        preset,
        sql`SELECT p.id, p.template_version_id, p.name, p.parameters, COALESCE(p.desired_prebuild_instances, 0) AS desired,
            p.prebuild_policy AS policy, p.last_invalidated_at, p.prebuild_status AS status, t.id AS template_id, t.organization_id,
            CASE WHEN t.deleted OR t.active_version_id <> v.id THEN 'superseded' WHEN t.deprecated <> '' THEN 'deprecated'
              ELSE 'active' END AS standing
          FROM template_version_presets p
          JOIN template_versions v ON v.id = p.template_version_id
          JOIN templates t ON t.id = v.template_id
          WHERE (p.desired_prebuild_instances IS NOT NULL AND t.active_version_id = v.id AND NOT t.deleted)
            OR p.id IN (SELECT ${presetOf} FROM workspaces w WHERE w.owner_id = ${prebuildsUserId} AND NOT w.deleted)
          ORDER BY p.id`
      ),
      existing: Effect.map(
        all(
          prebuild,
          sql`SELECT w.id, w.created_at, w.latest_status AS status, ${presetOf} AS preset_id, b.id AS build_id, b.job_id,
              b.created_at AS build_created_at,
              b.build_number, b.transition AS build_transition
            FROM workspaces w JOIN workspace_builds b ON b.id = w.latest_build_id
            WHERE w.owner_id = ${prebuildsUserId} AND NOT w.deleted
            ORDER BY w.created_at, w.id`
        ),
        (rows) =>
          rows.flatMap(({ build_created_at, build_number, build_transition, preset_id, ...rest }) =>
            preset_id === null
              ? []
              : [{ ...rest, preset_id, build: { created_at: build_created_at, number: build_number, transition: build_transition } }]
          )
      ),
      setStatus: (id, status) => run(sql`UPDATE template_version_presets SET prebuild_status = ${status} WHERE id = ${id}`),
      ready: (presetId, limit) =>
        all(readyPrebuild, sql`SELECT w.id, w.latest_build_id ${ready(presetId)} ORDER BY w.created_at, w.id LIMIT ${limit}`),
      claim: (presetId, { owner_id, ...fields }, choice) =>
        runUnique(
          Effect.map(
            sql`WITH claimant AS (SELECT lower(username) AS claimant_key FROM users WHERE id = ${owner_id} AND NOT deleted ${locked})
            UPDATE workspaces SET ${sql.update({
              ...fields,
              owner_id,
              automatic_updates: "never",
              dormant_at: null,
              deleting_at: null,
              favorite: bool(false)
            })}, owner_key = (SELECT claimant_key FROM claimant)
            WHERE EXISTS (SELECT 1 FROM claimant) AND id = (
              SELECT w.id ${ready(presetId)}
              ${chosen(choice)}
              ORDER BY w.created_at, w.id LIMIT 1 ${skipLocked}
            ) RETURNING id`,
            (rows) => Option.map(Option.fromNullable(rows[0]), (found) => identified(found).id)
          )
        ),
      invalidate: (templateId, at) =>
        all(
          names,
          sql`UPDATE template_version_presets SET last_invalidated_at = ${at}
            WHERE template_version_id = (SELECT active_version_id FROM templates WHERE id = ${templateId})
            RETURNING name AS preset_name,
              (SELECT t.name FROM templates t WHERE t.id = ${templateId}) AS template_name,
              (SELECT v.name FROM template_versions v WHERE v.id = template_version_presets.template_version_id) AS template_version_name`
        ),
      isPaused: Effect.map(first(paused, pausedNow), flagOf),
      lockPaused: Effect.map(
        first(
          paused,
          sql.dialect({
            postgres: () => Effect.zipRight(sql`LOCK TABLE prebuilds_settings IN EXCLUSIVE MODE`, pausedNow),
            sqlite: () => pausedNow
          })
        ),
        flagOf
      ),
      setPaused: (isPaused) =>
        run(
          sql`INSERT INTO prebuilds_settings ${sql.insert({ id: 1, reconciliation_paused: bool(isPaused) })}
            ON CONFLICT (id) DO UPDATE SET reconciliation_paused = excluded.reconciliation_paused`
        )
    })
  })
)
