import type { AgentLifecycle } from "@atelier/core/agents"
import { MetricsRepository } from "@atelier/core/insights"
import { prebuildsUserId } from "@atelier/core/access"
import { PrebuildPolicy, ProvisionerTags, ProvisionerType } from "@atelier/core/provisioning"
import type { PrebuildStatus } from "@atelier/core/templates"
import { Effect, Schema } from "effect"
import { boolean, json, nullable, number, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, one } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../platform/Statements.js"

const stateCount = row({ status: text(), count: number })

const latestBuilds = row({
  status: text(),
  transition: text(),
  template_name: text(),
  template_version: text(),
  workspace_owner: text(),
  count: number
})

const agent = row({
  id: uuid,
  agent_name: text(),
  created_at: timestamp,
  first_connected_at: nullable(timestamp),
  last_connected_at: nullable(timestamp),
  disconnected_at: nullable(timestamp),
  connection_timeout_seconds: number,
  lifecycle_state: text<AgentLifecycle>(),
  template_name: text(),
  template_version: text(),
  username: text(),
  workspace_name: text()
})

const app = row({ agent_id: uuid, app_name: text(), health: text() })

const daemon = row({
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
})

const preset = row({
  template_name: text(),
  preset_name: text(),
  organization_name: text(),
  desired: number,
  policy: json(PrebuildPolicy),
  status: text<PrebuildStatus>(),
  is_active: boolean,
  created: number,
  failed: number,
  claimed: number,
  running: number,
  eligible: number
})

const report = row({
  agent_id: uuid,
  rx_bytes: number,
  tx_bytes: number,
  connection_count: number,
  connection_median_latency_ms: number,
  session_counts: json(Schema.Record({ key: Schema.String, value: Schema.Number }))
})

export const layer = service(
  MetricsRepository,
  Effect.map(Statements, (sql) => {
    /** The agents of workspaces whose latest build starts them. */
    const running = sql`FROM workspaces w
      JOIN workspace_resources r ON r.job_id = w.latest_job_id
      JOIN workspace_agents a ON a.resource_id = r.id
      WHERE NOT w.deleted AND w.latest_transition = 'start'`
    return MetricsRepository.of({
      userCounts: all(
        stateCount,
        sql`SELECT status, count(*) AS count FROM users WHERE NOT deleted AND NOT is_system GROUP BY status ORDER BY status`
      ),
      activeUsers: (since) =>
        Effect.map(
          one(row({ count: number }), sql`SELECT count(DISTINCT user_id) AS count FROM api_keys WHERE last_used >= ${since}`),
          ({ count }) => count
        ),
      latestBuilds: (limit) =>
        all(
          latestBuilds,
          sql`SELECT w.latest_status AS status, coalesce(w.latest_transition, '') AS transition, t.name AS template_name,
              coalesce(v.name, '') AS template_version, u.username AS workspace_owner, count(*) AS count
            FROM workspaces w
            JOIN templates t ON t.id = w.template_id
            JOIN users u ON u.id = w.owner_id
            LEFT JOIN template_versions v ON v.id = w.latest_template_version_id
            WHERE NOT w.deleted
            GROUP BY w.latest_status, w.latest_transition, t.name, v.name, u.username
            ORDER BY u.username, t.name, v.name, w.latest_status, w.latest_transition
            LIMIT ${limit}`
        ),
      agents: (limit) =>
        all(
          agent,
          sql`SELECT a.id, a.name AS agent_name, a.created_at, a.first_connected_at, a.last_connected_at, a.disconnected_at,
              a.connection_timeout_seconds, a.lifecycle_state, t.name AS template_name, coalesce(v.name, '') AS template_version,
              u.username, w.name AS workspace_name
            FROM (SELECT a.*, w.id AS workspace_id ${running} ORDER BY a.id LIMIT ${limit}) a
            JOIN workspaces w ON w.id = a.workspace_id
            JOIN templates t ON t.id = w.template_id
            JOIN users u ON u.id = w.owner_id
            LEFT JOIN template_versions v ON v.id = w.latest_template_version_id
            ORDER BY a.id`
        ),
      apps: (limit) =>
        all(
          app,
          sql`SELECT p.agent_id, p.slug AS app_name, p.health
            FROM workspace_apps p
            WHERE p.agent_id IN (SELECT a.id ${running})
            ORDER BY p.agent_id, p.slug LIMIT ${limit}`
        ),
      presets: (limit) => {
        // A literal, because a partial index is not used for a parameter
        const keeper = sql.literal(`'${prebuildsUserId}'`)
        const agents = sql`FROM workspace_resources r JOIN workspace_agents a ON a.resource_id = r.id
          WHERE r.job_id = b.job_id AND a.parent_id IS NULL AND NOT a.deleted`
        return all(
          preset,
          sql`WITH wanted AS (
              SELECT p.id, t.name AS template_name, p.name AS preset_name, o.name AS organization_name,
                p.desired_prebuild_instances AS desired, p.prebuild_policy AS policy, p.prebuild_status AS status,
                (t.active_version_id = v.id) AS is_active
              FROM template_version_presets p
              JOIN template_versions v ON v.id = p.template_version_id
              JOIN templates t ON t.id = v.template_id
              JOIN organizations o ON o.id = t.organization_id
              WHERE p.desired_prebuild_instances IS NOT NULL AND NOT t.deleted
              ORDER BY 8 DESC, p.id LIMIT ${limit}
            ), made AS (
              SELECT b.template_version_preset_id AS preset_id, count(*) AS created,
                count(CASE WHEN j.error <> '' THEN 1 END) AS failed, count(CASE WHEN w.owner_id <> ${keeper} THEN 1 END) AS claimed
              FROM wanted JOIN workspace_builds b ON b.template_version_preset_id = wanted.id
              JOIN workspaces w ON w.id = b.workspace_id
              JOIN provisioner_jobs j ON j.id = b.job_id
              WHERE b.build_number = 1 AND b.initiator_id = ${keeper}
              GROUP BY b.template_version_preset_id
            ), kept AS (
              SELECT b.template_version_preset_id AS preset_id, count(*) AS running,
                count(CASE WHEN EXISTS (SELECT 1 ${agents}) AND NOT EXISTS (SELECT 1 ${agents} AND a.lifecycle_state <> 'ready') THEN 1 END)
                  AS eligible
              FROM workspaces w JOIN workspace_builds b ON b.id = w.latest_build_id
              WHERE w.owner_id = ${keeper} AND NOT w.deleted AND w.latest_status = 'running'
              GROUP BY b.template_version_preset_id
            )
            SELECT wanted.template_name, wanted.preset_name, wanted.organization_name, wanted.desired, wanted.policy, wanted.status,
              wanted.is_active, coalesce(made.created, 0) AS created, coalesce(made.failed, 0) AS failed,
              coalesce(made.claimed, 0) AS claimed,
              CASE WHEN wanted.is_active THEN coalesce(kept.running, 0) ELSE 0 END AS running,
              CASE WHEN wanted.is_active THEN coalesce(kept.eligible, 0) ELSE 0 END AS eligible
            FROM wanted
            LEFT JOIN made ON made.preset_id = wanted.id
            LEFT JOIN kept ON kept.preset_id = wanted.id
            ORDER BY wanted.is_active DESC, wanted.id`
        )
      },
      daemons: (seenSince, limit) =>
        all(
          daemon,
          sql`SELECT id, created_at, organization_id, name, provisioners, tags, version, api_version, key_id, last_seen_at
            FROM provisioner_daemons WHERE last_seen_at > ${seenSince} ORDER BY last_seen_at DESC, id LIMIT ${limit}`
        ),
      reports: (since, limit) =>
        all(
          report,
          sql`SELECT agent_id, rx_bytes, tx_bytes, connection_count, connection_median_latency_ms, session_counts
            FROM workspace_agent_stats WHERE created_at >= ${since} ORDER BY created_at DESC, id LIMIT ${limit}`
        )
    })
  })
)
