import { type AgentLifecycle, AgentRepository, type AgentSession } from "@atelier/core/agents"
import { Effect, Schema } from "effect"
import { readRights, selectRights } from "../identity/Rights.js"
import { dialectOf, locking } from "../platform/Dialect.js"
import { items } from "../platform/Batch.js"
import { boolean, json, nullable, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, applied, first, one, prepared, run } from "../platform/Statement.js"
import { jobIs } from "../provisioning/JobStatus.js"
import type { ApiKeyScope, BuildTransition } from "@atelier/core/provisioning"
import { service } from "@atelier/core/platform"
import { Statements } from "../platform/Statements.js"
import { agentApps } from "./AgentApps.js"
import { connectionsOfAgents } from "./ConnectionsOfAgents.js"

const acl = json(Schema.Record({ key: Schema.String, value: Schema.Array(Schema.String) }))

const place = {
  agent_id: uuid,
  agent_name: text(),
  agent_created_at: timestamp,
  agent_parent_id: nullable(uuid),
  workspace_id: uuid,
  workspace_name: text(),
  owner_id: uuid,
  owner_name: text(),
  organization_id: uuid,
  organization_name: text(),
  template_id: uuid,
  template_name: text(),
  dormant_at: nullable(timestamp),
  user_acl: acl,
  group_acl: acl,
  build_id: uuid,
  build_created_at: timestamp,
  build_job_id: uuid,
  build_transition: text<BuildTransition>(),
  template_version_id: uuid
}

const agentWorkspace = row(place)
const credential = row({ api_key_scope: text<ApiKeyScope>(), task_id: nullable(uuid), rights: text() })
const hashOf = row({ hashed_token: text() })
const session = (row: object): AgentSession => {
  const { api_key_scope, rights, task_id } = credential(row)
  return { agent: agentWorkspace(row), api_key_scope, task_id, owner_rights: { fingerprint: rights, read: () => readRights(rights) } }
}
const startTimes = row({ started_at: nullable(timestamp), ready_at: nullable(timestamp) })
const start = row({ lifecycle_state: text<AgentLifecycle>(), ready_at: nullable(timestamp) })
const claim = row({ first_initiator_id: uuid, latest_initiator_id: uuid, status: text(), is_claim: boolean })

export const layer = service(
  AgentRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const { boolean: bool } = dialectOf(sql)

    const selected = sql.literal(`a.id AS agent_id, a.name AS agent_name, a.created_at AS agent_created_at, a.parent_id AS agent_parent_id,
      w.id AS workspace_id, w.name AS workspace_name, w.owner_id, u.username AS owner_name, w.organization_id, o.name AS organization_name,
      w.template_id, t.name AS template_name, w.dormant_at, w.user_acl, w.group_acl, b.id AS build_id, b.created_at AS build_created_at,
      b.job_id AS build_job_id, b.transition AS build_transition, b.template_version_id`)
    const joined = sql.literal(`workspace_agents a
      JOIN workspace_resources r ON r.id = a.resource_id
      JOIN workspace_builds b ON b.job_id = r.job_id
      JOIN workspaces w ON w.id = b.workspace_id
      JOIN users u ON u.id = w.owner_id
      JOIN organizations o ON o.id = w.organization_id
      JOIN templates t ON t.id = w.template_id`)
    /** Keeps the row from being changed by others until the transaction ends; SQLite's transactions run one after the other. */
    const forUpdate = locking(sql, "FOR UPDATE")
    const rights = selectRights(sql)
    /** Whether the job gives a prebuilt workspace to its owner. */
    const isClaim = sql.dialect({
      postgres: () => sql.literal(`c.input ->> 'prebuilt_workspace_stage' = '2'`),
      sqlite: () => sql.literal(`json_extract(c.input, '$.prebuilt_workspace_stage') = 2`)
    })

    const credentials = sql`${selected}, a.api_key_scope, w.task_id, ${rights}`
    const itsJob = sql.literal("JOIN provisioner_jobs j ON j.id = b.job_id")
    /** Whether the token of an agent works. */
    const works = sql`NOT a.deleted AND NOT w.deleted AND (
                w.latest_build_id = b.id
                OR (b.transition = 'start' AND ${sql.literal(jobIs("succeeded", "j"))}
                  AND w.latest_build_number = b.build_number + 1
                  AND (w.latest_status = 'stopping' OR w.latest_status = 'pending' AND w.latest_transition = 'stop'
                    OR w.latest_status IN ('pending', 'starting') AND EXISTS (
                      SELECT 1 FROM provisioner_jobs c WHERE c.id = w.latest_job_id AND ${isClaim}))))`
    const byToken = prepared(
      sql,
      "bytes",
      sql`SELECT ${credentials} FROM ${joined} ${itsJob}
              WHERE a.hashed_token = ${new Uint8Array()} AND ${works}
              ORDER BY b.build_number DESC LIMIT 1`
    )
    /** The same of many. The newest build comes last. */
    const byTokens = (hashedTokens: ReadonlyArray<string>) => {
      const tokens = items(
        sql,
        hashedTokens.map((hash) => [hash])
      )
      // In this order, and with each item by itself: the planners do not know how few items there are
      return sql.dialect({
        postgres: () => sql`SELECT item.value ->> 0 AS hashed_token, found.* FROM ${tokens} CROSS JOIN LATERAL (
          SELECT ${credentials}, b.build_number FROM ${joined} ${itsJob}
            WHERE a.hashed_token = decode(item.value ->> 0, 'hex') AND ${works} OFFSET 0) AS found ORDER BY found.build_number`,
        sqlite: () => sql`SELECT item.value ->> 0 AS hashed_token, ${credentials} FROM ${tokens} CROSS JOIN ${joined} ${itsJob}
          WHERE a.hashed_token = unhex(item.value ->> 0) AND ${works} ORDER BY b.build_number`
      })
    }

    const byId = prepared(
      sql,
      "uuid",
      sql`SELECT ${selected} FROM ${joined} WHERE a.id = ${""} AND NOT a.deleted AND NOT w.deleted AND NOT u.deleted`
    )

    return AgentRepository.of({
      ...agentApps(sql),
      ...connectionsOfAgents(sql),
      claimOf: (workspaceId) =>
        first(
          claim,
          sql`SELECT first.initiator_id AS first_initiator_id, b.initiator_id AS latest_initiator_id, w.latest_status AS status,
              COALESCE(${isClaim}, ${bool(false)}) AS is_claim
            FROM workspaces w
            JOIN workspace_builds b ON b.id = w.latest_build_id
            JOIN provisioner_jobs c ON c.id = b.job_id
            JOIN workspace_builds first ON first.workspace_id = w.id AND first.build_number = 1
            WHERE w.id = ${workspaceId}`
        ),
      byToken: (hashedToken) => first(session, byToken(hashedToken)),
      byTokens: (hashedTokens) =>
        Effect.map(
          all((row) => [hashOf(row).hashed_token, session(row)] as const, byTokens(hashedTokens)),
          (sessions) => new Map(sessions)
        ),
      byId: (id) => first(agentWorkspace, byId(id)),
      updateStartup: (id, { api_version, expanded_directory, subsystems, version }, at) =>
        run(
          sql`UPDATE workspace_agents SET version = ${version}, expanded_directory = ${expanded_directory},
              subsystems = ${JSON.stringify(subsystems)}, api_version = ${api_version}, updated_at = ${at}
            WHERE id = ${id}`
        ),
      lockLifecycle: (id) => one(startTimes, sql`SELECT started_at, ready_at FROM workspace_agents WHERE id = ${id} ${forUpdate}`),
      updateLifecycle: (id, state, { ready_at, started_at }, at) =>
        run(
          sql`UPDATE workspace_agents SET lifecycle_state = ${state}, started_at = ${started_at}, ready_at = ${ready_at}, updated_at = ${at}
            WHERE id = ${id}`
        ),
      startsOf: (jobId) =>
        all(
          start,
          sql`SELECT a.lifecycle_state, a.ready_at FROM workspace_agents a JOIN workspace_resources r ON r.id = a.resource_id
            WHERE r.job_id = ${jobId} AND a.parent_id IS NULL AND NOT a.deleted`
        ),
      isReady: (id) => applied(sql`SELECT 1 AS ready FROM workspace_agents WHERE id = ${id} AND lifecycle_state = 'ready'`)
    })
  })
)
