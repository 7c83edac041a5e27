/** The packages from a registry: published as their makers do, and installed, checked and run as their users do. */
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest"
import { root } from "./foreignProject.js"
import { lastingEmptyDatabaseUrl } from "./store/databases.js"
import { type Registry, startRegistry } from "./outside/registry.js"

const run = promisify(execFile)

/** The program of npm, which another Node than this one can run. */
const npmProgram = async (): Promise<string> => {
  const folders = (process.env["PATH"] ?? "").split(delimiter)
  for (const folder of folders) {
    const place = await realpath(join(folder, "npm")).catch(() => undefined)
    if (place !== undefined) return join(dirname(place), "npm-cli.js")
  }
  throw new Error("there is no npm")
}

const program = `
import { once } from "node:events"
import { createServer } from "node:http"
import { connect, createServer as createSocketServer } from "node:net"
import { Atelier } from "@atelier/http"
import { Sqlite } from "@atelier/storage-sqlite"

const atelier = await Atelier.make({
  accessUrl: "http://127.0.0.1:3000",
  storage: Sqlite.layer({ filename: "atelier.db" }),
  logLevel: "warning"
})
const server = createServer(atelier.handler).on("upgrade", atelier.upgrade)
server.listen(0, "127.0.0.1", async () => {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  console.log((await fetch(\`http://127.0.0.1:\${address.port}/healthz\`)).status)
  server.close()
  const ssh = createSocketServer(atelier.ssh).listen(0, "127.0.0.1")
  await once(ssh, "listening")
  const place = ssh.address()
  if (place === null || typeof place === "string") throw new Error("no port")
  await once(connect(place.port, "127.0.0.1").resume(), "close")
  ssh.close()
  await atelier.dispose()
})
`

let folder: string
let registry: Registry
let npm: string
let missing: string | undefined
/** What npm said when it published. */
let published: string

/** The environment of a user of the registry, with nothing cached. Scripts of packages would compile what is compiled here already. */
const environment = () => ({
  PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
  HOME: folder,
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => /^(?:npm_config_(?:cafile|proxy|https_proxy)|https?_proxy|no_proxy)$/i.test(name))
  ),
  npm_config_registry: registry.url,
  [`npm_config_//${new URL(registry.url).host}/:_authToken`]: "anything",
  npm_config_cache: join(folder, "cache"),
  npm_config_ignore_scripts: "true",
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_update_notifier: "false"
})

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "atelier-registry-"))
  npm = await npmProgram()
  const { stdout } = await run("npm", ["config", "get", "registry"], { cwd: root })
  const elsewhere = stdout.trim()
  registry = await startRegistry(elsewhere)
  const hasPackages = await fetch(new URL("effect", elsewhere), { method: "HEAD", signal: AbortSignal.timeout(5_000) }).then(
    ({ ok }) => ok,
    () => false
  )
  missing = hasPackages ? undefined : `${elsewhere} cannot be reached`
  if (missing !== undefined) return
  // A statement of provenance is made in the pipelines of some providers alone
  const words = ["publish", "--workspaces", "--provenance=false"]
  published = (await run(process.execPath, [npm, ...words], { cwd: root, env: environment() })).stderr
})

afterAll(async () => {
  registry.close()
  await rm(folder, { recursive: true, force: true })
})

const unlessMissing = (test: TestContext): void => test.skip(missing !== undefined, missing)

it("takes all packages, and none of the repository's own", async (test) => {
  unlessMissing(test)
  const folders = (await readdir(join(root, "packages"))).filter((name) => name !== "simulation")
  const names = await Promise.all(
    folders.map(async (name) => JSON.parse(await readFile(join(root, "packages", name, "package.json"), "utf8")).name)
  )
  expect(registry.names().toSorted()).toStrictEqual(names.toSorted())
  expect(published).not.toContain("auto-corrected")
})

/** Bytes of all files beneath a folder. */
const sizeOf = async (path: string): Promise<number> => {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const sizes = await Promise.all(
    entries.map(async (entry) => (entry.isFile() ? (await stat(join(entry.parentPath, entry.name))).size : 0))
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

describe("a project that installs the library", () => {
  let project: string

  it("gets few packages, and none that tells others of it", async (test) => {
    unlessMissing(test)
    project = join(folder, "project")
    await mkdir(project, { recursive: true })
    await writeFile(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }))
    await run(process.execPath, [npm, "install", "@atelier/http", "@atelier/storage-sqlite"], { cwd: project, env: environment() })
    const { packages } = JSON.parse(await readFile(join(project, "node_modules/.package-lock.json"), "utf8"))
    const names = Object.keys(packages)
    expect(names.filter((name) => name.includes("@scarf/"))).toStrictEqual([])
    expect(names.length).toBeLessThanOrEqual(108)
    // 55 MB of them are `effect` and `@effect/platform`
    expect((await sizeOf(join(project, "node_modules"))) / 1e6).toBeLessThanOrEqual(120)
  })

  // test/pack.test.ts has node16
  it("checks its types and ours with the resolution bundler", async (test) => {
    unlessMissing(test)
    await writeFile(join(project, "main.ts"), program)
    const options = ["--module", "esnext", "--moduleResolution", "bundler", "--target", "es2023", "--strict", "--noEmit"]
    const types = ["--skipLibCheck", "false", "--checkers", "1", "--types", "node", "--typeRoots", join(root, "node_modules/@types")]
    const tsc = run(join(root, "node_modules/.bin/tsc"), [...options, ...types, "--ignoreConfig", "main.ts"], { cwd: project })
    expect((await tsc.catch(({ stdout }: { readonly stdout: string }) => ({ stdout }))).stdout).toBe("")
  })

  it("serves from its folder", async (test) => {
    unlessMissing(test)
    // What its install script compiles takes a minute and is the same here
    await cp(join(root, "node_modules/better-sqlite3/build"), join(project, "node_modules/better-sqlite3/build"), { recursive: true })
    await writeFile(join(project, "main.js"), program)
    const { stdout } = await run(process.execPath, ["main.js"], { cwd: project })
    expect(stdout).toMatch(/^200\n/)
    // The gateway is not used by most
    expect(stdout).toContain("SSH for clients needs the package ssh2: npm install ssh2")
  })
})

it("`npx atelier` prints the link of the first user", async (test) => {
  unlessMissing(test)
  const words = [
    "--yes",
    "--",
    "atelier",
    "--http-address",
    "127.0.0.1:0",
    "--data-directory",
    join(folder, "data"),
    "--database",
    await lastingEmptyDatabaseUrl()
  ]
  const child = spawn(process.execPath, [npm, "exec", ...words], {
    cwd: folder,
    env: environment(),
    detached: true,
    stdio: ["ignore", "pipe", "inherit"]
  })
  const ended = once(child, "exit")
  test.onTestFinished(async () => {
    // npm, its shell and the server are a group
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL")
    await ended
  })
  const link = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      const found = /^ +(http:\S+\/setup\?token=\w+)$/.exec(line)?.[1]
      if (found !== undefined) resolve(found)
    })
    void ended.then(([code]: ReadonlyArray<unknown>) => reject(new Error(`npx ended with ${String(code)}`)))
  })
  expect((await fetch(link)).status).toBe(200)
})
