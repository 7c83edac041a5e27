import { Migrator, SqlClient, type SqlError } from "@effect/sql"
import { Effect, Layer } from "effect"
import platform from "./migrations/0001_platform.js"
import identity from "./migrations/0010_identity.js"
import organizations from "./migrations/0020_organizations.js"
import templates from "./migrations/0030_templates.js"
import provisioning from "./migrations/0040_provisioning.js"
import workspaces from "./migrations/0050_workspaces.js"
import agents from "./migrations/0060_agents.js"
import audit from "./migrations/0070_audit.js"
import buildFollowUps from "./migrations/0080_build_follow_ups.js"
import users from "./migrations/0081_users.js"
import userSecrets from "./migrations/0082_user_secrets.js"
import userSettings from "./migrations/0083_user_settings.js"
import userLinks from "./migrations/0084_user_links.js"
import passcodesAndDormancy from "./migrations/0085_passcodes_and_dormancy.js"
import usersKeysAndStarts from "./migrations/0086_users_keys_and_starts.js"
import userPages from "./migrations/0087_user_pages.js"
import members from "./migrations/0090_members.js"
import customRoles from "./migrations/0091_custom_roles.js"
import groups from "./migrations/0095_groups.js"
import aiBudgets from "./migrations/0096_ai_budgets.js"
import idpSync from "./migrations/0100_idp_sync.js"
import deletions from "./migrations/0101_deletions.js"
import groupCounts from "./migrations/0102_group_counts.js"
import hashedAgentTokens from "./migrations/0120_hashed_agent_tokens.js"
import fileUses from "./migrations/0121_file_uses.js"
import jobQueue from "./migrations/0135_job_queue.js"
import sealedStates from "./migrations/0136_sealed_states.js"
import lineTimes from "./migrations/0137_line_times.js"

/**
 * Every migration, in the order of its number. One that has landed is never edited, and a new one has the highest number: a store looks for
 * no lower one than the last it has applied.
 */
export const migrations: Readonly<Record<string, Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>>> = {
  "0001_platform": platform,
  "0010_identity": identity,
  "0020_organizations": organizations,
  "0030_templates": templates,
  "0040_provisioning": provisioning,
  "0050_workspaces": workspaces,
  "0060_agents": agents,
  "0070_audit": audit,
  "0080_build_follow_ups": buildFollowUps,
  "0081_users": users,
  "0082_user_secrets": userSecrets,
  "0083_user_settings": userSettings,
  "0084_user_links": userLinks,
  "0085_passcodes_and_dormancy": passcodesAndDormancy,
  "0086_users_keys_and_starts": usersKeysAndStarts,
  "0087_user_pages": userPages,
  "0090_members": members,
  "0091_custom_roles": customRoles,
  "0095_groups": groups,
  "0096_ai_budgets": aiBudgets,
  "0100_idp_sync": idpSync,
  "0101_deletions": deletions,
  "0102_group_counts": groupCounts,
  "0120_hashed_agent_tokens": hashedAgentTokens,
  "0121_file_uses": fileUses,
  "0135_job_queue": jobQueue,
  "0136_sealed_states": sealedStates,
  "0137_line_times": lineTimes
}

/** What has been migrated. */
export const table = "atelier_migrations"

/** The migrator makes its table by itself, but on PostgreSQL only one of the processes that find an empty database together can. */
const makeTable = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.onDialectOrElse({
    pg: () =>
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`atelier:${table}`}, 0))`
          const [existing] = yield* sql`SELECT 1 WHERE to_regclass(${table}) IS NOT NULL`
          if (existing !== undefined) return
          yield* sql`CREATE TABLE ${sql(table)} (
            migration_id integer PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now(), name text NOT NULL)`
        })
      ),
    orElse: () => Effect.void
  })
)

/** Brings the store to the present schema. Processes that start together wait for each other. */
export const migrate = Effect.zipRight(makeTable, Migrator.make({})({ loader: Migrator.fromRecord(migrations), table }))

export const layer = Layer.effectDiscard(Effect.orDie(migrate))
