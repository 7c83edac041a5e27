import { BuildResourceRepository, type ScriptStage, type ScriptStatus, type StoredExternalAgent } from "@atelier/core/agents"
import { service } from "@atelier/core/platform"
import { Effect } from "effect"
import { dialectOf } from "../../platform/Dialect.js"
import { boolean, number, row, text, timestamp, uuid } from "../../platform/Row.js"
import { all, applied, first, run } from "../../platform/Statement.js"
import { Statements } from "../../platform/Statements.js"
import { manifestReading } from "./ManifestReading.js"
import { resourceInsertion } from "./ResourceInsertion.js"
import { resourceReading } from "./ResourceReading.js"
import { sealedToken } from "./SealedToken.js"
import { subAgents } from "./SubAgents.js"

const platformRow = row({ operating_system: text(), architecture: text() })

const instanceRow = row({ name: text(), is_latest: boolean })

const externalAgent = (from: object): StoredExternalAgent => ({ ...platformRow(from), token: sealedToken(from) })

const timingRow = row({
  started_at: timestamp,
  ended_at: timestamp,
  exit_code: number,
  stage: text<ScriptStage>(),
  status: text<ScriptStatus>(),
  display_name: text(),
  workspace_agent_id: uuid,
  workspace_agent_name: text()
})

/** Agents of one instance that are read. */
const maximumInstanceAgents = 100

export const layer = service(
  BuildResourceRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const { boolean: bool } = dialectOf(sql)

    return BuildResourceRepository.of({
      ...resourceInsertion(sql),
      ...resourceReading(sql),
      ...manifestReading(sql),
      ...subAgents(sql),
      scriptTimings: (jobId, limit) =>
        all(
          timingRow,
          sql`SELECT t.started_at, t.ended_at, t.exit_code, t.stage, t.status, s.display_name, a.id AS workspace_agent_id,
              a.name AS workspace_agent_name
            FROM workspace_resources r
            JOIN workspace_agents a ON a.resource_id = r.id AND NOT a.deleted
            JOIN workspace_agent_scripts s ON s.workspace_agent_id = a.id
            JOIN workspace_agent_script_timings t ON t.script_id = s.id
            WHERE r.job_id = ${jobId} ORDER BY t.started_at, t.id LIMIT ${limit}`
        ),
      externalAgent: (jobId, name) =>
        first(
          externalAgent,
          sql`SELECT a.id, a.operating_system, a.architecture, a.sealed_token_key_id, a.sealed_token
            FROM workspace_resources r JOIN workspace_agents a ON a.resource_id = r.id
            WHERE r.job_id = ${jobId} AND a.name = ${name} AND a.auth_instance_id IS NULL AND a.parent_id IS NULL AND a.sealed_token_key_id <> ''
              AND NOT a.deleted`
        ),
      agentsOfInstance: (instanceId) =>
        all(
          (from) => ({ ...instanceRow(from), token: sealedToken(from) }),
          sql`SELECT a.id, a.name, a.sealed_token_key_id, a.sealed_token,
              (w.latest_build_id = b.id) AS is_latest
            FROM workspace_agents a
            JOIN workspace_resources r ON r.id = a.resource_id
            JOIN workspace_builds b ON b.job_id = r.job_id
            JOIN workspaces w ON w.id = b.workspace_id
            WHERE a.auth_instance_id = ${instanceId} AND a.parent_id IS NULL AND a.sealed_token_key_id <> '' AND NOT a.deleted AND NOT w.deleted
            ORDER BY a.created_at DESC, a.id DESC LIMIT ${maximumInstanceAgents}`
        ),
      tokensSealedOtherwise: (keyId, after, limit) =>
        all(
          (from) => sealedToken(from),
          sql`SELECT id, sealed_token_key_id, sealed_token FROM workspace_agents
            WHERE sealed_token_key_id <> '' AND sealed_token_key_id <> ${keyId} AND id > ${after} ORDER BY id LIMIT ${limit}`
        ),
      resealToken: (id, from, to) =>
        applied(
          sql`UPDATE workspace_agents SET sealed_token_key_id = ${to.key_id}, sealed_token = ${to.ciphertext}
            WHERE id = ${id} AND sealed_token_key_id = ${from.key_id} AND sealed_token = ${from.ciphertext} RETURNING id`
        ),
      deleteAgents: (workspaceId, exceptJobId) =>
        run(
          sql`UPDATE workspace_agents SET deleted = ${bool(true)}, sealed_token_key_id = '', sealed_token = NULL WHERE NOT deleted AND resource_id IN
            (SELECT r.id FROM workspace_builds b JOIN workspace_resources r ON r.job_id = b.job_id
              WHERE b.workspace_id = ${workspaceId} AND ${exceptJobId === null ? sql`1 = 1` : sql`b.job_id <> ${exceptJobId}`})`
        )
    })
  })
)
