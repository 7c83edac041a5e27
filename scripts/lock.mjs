// Completes the lock file. npm leaves out an optional package that it could not fetch once, and never adds it again;
// `npm ci` then refuses the lock file, or leaves another platform without its binaries.
import { execFile, spawnSync } from "node:child_process"
import { readFile, writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { join } from "node:path"
import { promisify } from "node:util"
import { missingPackages } from "./lockFile.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const path = join(root, "package-lock.json")
const run = promisify(execFile)
const shell = process.platform === "win32"

const { overrides = {} } = JSON.parse(await readFile(join(root, "package.json"), "utf8"))

const manifestOf = async ({ from, name, range }) => {
  const wanted = `${name}@${overrides[name] ?? range}`
  const { stdout } = await run("npm", ["view", wanted, "--json"], { cwd: root, shell }).catch(() => ({ stdout: "" }))
  // A range answers every version that fits, the newest last
  const manifest = stdout.trim() === "" ? undefined : [JSON.parse(stdout)].flat().at(-1)
  if (manifest?.dist !== undefined) return manifest
  throw new Error(`${from} asks for ${wanted}, which the registry does not have. Pin a version of ${from} whose packages it has.`)
}

/** The manifest's part that a lock file repeats. */
const entryOf = ({ bin, cpu, dependencies, dist, engines, libc, license, optionalDependencies, os, scripts = {}, version }) => ({
  version,
  integrity: dist.integrity,
  cpu,
  hasInstallScript: ["preinstall", "install", "postinstall"].some((script) => script in scripts) || undefined,
  libc,
  license,
  optional: true,
  os,
  dependencies,
  bin,
  engines,
  optionalDependencies
})

const complete = async (lock, added = 0) => {
  const missing = missingPackages(lock)
  if (missing.length === 0) return added
  for (const package_ of missing) lock.packages[`node_modules/${package_.name}`] ??= entryOf(await manifestOf(package_))
  return await complete(lock, added + missing.length)
}

try {
  const lock = JSON.parse(await readFile(path, "utf8"))
  const added = await complete(lock)
  if (added > 0) {
    await writeFile(path, `${JSON.stringify(lock, null, 2)}\n`)
    // Sorts the entries, and tells which of them are for development alone
    const { status } = spawnSync("npm", ["install", "--package-lock-only", "--ignore-scripts"], { cwd: root, shell, stdio: "inherit" })
    if (status !== 0) process.exit(status ?? 1)
  }
  console.log(added === 0 ? "The lock file is complete." : `Added ${added} packages to the lock file.`)
} catch (error) {
  console.error(error.message)
  process.exit(1)
}
