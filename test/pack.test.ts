/** The packages as strangers get them: packed, and installed into an empty folder. There they are used by ten lines, and the server runs. */
import { Schema } from "effect"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { afterAll, beforeAll, describe, expect, it, type TestContext, vi } from "vitest"
import { Server } from "../packages/atelier/test/Server.js"
import {
  agentOf,
  agentsOf,
  build,
  firstClient,
  isRunning,
  outputOf,
  templateFrom,
  untilWorkspace,
  workspaceFrom
} from "../packages/atelier/test/Steps.js"
import { startAgentServer } from "../packages/http/test/agents/AgentServer.js"
import { aKey } from "../packages/http/test/provisioning/daemons/aDaemon.js"
import { aTar } from "./records/archives.js"
import { lastingEmptyDatabaseUrl, sqlite } from "./store/databases.js"
import { installPacked, manifestOf, root, tarballOf } from "./foreignProject.js"
import { fileIdOf, getVersion, upload } from "./http/templates.js"

const run = promisify(execFile)
/** All but those that are for this repository alone. */
const folders = (await readdir(join(root, "packages"))).filter((name) => name !== "simulation").toSorted()

/** Those that are imported: `atelier` is a program. */
const libraries = folders.filter((name) => name !== "atelier")

const template = [
  "agents:",
  "  - name: main",
  "    startup_script_behavior: blocking",
  // The script's parent is the agent
  '    startup_script: echo "agent on $(/proc/$PPID/exe --version)"'
].join("\n")

const program = `
import { createServer } from "node:http"
import { Atelier } from "@atelier/http"
import { AtelierError, createClient } from "@atelier/client"
import * as users from "@atelier/client/users"
import { Sqlite } from "@atelier/storage-sqlite"
import { LocalProvisioner } from "@atelier/provisioner"

const atelier = await Atelier.make({
  accessUrl: "http://127.0.0.1:3000",
  storage: Sqlite.layer({ filename: ":memory:" }),
  provisioner: LocalProvisioner.layer({ directory: "./workspaces", agent: { command: ["node", "agent.js"] } }),
  logLevel: "warning"
})
const server = createServer(atelier.handler).on("upgrade", atelier.upgrade).listen(0, "127.0.0.1", async () => {
  const client = createClient({ baseUrl: \`http://127.0.0.1:\${server.address().port}\` })
  const error = await users.hasFirstUser(client).catch((error) => error)
  console.log(error instanceof AtelierError, error.status, (await import("@atelier/http/client")).makeFetch === undefined)
  server.close()
  await atelier.dispose()
})
`

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "atelier-foreign-"))
  await installPacked(
    folder,
    folders.map((name) => join(root, "packages", name))
  )
})

afterAll(() => rm(folder, { recursive: true, force: true }))

/** Where the tests' versions of Node are, by version, the least first. `scripts/install.mjs --nodes` installs them. */
const nodes = new Map(
  Object.entries(JSON.parse(await readFile(join(root, "test/nodes/package.json"), "utf8")).dependencies).map(([name, source]) => [
    String(source).replace(/^.*@/, ""),
    join(root, "test/nodes/node_modules", name, "bin/node")
  ])
)

/** Returns a version's binary, or skips the test. */
const nodeOf = async (version: string, test: TestContext): Promise<string> => {
  const node = nodes.get(version) ?? ""
  const { stdout } = await run(node, ["--version"]).catch(() => ({ stdout: "" }))
  test.skip(stdout !== `v${version}\n`, `Node.js ${version} is not installed: npm test installs it on Linux with glibc on x64`)
  return node
}

const [tooOld = "", ...supported] = nodes.keys()

// They run before SQLite's driver has its compiled part: a server on PostgreSQL does without
describe.concurrent("the packed standalone server on PostgreSQL", () => {
  it.for(supported)("takes a workspace from its template to its end on Node.js %s", async (version, test) => {
    const node = await nodeOf(version, test)
    const directory = await mkdtemp(join(tmpdir(), "atelier-node-"))
    test.onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const server = await Server.start({
      node,
      program: join(folder, "node_modules/.bin/atelier"),
      port: 0,
      database: await lastingEmptyDatabaseUrl(),
      workspacesDirectory: join(directory, "workspaces")
    })
    test.onTestFinished(() => server.kill())
    test.onTestFailed(() => void process.stderr.write(server.log))

    const client = await firstClient(server.url)
    const shell = await templateFrom(client, "shell", { files: { "template.yaml": template } })
    const { id } = await workspaceFrom(client, shell, "first")
    const running = await untilWorkspace(client, id, isRunning)
    test.expect(await outputOf(client, agentOf(running), 1)).toStrictEqual([`agent on v${version}`])

    await build(client, running, "stop")
    const stopped = await untilWorkspace(client, id, ({ latest_build }) => latest_build.status === "stopped")
    test.expect(agentsOf(stopped)).toStrictEqual([])
    await build(client, running, "delete")
    await untilWorkspace(client, id, ({ latest_build }) => latest_build.status === "deleted")
    test.expect(await server.stop()).toBe(0)
  })
})

it(`names Node.js ${tooOld} as too old before anything else`, async (test) => {
  const node = await nodeOf(tooOld, test)
  // In a copy, as it would replace what this repository has installed if it went on
  const copy = join(folder, "copy")
  await cp(join(root, "scripts/install.mjs"), join(copy, "scripts/install.mjs"))
  await cp(join(root, "package.json"), join(copy, "package.json"))
  const programs = [join(folder, "node_modules/.bin/atelier"), join(copy, "scripts/install.mjs")]
  const refusals = await Promise.allSettled(programs.map((path) => run(node, [path, "--port", "3000"])))
  const refusal = { code: 1, stdout: "", stderr: `Node.js ${tooOld} is too old: Atelier needs >=20.19\n` }
  expect(refusals).toMatchObject(programs.map(() => ({ status: "rejected", reason: refusal })))
})

it("says what to install for SQLite without its compiled driver", async () => {
  const words = ["--http-address", "127.0.0.1:0", "--data-directory", join(folder, "data")]
  await expect(run(join(folder, "node_modules/.bin/atelier"), words)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^The server could not start: --database: SQLite needs the package better-sqlite3, .*"npm install better-sqlite3@12" .* or name a PostgreSQL\. .*\n$/
    )
  })
})

/** The resolutions of programs that cannot import an ECMAScript module. */
const elsewhere: ReadonlyArray<string> = ["node10", "node16-cjs"]

describe.concurrent.each(folders)("the packed package of %s", (name) => {
  const tarball = async () => readFile(join(folder, tarballOf(await manifestOf(join(root, "packages", name)))))

  it("is as registries and bundlers expect it", async () => {
    const { messages, pkg } = await publint({ pack: { tarball: new Uint8Array(await tarball()).buffer }, strict: true })
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toStrictEqual([])
  })

  it("has types that agree with its modules", async () => {
    // All areas of core take ten seconds, and a strict project checks them below
    const options = name === "core" ? { entrypoints: ["./platform"] } : {}
    const result = await checkPackage(createPackageFromTarballData(new Uint8Array(await tarball())), options)
    // A program exports nothing
    const problems = libraries.includes(name) ? (result.types === false ? undefined : result.problems) : []
    expect(problems?.filter((each) => !("resolutionKind" in each && elsewhere.includes(each.resolutionKind)))).toStrictEqual([])
  })

  it("says what it is and under which terms it is used", async () => {
    const { name: published } = await manifestOf(join(root, "packages", name))
    const installed = join(folder, "node_modules", published)
    expect(await readFile(join(installed, "README.md"), "utf8")).toContain(`# ${published}\n`)
    expect(await readFile(join(installed, "LICENSE"), "utf8")).toContain("Apache License")
    const manifest = JSON.parse(await readFile(join(installed, "package.json"), "utf8"))
    const repository = { type: "git", url: "git+https://github.com/atelier/atelier.git", directory: `packages/${name}` }
    const terms = { license: "Apache-2.0", repository, publishConfig: { access: "public", provenance: true } }
    expect(manifest).toMatchObject(terms)
    // Compiled code is for one version of Node, and what a compiler keeps for its next run is for one machine
    expect((await readdir(installed, { recursive: true })).filter((path) => /\.(?:cache|tsbuildinfo)$/.test(path))).toStrictEqual([])
  })
})

/** In place of Terraform: plans nothing, once the file `go` is there. It gets no variable of the daemon's environment. */
const terraform = (directory: string, started: string, go: string) => `#!/bin/sh
touch "${started}"
case $1 in
plan) while [ -d "${directory}" ] && [ ! -e "${go}" ]; do sleep 0.02; done;;
show) echo '{"format_version":"1.2","terraform_version":"1.11.4","planned_values":{"root_module":{}},"configuration":{"root_module":{}}}';;
graph) echo 'digraph {}';;
esac
`

it("runs jobs of a server with the packed daemon, which loses none when it is killed", async (test) => {
  const server = await startAgentServer(sqlite, { entitlements: { has: (feature) => feature === "external_provisioner_daemons" } })
  test.onTestFinished(() => server.close())
  const key = await aKey(server, "packed", { site: "packed" })
  const directory = await mkdtemp(join(tmpdir(), "atelier-daemon-"))
  test.onTestFinished(() => rm(directory, { recursive: true, force: true }))

  const launch = async (name: string, go: string) => {
    const started = join(directory, `${name}.started`)
    const binary = join(directory, `${name}.terraform`)
    await writeFile(binary, terraform(directory, started, join(directory, go)), { mode: 0o755 })
    const options = ["--url", server.url, "--name", name, "--directory", join(directory, name), "--terraform-binary", binary]
    const child = spawn(join(folder, "node_modules/.bin/atelier-provisioner"), [...options, "--engine", "terraform", "--engine", "local"], {
      stdio: "inherit",
      env: { PATH: process.env["PATH"], ATELIER_PROVISIONER_KEY: key }
    })
    test.onTestFinished(() => void child.kill("SIGKILL"))
    const exit = once(child, "exit").then(([code, signal]: ReadonlyArray<unknown>) => code ?? signal)
    const works = () => vi.waitFor(() => expect(existsSync(started)).toBe(true), { timeout: 60_000, interval: 50 })
    return { child, exit, works }
  }
  const anImport = async (files: Readonly<Record<string, string>>) => {
    const file_id = fileIdOf(await upload(server, await aTar(files)))
    const body = { storage_method: "file", provisioner: "terraform", file_id, tags: { site: "packed" } }
    const answer = await server.call("POST", "/organizations/default/templateversions", { token: server.owner().token, body })
    return answer.as(Schema.Struct({ id: Schema.String, job: Schema.Struct({ id: Schema.String }) }))
  }
  const succeeds = ({ id }: { readonly id: string }) =>
    vi.waitFor(async () => expect((await getVersion(server, id)).job.status).toBe("succeeded"), { timeout: 60_000, interval: 50 })

  const killed = await launch("killed", "never")
  await succeeds(await anImport({ "template.yaml": template }))
  const version = await anImport({ "main.tf": "" })
  await killed.works()
  killed.child.kill("SIGKILL")
  expect(await killed.exit).toBe("SIGKILL")

  const next = await launch("next", "go")
  await next.works()
  next.child.kill("SIGTERM")
  await writeFile(join(directory, "go"), "")
  expect(await next.exit).toBe(0)
  await succeeds(version)
})

it("has types that a strict project checks whole with the resolution node16", async () => {
  const areas = (await readdir(join(root, "packages/core/src"), { withFileTypes: true })).filter((entry) => entry.isDirectory())
  const imports = [...libraries, ...areas.map(({ name }) => `core/${name}`), "client/users"].map(
    (name, index) => `export * as n${index} from "@atelier/${name}"`
  )
  await writeFile(join(folder, "types.ts"), imports.join("\n"))
  const options = ["--module", "node16", "--target", "es2023", "--strict", "--exactOptionalPropertyTypes", "--noEmit"]
  const types = ["--skipLibCheck", "false", "--checkers", "1", "--types", "node", "--typeRoots", join(root, "node_modules/@types")]
  const tsc = run(join(root, "node_modules/.bin/tsc"), [...options, ...types, "--ignoreConfig", "types.ts"], { cwd: folder })
  expect((await tsc.catch(({ stdout }: { readonly stdout: string }) => ({ stdout }))).stdout).toBe("")
})

it("embeds the installed packages in a foreign project", async () => {
  // What its install script compiles takes a minute and is the same here
  await cp(join(root, "node_modules/better-sqlite3/build"), join(folder, "node_modules/better-sqlite3/build"), { recursive: true })

  await writeFile(join(folder, "main.js"), program)
  const { stdout } = await run(process.execPath, ["main.js"], { cwd: folder })
  expect(stdout.trim().split("\n").at(-1)).toBe("true 404 false")
})
