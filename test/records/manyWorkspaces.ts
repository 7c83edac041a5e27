/** As many workspaces as a test of lists needs, made by the store itself. */
import type { Uuid } from "@atelier/core/platform"
import { Effect } from "effect"
import { Statements } from "@atelier/storage"

export interface ManyWorkspaces {
  readonly count: number
  /** They are spread over these users. */
  readonly owners: ReadonlyArray<Uuid.Uuid>
  readonly organization_id: Uuid.Uuid
  readonly template_id: Uuid.Uuid
  readonly template_version_id: Uuid.Uuid
  /** The first id's number: makes ids of several calls differ. */
  readonly from?: number
}

/** Each has one finished build; of three, two are running and one is stopped. Their names are `w<number>`. */
export const manyWorkspaces = ({ count, from = 1, organization_id, owners, template_id, template_version_id }: ManyWorkspaces) =>
  Effect.gen(function* () {
    const sql = yield* Statements
    const at = "2026-01-02T03:04:05.678Z"
    const id = (kind: string) =>
      sql.dialect({
        postgres: () => sql.literal(`CAST('${kind}0000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0') AS uuid)`),
        sqlite: () => sql.literal(`'${kind}0000000-0000-7000-8000-' || printf('%012x', i)`)
      })
    const owner = sql.dialect({
      postgres: () =>
        sql`CAST(CAST(${JSON.stringify(owners)} AS jsonb) ->> CAST(i % ${sql.literal(String(owners.length))} AS integer) AS uuid)`,
      sqlite: () => sql`json_extract(${JSON.stringify(owners)}, '$[' || (i % ${sql.literal(String(owners.length))}) || ']')`
    })
    const constant = (value: string, type: "uuid" | "timestamptz") =>
      sql.dialect({ postgres: () => sql.literal(`'${value}'::${type}`), sqlite: () => sql.literal(`'${value}'`) })
    const [no, yes] = sql.dialect({
      postgres: () => [sql.literal("FALSE"), sql.literal("TRUE")] as const,
      sqlite: () => [sql.literal("0"), sql.literal("1")] as const
    })
    const now = constant(at, "timestamptz")
    const numbers = sql.literal(`WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${from + count - 1})`)
    const used = sql.dialect({
      postgres: () => sql.literal(`'${at}'::timestamptz + i * INTERVAL '1 second'`),
      sqlite: () => sql.literal(`strftime('%Y-%m-%dT%H:%M:%fZ', '${at}', i || ' seconds')`)
    })
    const json = (value: string) =>
      sql.dialect({ postgres: () => sql.literal(`'${value}'::jsonb`), sqlite: () => sql.literal(`'${value}'`) })
    const bytes = sql.dialect({ postgres: () => sql.literal("''::bytea"), sqlite: () => sql.literal("x''") })

    yield* sql`${numbers} INSERT INTO workspaces (id, created_at, updated_at, owner_id, organization_id, template_id, deleted, name,
        last_used_at, automatic_updates, favorite, user_acl, group_acl, owner_key)
      SELECT ${id("a")}, ${now}, ${now}, u.id, ${constant(organization_id, "uuid")}, ${constant(template_id, "uuid")}, ${no}, 'w' || i,
        ${used}, 'never', ${no}, ${json("{}")}, ${json("{}")}, lower(u.username)
      FROM n JOIN users u ON u.id = ${owner}`
    yield* sql`${numbers} INSERT INTO provisioner_jobs (id, created_at, updated_at, started_at, completed_at, error, error_code,
        organization_id, initiator_id, provisioner, type, file_id, input, tags, attempts, unrepeatable, logs_length, logs_overflowed)
      SELECT ${id("b")}, ${now}, ${now}, ${now}, ${now}, '', '', ${constant(organization_id, "uuid")}, ${owner}, 'echo', 'workspace_build',
        ${constant(template_id, "uuid")}, ${json("{}")}, ${json('{"scope":"organization","owner":""}')}, 1, ${yes}, 0, ${no} FROM n`
    yield* sql`${numbers} INSERT INTO workspace_builds (id, created_at, updated_at, workspace_id, template_version_id, build_number,
        transition, initiator_id, job_id, reason, daily_cost, initiator_ip, provisioner_state)
      SELECT ${id("c")}, ${now}, ${now}, ${id("a")}, ${constant(template_version_id, "uuid")}, 1,
        CASE WHEN i % 3 = 0 THEN 'stop' ELSE 'start' END, ${owner}, ${id("b")}, 'initiator', 0, '', ${bytes} FROM n`
    // SQLite plans without statistics, because no program collects them
    yield* sql.dialect({ postgres: () => sql`ANALYZE`, sqlite: () => Effect.void })
  })
