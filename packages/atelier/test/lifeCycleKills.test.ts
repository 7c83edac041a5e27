/** What kill -9 does to the builds and the sleep that the service begins by itself. */
import { PgClient } from "@effect/sql-pg"
import { SqlClient } from "@effect/sql"
import { SqliteClient } from "@effect/sql-sqlite-node"
import { type Client, templates } from "@atelier/client"
import { Effect, Layer, Redacted } from "effect"
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { databasesOf, lastingDatabaseUrl } from "../../../test/store/databases.js"
import { freePort, Server, type ServerOptions } from "./Server.js"
import { firstClient, isRunning, templateFrom, untilWorkspace, workspaceFrom } from "./Steps.js"

const past = "2026-01-01T00:00:00.000Z"

/** Workspaces that share a transaction. */
const together = 10

/** The notification that a workspace is dormant. */
const dormantTemplate = "0ea69165-ec14-4314-91f1-69566ac3c5a0"

interface Database {
  readonly url: string
  readonly client: Layer.Layer<SqlClient.SqlClient>
}

const sqlite = async (directory: string): Promise<Database> => {
  const filename = join(directory, "atelier.db")
  return { url: `sqlite:${filename}`, client: Layer.orDie(SqliteClient.layer({ filename })) }
}

const postgres = async (): Promise<Database> => {
  const url = await lastingDatabaseUrl()
  return { url, client: Layer.orDie(PgClient.layer({ url: Redacted.make(url), applicationName: "test" })) }
}

const databaseOf = { SQLite: sqlite, PostgreSQL: postgres }

describe.each(databasesOf("automatic builds"))("automatic builds on %s", (kind) => {
  let directory: string
  let database: Database
  let options: ServerOptions
  let server: Server
  let client: Client

  /** Runs statements of another process than the server's. */
  const stored = <A>(statements: (sql: SqlClient.SqlClient) => Effect.Effect<A, unknown>): Promise<A> =>
    Effect.runPromise(Effect.flatMap(SqlClient.SqlClient, statements).pipe(Effect.provide(database.client)))

  const count = (rows: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<{ readonly count: number }>, unknown>): Promise<number> =>
    stored((sql) => Effect.map(rows(sql), ([row]) => Number(row?.count)))

  const killed = async (): Promise<void> => {
    await server.kill()
    // A connection that waits within a statement would outlive its client, with its locks
    await stored((sql) =>
      sql.onDialectOrElse({
        pg: () =>
          Effect.asVoid(
            sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name <> 'test'`
          ),
        orElse: () => Effect.void
      })
    )
  }

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "atelier-life-cycle-"))
    database = await databaseOf[kind](directory)
    options = {
      port: await freePort(),
      database: database.url,
      workspacesDirectory: join(directory, "workspaces"),
      args: ["--autobuild-poll-interval", "1s"]
    }
    server = await Server.start(options)
    client = await firstClient(server.url)
  })
  afterAll(async () => {
    await server.kill()
    await rm(directory, { recursive: true, force: true })
  })

  it("finishes an automatic stop once when it is killed during the build", async () => {
    const [stops, gate] = [join(directory, "stops"), join(directory, "gate")]
    const template = await templateFrom(client, "slow-stop", {
      files: {
        "template.yaml": [
          "agents:",
          "  - name: main",
          "    scripts:",
          "      - display_name: Wait",
          "        run_on_stop: true",
          `        script: echo stop >> ${stops}; while [ ! -e ${gate} ]; do sleep 0.05; done`
        ].join("\n")
      }
    })
    const { id } = await workspaceFrom(client, template, "stopped", { ttl_ms: 3_600_000 })
    await untilWorkspace(client, id, isRunning)
    await killed()
    await stored((sql) => sql`UPDATE workspace_builds SET deadline = ${past} WHERE workspace_id = ${id}`)
    server = await Server.start(options)
    await expect.poll(() => readFile(stops, "utf8").catch(() => ""), { timeout: 60_000 }).toBe("stop\n")
    await killed()
    server = await Server.start(options)
    await writeFile(gate, "")
    const { latest_build } = await untilWorkspace(client, id, (workspace) => workspace.latest_build.status === "stopped")
    expect(latest_build).toMatchObject({ build_number: 2, reason: "autostop" })
    expect(await readFile(stops, "utf8")).toBe("stop\n")
    expect(await count((sql) => sql`SELECT count(*) AS count FROM workspace_builds WHERE workspace_id = ${id}`)).toBe(2)
    expect(await count((sql) => sql`SELECT count(*) AS count FROM audit_logs WHERE resource_id = ${latest_build.id}`)).toBe(1)
  })

  it("puts each unused workspace to sleep once when it is killed amid that", async () => {
    const names = Array.from({ length: together + 4 }, (__, index) => `unused-${index}`)
    const template = await templateFrom(client, "unused", { files: { "template.yaml": "agents: []\n" } })
    await templates.updateTemplate(client, { template: template.id, body: { time_til_dormant_ms: 86_400_000 } })
    const workspaces = await Promise.all(names.map((name) => workspaceFrom(client, template, name)))
    for (const { id } of workspaces) await untilWorkspace(client, id, ({ latest_build }) => latest_build.status === "running")
    const ofTemplate = (sql: SqlClient.SqlClient) => sql`SELECT id FROM workspaces WHERE template_id = ${template.id}`
    const dormant = (sql: SqlClient.SqlClient) =>
      sql<{ readonly count: number }>`SELECT count(*) AS count FROM workspaces WHERE id IN (${ofTemplate(sql)}) AND dormant_at IS NOT NULL`
    await killed()
    await stored((sql) =>
      Effect.gen(function* () {
        yield* sql`UPDATE workspaces SET last_used_at = ${past} WHERE template_id = ${template.id}`
        // Once those of a first transaction sleep, the next one does not come to its end
        yield* sql.onDialectOrElse({
          pg: () =>
            Effect.zipRight(
              sql`CREATE FUNCTION never_ends() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                  IF (SELECT count(*) FROM workspaces WHERE dormant_at IS NOT NULL) > ${sql.literal(String(together))} THEN PERFORM pg_sleep(3600); END IF;
                  RETURN NEW;
                END $$`,
              sql`CREATE TRIGGER halt AFTER UPDATE OF dormant_at ON workspaces FOR EACH ROW EXECUTE FUNCTION never_ends()`
            ),
          orElse: () =>
            sql`CREATE TRIGGER halt AFTER UPDATE OF dormant_at ON workspaces
              WHEN (SELECT count(*) FROM workspaces WHERE dormant_at IS NOT NULL) > ${sql.literal(String(together))}
              BEGIN SELECT max(i) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n); END`
        })
      })
    )
    server = await Server.start(options)
    await expect.poll(() => count(dormant), { timeout: 60_000 }).toBe(together)
    await killed()
    expect(await count(dormant)).toBeLessThan(names.length)
    await stored((sql) => sql.onDialectOrElse({ pg: () => sql`DROP TRIGGER halt ON workspaces`, orElse: () => sql`DROP TRIGGER halt` }))
    server = await Server.start(options)
    for (const { id } of workspaces) {
      const { dormant_at, latest_build } = await untilWorkspace(client, id, ({ latest_build }) => latest_build.status === "stopped")
      expect([dormant_at === null, latest_build.build_number, latest_build.reason]).toStrictEqual([false, 2, "dormancy"])
    }
    expect(
      await stored(
        (sql) => sql`SELECT w.name FROM workspaces w WHERE w.template_id = ${template.id}
          AND ((SELECT count(*) FROM workspace_builds b WHERE b.workspace_id = w.id) <> 2
            OR (SELECT count(*) FROM audit_logs a WHERE a.resource_id = w.id AND a.action = 'write') <> 1)`
      )
    ).toStrictEqual([])
    expect(
      await count(
        (sql) => sql`SELECT count(*) AS count FROM notification_messages WHERE template_id = ${dormantTemplate} AND method = 'inbox'`
      )
    ).toBe(names.length)
  })

  it("leaves no workspace behind whose time ends while it is killed", async () => {
    const template = await templateFrom(client, "brief", { files: { "template.yaml": "agents:\n  - name: main\n" } })
    const names = Array.from({ length: 12 }, (__, index) => `brief-${index}`)
    const made = await Promise.all(names.map((name) => workspaceFrom(client, template, name, { timeout_ms: 3_000 })))
    await untilWorkspace(client, made[0]?.id ?? "", ({ latest_build }) => latest_build.status !== "pending")
    await killed()
    server = await Server.start(options)
    const remaining = (sql: SqlClient.SqlClient) =>
      sql<{ readonly count: number }>`SELECT count(*) AS count FROM workspaces WHERE template_id = ${template.id} AND NOT deleted`
    await expect.poll(() => count(remaining)).toBeLessThan(names.length)
    await killed()
    server = await Server.start(options)
    await expect.poll(() => count(remaining), { timeout: 120_000 }).toBe(0)
    const directories = await readdir(join(directory, "workspaces"), { recursive: true })
    for (const { id } of made) expect(directories.filter((path) => path.includes(id))).toStrictEqual([])
  })
})
