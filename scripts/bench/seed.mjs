// Workspaces by the thousand, written into the tables by a few statements; the store's triggers keep the columns that are derived.
import { noBuildTimeStats } from "@atelier/core/templates"
import { Effect } from "effect"
import { createHash } from "node:crypto"

/** Workspaces of one owner. */
const perOwner = 10
/** Workspaces written by one transaction: the rows that count them are written once for each of them. */
const perTransaction = 1000
/** Templates of the deployment, each with one version. */
const templates = 20

/** The first digits of the ids that are counted, by what they belong to. */
const prefixes = {
  user: "10",
  agent: "20",
  agentToken: "21",
  app: "30",
  script: "40",
  logSource: "50",
  workspace: "a0",
  job: "b0",
  importJob: "b1",
  build: "c0",
  template: "d0",
  version: "e0",
  resource: "f0"
}

/** The id of a thing by its number. */
export const idOf = (kind, number) => `${prefixes[kind]}000000-0000-7000-8000-${number.toString(16).padStart(12, "0")}`

/** The agents that have a token. */
const withToken = 400

/** Milliseconds of an hour. */
const hour = 60 * 60 * 1000

/** The number of a workspace that has an agent, by a count from 0: six of ten have one. */
export const runningOf = (count) => Math.floor(count / 6) * 10 + (count % 6 === 0 ? 10 : count % 6)

const secret = "s".repeat(22)

/** What a user of the seed presents as its session: the first 99,999 have one. */
export const sessionOf = (number) => `bench${String(number).padStart(5, "0")}-${secret}`

const sqlite = {
  id: (kind, number) => `'${prefixes[kind]}000000-0000-7000-8000-' || printf('%012x', ${number})`,
  padded: (number) => `printf('%05d', ${number})`,
  uuid: (text) => `'${text}'`,
  timestamp: (text) => `'${text}'`,
  json: (text) => text,
  bytes: (hex) => `x'${hex}'`,
  hash: () => "randomblob(32)",
  day: (number) => `strftime('%Y-%m-%dT%H:%M:%fZ', '2025-01-01', (${number}) || ' days')`,
  yes: "1",
  no: "0"
}

const postgres = {
  id: (kind, number) => `CAST('${prefixes[kind]}000000-0000-7000-8000-' || lpad(to_hex(${number}), 12, '0') AS uuid)`,
  padded: (number) => `lpad(CAST(${number} AS text), 5, '0')`,
  uuid: (text) => `CAST('${text}' AS uuid)`,
  timestamp: (text) => `CAST('${text}' AS timestamptz)`,
  json: (text) => `CAST(${text} AS jsonb)`,
  bytes: (hex) => `CAST('\\x${hex}' AS bytea)`,
  hash: (number) => `sha256(CAST(CAST(${number} AS text) AS bytea))`,
  day: (number) => `CAST('2025-01-01T00:00:00Z' AS timestamptz) + (${number}) * interval '1 day'`,
  yes: "TRUE",
  no: "FALSE"
}

/** One row per number `i`, each column by an expression. */
const insert = (table, { from, to, where = "" }, columns) =>
  `WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${to})
   INSERT INTO ${table} (${Object.keys(columns).join(", ")}) SELECT ${Object.values(columns).join(", ")} FROM n ${where}`

/** What rows of a deployment share in the SQL of one database. */
const sharedOf = ({ json, no, timestamp, uuid, yes }, { now, organization }) => {
  const at = timestamp(now)
  // PostgreSQL counts agents whose last sign is older than ten minutes by another index
  const seen = timestamp(new Date(Date.parse(now) - hour).toISOString())
  const created = { created_at: at, updated_at: at }
  const organization_id = uuid(organization)
  const finished = {
    ...created,
    started_at: at,
    completed_at: at,
    error: "''",
    error_code: "''",
    organization_id,
    provisioner: "'terraform'",
    tags: json(`'{"scope":"organization","owner":""}'`),
    attempts: "1",
    unrepeatable: yes,
    logs_length: "0",
    logs_overflowed: no
  }
  return { at, created, organization_id, finished, seen }
}

const userRows = ({ bytes, id, json, no, padded, timestamp }, { hashedPassword }, { at, created, organization_id }) => ({
  user: {
    id: id("user", "i"),
    email: "'user' || i || '@example.com'",
    username: "'user' || i",
    name: "'User ' || i",
    avatar_url: "''",
    hashed_password: `'${hashedPassword}'`,
    status: "'active'",
    login_type: "'password'",
    rbac_roles: json("'[]'"),
    ...created,
    last_seen_at: at,
    deleted: no,
    is_system: no,
    is_service_account: no,
    theme_preference: "''",
    quiet_hours_schedule: "''"
  },
  member: { organization_id, user_id: id("user", "i"), ...created, roles: json("'[]'") },
  session: {
    id: `'bench' || ${padded("i")}`,
    user_id: id("user", "i"),
    hashed_secret: bytes(createHash("sha256").update(secret).digest("hex")),
    ...created,
    last_used: at,
    expires_at: timestamp("2100-01-01T00:00:00.000Z"),
    lifetime_seconds: "86400",
    login_type: "'password'",
    ip: "''",
    token_name: "''",
    scopes: json(`'["coder:all"]'`),
    allow_list: json(`'[{"type":"*","id":"*"}]'`)
  }
})

const templateRows = ({ id, json, no, yes }, { organization }, { created, finished, organization_id }) => ({
  template: {
    id: id("template", "i"),
    ...created,
    organization_id,
    deleted: no,
    name: "'template' || i",
    display_name: "'Template ' || i",
    description: "''",
    icon: "''",
    provisioner: "'terraform'",
    active_version_id: id("version", "i"),
    created_by: id("user", "1"),
    default_ttl_ms: "0",
    activity_bump_ms: "0",
    time_til_autostop_notify_ms: "0",
    autostop_requirement_days_of_week: "0",
    autostop_requirement_weeks: "0",
    autostart_block_days_of_week: "0",
    allow_user_autostart: yes,
    allow_user_autostop: yes,
    allow_user_cancel_workspace_jobs: yes,
    failure_ttl_ms: "0",
    time_til_dormant_ms: "0",
    time_til_dormant_autodelete_ms: "0",
    require_active_version: no,
    deprecated: "''",
    max_port_share_level: "'owner'",
    cors_behavior: "'simple'",
    use_classic_parameter_flow: no,
    disable_module_cache: no,
    agents_allowed: yes,
    user_acl: json("'{}'"),
    group_acl: json(`'{"${organization}":["read","use"]}'`),
    active_user_count: "0",
    build_time_stats: json(`'${JSON.stringify(noBuildTimeStats)}'`)
  },
  importJob: {
    ...finished,
    id: id("importJob", "i"),
    initiator_id: id("user", "1"),
    type: "'template_version_import'",
    file_id: id("template", "i"),
    input: json("'{}'")
  },
  version: {
    id: id("version", "i"),
    ...created,
    organization_id,
    template_id: id("template", "i"),
    name: "'v1'",
    message: "''",
    readme: "''",
    job_id: id("importJob", "i"),
    created_by: id("user", "1"),
    archived: no,
    workspace_tags: json("'{}'")
  }
})

const workspaceRows = ({ bytes, id, json, no }, { at, created, finished, organization_id }) => {
  const template = `1 + i % ${templates}`
  const transition = "CASE WHEN i % 10 IN (6, 7, 8) THEN 'stop' ELSE 'start' END"
  return {
    /** `owner` is the number of its owner. */
    workspace: (owner) => ({
      id: id("workspace", "i"),
      ...created,
      owner_id: id("user", owner),
      organization_id,
      template_id: id("template", template),
      deleted: no,
      name: "'workspace' || i",
      last_used_at: at,
      automatic_updates: "'never'",
      favorite: no,
      user_acl: json("'{}'"),
      group_acl: json("'{}'"),
      owner_key: `'user' || ${owner}`
    }),
    job: (owner) => ({
      ...finished,
      id: id("job", "i"),
      error: "CASE WHEN i % 10 = 9 THEN 'The start failed.' ELSE '' END",
      initiator_id: id("user", owner),
      type: "'workspace_build'",
      file_id: id("template", template),
      input: json(`'{"workspace_build_id":"' || ${id("build", "i")} || '"}'`)
    }),
    build: (owner) => ({
      id: id("build", "i"),
      ...created,
      workspace_id: id("workspace", "i"),
      template_version_id: id("version", template),
      build_number: "1",
      transition,
      initiator_id: id("user", owner),
      job_id: id("job", "i"),
      reason: "'initiator'",
      daily_cost: "0",
      initiator_ip: "''",
      provisioner_state: bytes("")
    }),
    resource: {
      id: id("resource", "i"),
      created_at: at,
      job_id: id("job", "i"),
      transition,
      type: "'local_workspace'",
      name: "'main'",
      hide: no,
      icon: "''",
      instance_type: "''",
      daily_cost: "0",
      module_path: "''",
      metadata: json("'[]'")
    }
  }
}

const agentRows = ({ hash, id, json, no, yes }, { at, created, seen }) => ({
  agent: {
    id: id("agent", "i"),
    ...created,
    resource_id: id("resource", "i"),
    name: "'main'",
    // As many as there are agents: the database plans statements by how rare a value is
    hashed_token: hash("i"),
    api_key_scope: "'all'",
    architecture: "'amd64'",
    operating_system: "'linux'",
    directory: "''",
    expanded_directory: "''",
    environment_variables: json("'{}'"),
    version: "'v0.0.0'",
    api_version: "'2.0'",
    subsystems: json("'[]'"),
    display_apps: json("'[]'"),
    display_order: "0",
    motd_file: "''",
    troubleshooting_url: "''",
    connection_timeout_seconds: "120",
    first_connected_at: seen,
    last_connected_at: seen,
    lifecycle_state: "'ready'",
    started_at: at,
    ready_at: at,
    logs_length: "0",
    logs_count: "0",
    logs_overflowed: no,
    deleted: no
  },
  logSource: { workspace_agent_id: id("agent", "i"), id: id("logSource", "i"), created_at: at, display_name: "'Startup'", icon: "''" },
  script: {
    id: id("script", "i"),
    created_at: at,
    workspace_agent_id: id("agent", "i"),
    log_source_id: id("logSource", "i"),
    display_name: "'Startup'",
    log_path: "''",
    script: "'echo started'",
    cron: "''",
    start_blocks_login: no,
    run_on_start: yes,
    run_on_stop: no,
    timeout_seconds: "0"
  },
  app: {
    id: id("app", "i"),
    created_at: at,
    agent_id: id("agent", "i"),
    slug: "'editor'",
    display_name: "'Editor'",
    icon: "''",
    command: "''",
    url: "'http://127.0.0.1:8080'",
    healthcheck_url: "''",
    healthcheck_interval: "0",
    healthcheck_threshold: "0",
    health: "'disabled'",
    subdomain: no,
    sharing_level: "'owner'",
    external: no,
    display_order: "0",
    display_group: "''",
    hidden: no,
    open_in: "'slim-window'",
    tooltip: "''"
  }
})

/** The expressions of a deployment's rows in the SQL of one database. */
const rowsOf = (dialect, deployment) => {
  const shared = sharedOf(dialect, deployment)
  return {
    ...userRows(dialect, deployment, shared),
    ...templateRows(dialect, deployment, shared),
    ...workspaceRows(dialect, shared),
    ...agentRows(dialect, shared)
  }
}

/** The columns of each table: a database of an earlier version has others. */
const columnsOf = {
  sqlite: `SELECT t.name AS "table", c.name AS "column" FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'`,
  postgres: `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns WHERE table_schema = 'public'`
}

/** The statements that give the first agents a token that is known. */
const tokens = ({ bytes, id }) =>
  Array.from({ length: withToken }, (_, index) => {
    const hash = createHash("sha256")
      .update(idOf("agentToken", index + 1))
      .digest("hex")
    return `UPDATE workspace_agents SET hashed_token = ${bytes(hash)} WHERE id = ${id("agent", index + 1)}`
  })

/**
 * The statements that write workspaces `from` to `to`: of ten, six run with an agent each, three are stopped and one failed to start. The
 * first range brings the templates along.
 */
const statements = (dialect, known, { from, to, ...deployment }) => {
  const write = (table, range, columns) =>
    insert(table, range, Object.fromEntries(Object.entries(columns).filter(([column]) => known.has(`${table}.${column}`))))
  const rows = rowsOf(dialect, deployment)
  const all = { from, to }
  const started = { ...all, where: "WHERE i % 10 < 6" }
  const owners = { from: Math.ceil(from / perOwner), to: Math.floor(to / perOwner) }
  // What was made one after another does not belong to one owner
  const owner = `(${owners.from} + (i % ${perTransaction} * 7919) % ${owners.to - owners.from + 1})`
  const ofTemplates = { from: 1, to: templates }
  return [
    write("users", owners, rows.user),
    write("organization_members", owners, rows.member),
    write("api_keys", { ...owners, where: "WHERE i < 100000" }, rows.session),
    ...(from > 1
      ? []
      : [
          write("templates", ofTemplates, rows.template),
          write("provisioner_jobs", ofTemplates, rows.importJob),
          write("template_versions", ofTemplates, rows.version)
        ]),
    write("workspaces", all, rows.workspace(owner)),
    write("provisioner_jobs", all, rows.job(owner)),
    write("workspace_builds", all, rows.build(owner)),
    write("workspace_resources", all, rows.resource),
    write("workspace_agents", started, rows.agent),
    ...(from > 1 ? [] : tokens(dialect)),
    write("workspace_agent_log_sources", started, rows.logSource),
    write("workspace_agent_scripts", started, rows.script),
    write("workspace_apps", started, rows.app)
  ]
}

const plainIndexes = {
  sqlite: "SELECT name, sql AS definition FROM sqlite_master WHERE type = 'index' AND sql LIKE 'CREATE INDEX%'",
  postgres: "SELECT indexname AS name, indexdef AS definition FROM pg_indexes WHERE schemaname = 'public' AND indexdef LIKE 'CREATE INDEX%'"
}

/** Runs `write` without the indexes that forbid nothing, and makes them anew, as is usual where so much is loaded at once. */
const withoutIndexes = (sql, kind, write) =>
  Effect.gen(function* () {
    const indexes = yield* sql.unsafe(plainIndexes[kind])
    yield* Effect.forEach(indexes, ({ name }) => sql.unsafe(`DROP INDEX ${name}`), { discard: true })
    yield* write
    yield* Effect.forEach(indexes, ({ definition }) => sql.unsafe(definition), { discard: true })
    // What PostgreSQL would do by itself within a minute
    if (kind === "postgres") yield* sql`VACUUM ANALYZE`
  })

/** The columns by which users of a directory differ: some of each kind that a search can ask for. */
const directoryColumns = ({ day, json, no, yes }, count) => ({
  email: "'person' || i || '@example.com'",
  // The order of the list is not the one they were made in
  username: `'person' || (i * 7919 % ${count})`,
  name: "'Person ' || i || CASE WHEN i % 100 = 0 THEN ' of the night watch' ELSE '' END",
  status: "CASE WHEN i % 50 = 0 THEN 'suspended' WHEN i % 20 = 0 THEN 'dormant' ELSE 'active' END",
  login_type: "CASE WHEN i % 5 = 0 THEN 'github' ELSE 'password' END",
  rbac_roles: `CASE WHEN i % 500 = 0 THEN ${json(`'["auditor"]'`)} ELSE ${json("'[]'")} END`,
  is_service_account: `CASE WHEN i % 200 = 0 THEN ${yes} ELSE ${no} END`,
  github_com_user_id: "CASE WHEN i % 5 = 0 THEN i ELSE 0 END",
  created_at: day("i % 300"),
  last_seen_at: day("i * 7 % 300")
})

/** Writes users 1 to `count` of the default organization, without workspaces. */
export const seedUsers = (sql, kind, { count }) =>
  Effect.gen(function* () {
    const [organization] = yield* sql`SELECT id FROM organizations WHERE is_default`
    const dialect = kind === "postgres" ? postgres : sqlite
    const { member, user } = rowsOf(dialect, { hashedPassword: "", now: new Date().toISOString(), organization: organization.id })
    const all = { from: 1, to: count }
    const texts = [insert("users", all, { ...user, ...directoryColumns(dialect, count) }), insert("organization_members", all, member)]
    yield* withoutIndexes(sql, kind, sql.withTransaction(Effect.forEach(texts, (text) => sql.unsafe(text), { discard: true })))
  })

/**
 * Writes workspaces `from` to `to`, a thousand or a multiple of it, with a tenth as many owners; their password is the first user's.
 */
export const seed = (sql, kind, { from, to }) =>
  Effect.gen(function* () {
    const [organization] = yield* sql`SELECT id FROM organizations WHERE is_default`
    const [first] = yield* sql`SELECT hashed_password FROM users WHERE hashed_password IS NOT NULL LIMIT 1`
    const deployment = { hashedPassword: first.hashed_password, organization: organization.id, now: new Date().toISOString() }
    const dialect = kind === "postgres" ? postgres : sqlite
    const rows = yield* sql.unsafe(columnsOf[kind])
    const known = new Set(rows.map(({ column, table }) => `${table}.${column}`))
    const write = Effect.gen(function* () {
      for (let begin = from; begin <= to; begin += perTransaction) {
        const texts = statements(dialect, known, { from: begin, to: begin + perTransaction - 1, ...deployment })
        yield* sql.withTransaction(Effect.forEach(texts, (text) => sql.unsafe(text), { discard: true }))
      }
    })
    yield* withoutIndexes(sql, kind, write)
  })

/** Gives the first `count` agents of workspaces that run a token that is known, and each an item of metadata. */
export const seedConnectable = (sql, kind, { count }) =>
  Effect.gen(function* () {
    const { bytes, id, timestamp } = kind === "postgres" ? postgres : sqlite
    const texts = Array.from({ length: count }, (_, index) => {
      const number = runningOf(index)
      const hash = createHash("sha256").update(idOf("agentToken", number)).digest("hex")
      return [
        `UPDATE workspace_agents SET hashed_token = ${bytes(hash)} WHERE id = ${id("agent", number)}`,
        `INSERT INTO workspace_agent_metadata (workspace_agent_id, key, display_name, script, interval, timeout, display_order, value, error, collected_at)
         VALUES (${id("agent", number)}, 'load', 'Load', 'uptime', 10, 5, 0, '', '', ${timestamp("2025-01-01T00:00:00.000Z")})`
      ]
    }).flat()
    yield* sql.withTransaction(Effect.forEach(texts, (text) => sql.unsafe(text), { discard: true }))
  })
