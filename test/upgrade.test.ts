/** Servers on what an earlier version has stored. */
import { LocalProvisioner } from "@atelier/provisioner"
import { Postgres } from "@atelier/storage-postgres"
import { Sqlite } from "@atelier/storage-sqlite"
import { Schema } from "effect"
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { WorkspaceBuild } from "../packages/http/src/contract/workspaces/workspaces.js"
import { lastingEmptyDatabaseUrl } from "./store/databases.js"
import { startServer, type ServerOptions, type TestServer } from "./http/server.js"
import { buildEnded, getBuild, requestBuild } from "./http/workspaceCalls.js"

const stored = fileURLToPath(new URL("./upgrade/3aefe42", import.meta.url))
const unpacked = async (name: string): Promise<Buffer> => gunzipSync(await readFile(join(stored, name)))

/** A copy of the file, and of the engine's directory. */
const sqliteIn = async (folder: string) => {
  const filename = join(folder, "atelier.db")
  await writeFile(filename, await unpacked("sqlite.db.gz"))
  await cp(join(stored, "workspaces"), join(folder, "workspaces"), { recursive: true })
  return {
    storage: Sqlite.layer({ filename }),
    provisioner: LocalProvisioner.layer({ directory: join(folder, "workspaces"), agent: { command: ["true"] } })
  }
}

const postgres = async () => {
  const url = await lastingEmptyDatabaseUrl()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query((await unpacked("postgres.sql.gz")).toString())
  await client.end()
  return { storage: Postgres.layer({ url, maxConnections: 5 }) }
}

const Session = Schema.Struct({ session_token: Schema.String })
const Agent = Schema.Struct({ id: Schema.String })
const Build = Schema.Struct({
  id: Schema.String,
  status: Schema.String,
  resources: Schema.Array(Schema.Struct({ agents: Schema.optional(Schema.Array(Agent)) }))
})
const Workspaces = Schema.Struct({
  workspaces: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String, template_name: Schema.String, latest_build: Build }))
})
const Lines = Schema.Array(Schema.Struct({ output: Schema.String }))
const Users = Schema.Struct({ users: Schema.Array(Schema.Struct({ username: Schema.String })) })

describe.each([
  ["SQLite", sqliteIn],
  ["PostgreSQL", postgres]
] as const)("a server on a deployment of commit 3aefe42 on %s", (kind, prepare) => {
  let folder: string
  let server: TestServer
  let token: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "atelier-upgrade-"))
    const { storage, ...options }: Pick<ServerOptions, "provisioner"> & { storage: Parameters<typeof startServer>[0] } =
      await prepare(folder)
    server = await startServer(storage, { ...options, empty: true })
    const login = await server.call("POST", "/users/login", { body: { email: "ada@example.com", password: "correct horse battery" } })
    token = login.as(Session).session_token
  })
  afterAll(async () => {
    await server.close()
    await rm(folder, { recursive: true })
  })
  const workspaces = async () => (await server.call("GET", "/workspaces", { token })).as(Workspaces).workspaces

  it("has its users, its workspaces and their logs", async () => {
    const users = (await server.call("GET", "/users", { token })).as(Users).users
    expect(users.map(({ username }) => username)).toStrictEqual(["ada", "grace"])
    const found = (await workspaces()).toSorted((one, other) => (one.name < other.name ? -1 : 1))
    expect(found.map(({ latest_build, name, template_name }) => [name, template_name, latest_build.status])).toStrictEqual([
      ["running", "shell", "running"],
      ["stopped", "shell", "stopped"]
    ])
    const builds = found.map(({ latest_build }) => latest_build)
    for (const { id } of builds) {
      expect((await server.call("GET", `/workspacebuilds/${id}/logs`, { token })).as(Lines).length).toBeGreaterThan(0)
    }
    const agent = builds.flatMap(({ resources }) => resources.flatMap(({ agents = [] }) => agents))[0]
    const lines = (await server.call("GET", `/workspaceagents/${agent?.id}/logs`, { token })).as(Lines)
    expect(lines.map(({ output }) => output)).toStrictEqual(["line 1", "line 2", "line 3"])
  })

  it.runIf(kind === "SQLite")("stops a workspace that ran, and keeps its files", async () => {
    const running = (await workspaces()).find(({ name }) => name === "running")
    if (running === undefined) throw new Error("no workspace is running")
    const queued = (await requestBuild(server, running, { token }, { transition: "stop" })).as(WorkspaceBuild)
    await buildEnded(server, queued)
    expect(await getBuild(server, queued.id, { token })).toMatchObject({ job: { status: "succeeded" }, status: "stopped" })
    expect(await readFile(join(folder, "workspaces", running.id, "notes.txt"), "utf8")).toBe("made before the upgrade\n")
    expect(await readdir(join(folder, "workspaces", ".engine", "owner"))).toStrictEqual(["2"])
  })
})
