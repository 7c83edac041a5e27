/** The npm scripts install what is not installed yet, and nothing else. */
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { cp, mkdir, mkdtemp, readFile, rename, rm, utimes, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, it } from "vitest"

const run = promisify(execFile)
const shell = process.platform === "win32"

let folder: string

const npm = (...words: ReadonlyArray<string>) => run("npm", [...words, "--offline", "--no-audit", "--no-fund"], { cwd: folder, shell })

/** Whether the script had something to install. */
const installs = async (): Promise<boolean> => {
  const env = { ...process.env, npm_config_offline: "true" }
  const { stderr } = await run(process.execPath, [join(folder, "scripts/install.mjs")], { env })
  return stderr.includes("Installing dependencies")
}

const write = (path: string, value: unknown) => writeFile(join(folder, path), JSON.stringify(value))

const addPackage = async (name: string, more: Readonly<Record<string, unknown>> = {}) => {
  await mkdir(join(folder, "packages", name), { recursive: true })
  await write(`packages/${name}/package.json`, { name, version: "1.0.0", ...more })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "atelier-install-"))
  await cp(fileURLToPath(new URL("../scripts/install.mjs", import.meta.url)), join(folder, "scripts/install.mjs"))
  await write("package.json", { name: "root", private: true, workspaces: ["packages/*"], engines: { node: ">=20.19" } })
  await addPackage("one")
  await npm("install", "--package-lock-only")
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it("a clean clone is installed once", async () => {
  expect(await installs()).toBe(true)
  expect(await installs()).toBe(false)
})

it.each(["install", "ci"])("what `npm %s` has installed is not installed again", async (command) => {
  await rm(join(folder, "node_modules"), { recursive: true, force: true })
  await npm(command)
  expect(await installs()).toBe(false)
})

it("scripts that start at the same time install once, also after one that was killed", async () => {
  await rm(join(folder, "node_modules"), { recursive: true, force: true })
  // No process has this id
  await writeFile(join(folder, ".installing"), `${2 ** 22 + 1}`)
  const installed = await Promise.all([installs(), installs(), installs()])
  expect(installed.filter(Boolean)).toStrictEqual([true])
  expect(existsSync(join(folder, ".installing"))).toBe(false)
})

it("a script that was killed before it wrote its number holds up no other, and one that does not end is told", async () => {
  await rm(join(folder, "node_modules"), { recursive: true, force: true })
  const claim = join(folder, ".installing")
  const hoursAgo = Date.now() / 1000 - 7200
  await writeFile(claim, `${process.pid}`)
  await utimes(claim, hoursAgo, hoursAgo)
  await expect(installs()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(`remove ${claim}`) })
  await writeFile(claim, "")
  await utimes(claim, hoursAgo, hoursAgo)
  expect(await installs()).toBe(true)
  expect(existsSync(claim)).toBe(false)
})

it("a changed lock file is installed", async () => {
  await addPackage("two")
  await rename(join(folder, "node_modules"), join(folder, "aside"))
  await npm("install", "--package-lock-only")
  await rename(join(folder, "aside"), join(folder, "node_modules"))
  expect(await installs()).toBe(true)
  expect(await installs()).toBe(false)
})

it("what npm has noted without installing it is installed", async () => {
  await addPackage("three")
  await npm("install", "--package-lock-only")
  expect(await installs()).toBe(true)
  expect(await installs()).toBe(false)
})

it("what a machine of another kind has installed is installed anew", async () => {
  const path = join(folder, "node_modules/.package-lock.json")
  const { packages, ...lock } = JSON.parse(await readFile(path, "utf8")) as { readonly packages: Readonly<Record<string, object>> }
  const foreign = Object.fromEntries(Object.entries(packages).map(([name, entry]) => [name, { ...entry, os: ["plan9"] }]))
  await writeFile(path, JSON.stringify({ ...lock, packages: foreign }))
  expect(await installs()).toBe(true)
  expect(await installs()).toBe(false)
})

it("a dependency that is not compiled for this version of Node is compiled", async () => {
  const compiled = join(dirname(createRequire(import.meta.url).resolve("better-sqlite3/package.json")), "build/Release")
  const copy = `require("node:fs").cpSync(${JSON.stringify(compiled)}, "build/Release", { recursive: true })`
  await addPackage("better-sqlite3", { scripts: { install: "node install.cjs" } })
  await writeFile(join(folder, "packages/better-sqlite3/install.cjs"), copy)
  await npm("install", "--ignore-scripts")
  expect(await installs()).toBe(true)
  expect(await installs()).toBe(false)
})

it("what would be compiled with headers of Node 24 that end the process is compiled with older ones", async () => {
  const binary = join(folder, "packages/better-sqlite3/build/Release/better_sqlite3.node")
  const install = `const { appendFileSync } = require("node:fs")
if (process.env.npm_config_target === undefined) appendFileSync(${JSON.stringify(binary)}, "RemoveEnvironmentCleanupHook")`
  await writeFile(
    join(folder, "packages/better-sqlite3/install.cjs"),
    `${await readFile(join(folder, "packages/better-sqlite3/install.cjs"), "utf8")}\n${install}`
  )
  await npm("rebuild")
  expect(await installs()).toBe(false)
  const ofNode24 = (await readFile(join(folder, "scripts/install.mjs"), "utf8")).replace("process.versions.node.split", '"24.21.0".split')
  await writeFile(join(folder, "scripts/install.mjs"), ofNode24)
  expect(await installs()).toBe(true)
  expect(await installs()).toBe(false)
})
