/** The packages as strangers get them: packed, installed into an empty folder, used by ten lines. */
import { execFile } from "node:child_process"
import { cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, it } from "vitest"

const root = fileURLToPath(new URL("..", import.meta.url))
const run = promisify(execFile)

const program = `
import { createServer } from "node:http"
import { Atelier } from "@atelier/http"
import { Sqlite } from "@atelier/storage-sqlite"
import { LocalProvisioner } from "@atelier/provisioner"

const atelier = await Atelier.make({
  accessUrl: "http://127.0.0.1:3000",
  storage: Sqlite.layer({ filename: ":memory:" }),
  provisioner: LocalProvisioner.layer({ directory: "./workspaces", agent: { command: ["node", "agent.js"] } }),
  logLevel: "warning"
})
const server = createServer(atelier.handler).on("upgrade", atelier.upgrade).listen(0, "127.0.0.1", async () => {
  const response = await fetch(\`http://127.0.0.1:\${server.address().port}/api/v2/users/first\`)
  console.log(response.status, (await import("@atelier/http/client")).makeFetch === undefined)
  server.close()
  await atelier.dispose()
})
`

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "atelier-foreign-"))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

it("embeds the installed packages in a foreign project", async () => {
  const packages = (await readdir(join(root, "packages"))).map((name) => join(root, "packages", name))
  await run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder, ...packages], { cwd: root })
  const tarballs = (await readdir(folder)).filter((name) => name.endsWith(".tgz"))
  expect(tarballs).toHaveLength(packages.length)

  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
  const install = ["install", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
  await run("npm", [...install, ...tarballs.map((name) => `./${name}`)], { cwd: folder })
  // What its install script compiles takes a minute and is the same here
  await cp(join(root, "node_modules/better-sqlite3/build"), join(folder, "node_modules/better-sqlite3/build"), { recursive: true })

  await writeFile(join(folder, "main.js"), program)
  const { stdout } = await run(process.execPath, ["main.js"], { cwd: folder })
  expect(stdout.trim().split("\n").at(-1)).toBe("404 false")
})
