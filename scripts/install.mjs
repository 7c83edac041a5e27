// Installs the dependencies as the lock file has them unless they are so already, so that every npm script works right after a clone.
// With `--nodes` it also installs the versions of Node that the tests run the standalone server on, and with `--docs` what builds the site of docs/.
// Scripts that run at the same time install one after the other.
import { spawnSync } from "node:child_process"
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { join } from "node:path"

const root = fileURLToPath(new URL("..", import.meta.url))

const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const [major, minor] = process.versions.node.split(".").map(Number)
const [leastMajor, leastMinor] = engines.node.match(/\d+/g).map(Number)
if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
  process.stderr.write(`Node.js ${process.versions.node} is too old: Atelier needs ${engines.node}\n`)
  process.exit(1)
}

const packagesOf = (lockFile) => JSON.parse(readFileSync(lockFile, "utf8")).packages

/** What npm says at the end of each installation that it has installed; undefined if none has ended. */
const installedIn = (folder) => {
  try {
    return packagesOf(join(folder, "node_modules", ".package-lock.json"))
  } catch {
    return undefined
  }
}

const isForThisMachine = ({ cpu = process.arch, os = process.platform }) =>
  [os].flat().includes(process.platform) && [cpu].flat().includes(process.arch)

/** An installation that ended early, or `npm install --package-lock-only`, leaves folders that differ from what npm says. */
const areFolders = (folder, installed) =>
  Object.entries(installed).every(([path, { version }]) => {
    try {
      const manifest = JSON.parse(readFileSync(join(folder, path, "package.json"), "utf8"))
      // Some packages write `v1.2.3`
      return version === undefined || manifest.version.replace(/^v/, "") === version
    } catch {
      return false
    }
  })

/** Packages of other platforms are optional, and npm installs none of them. */
const isAsLocked = (installed, locked) =>
  Object.keys(installed).every((path) => path in locked) &&
  Object.entries(locked).every(([path, { integrity, optional, version }]) => {
    if (path === "") return true
    const found = installed[path]
    return found === undefined ? optional === true : found.version === version && found.integrity === integrity
  })

/**
 * Since 24.19, the headers of Node 24 have what is compiled with them end the process at a garbage collection (nodejs/node#65446). This is the last version before
 * it; all of Node 24 take what is compiled for it.
 */
const target = major === 24 && minor >= 19 ? "24.18.1" : undefined

/** The one dependency that is compiled for a version of Node. It is missing after an installation without scripts. */
const isCompiled = (folder, installed) => {
  const path = "node_modules/better-sqlite3"
  if (installed === undefined || !(path in installed)) return true
  try {
    const binary = join(folder, path, "build/Release/better_sqlite3.node")
    process.dlopen({ exports: {} }, binary)
    // What the headers add is the only call of it
    return target === undefined || !readFileSync(binary).includes("RemoveEnvironmentCleanupHook")
  } catch {
    return false
  }
}

/** What npm has to be asked for; undefined if everything is there. */
const commandFor = (folder) => {
  const installed = installedIn(folder)
  // `ci` starts from nothing, also where the folder came from a machine of another kind
  if (installed === undefined || !Object.values(installed).every(isForThisMachine) || !areFolders(folder, installed)) return ["ci"]
  if (!isAsLocked(installed, packagesOf(join(folder, "package-lock.json")))) return ["install", "--no-save"]
  return isCompiled(folder, installed) ? undefined : ["rebuild"]
}

const npm = (folder, words) =>
  spawnSync("npm", [...words, "--no-audit", "--no-fund"], {
    cwd: folder,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
    // The scripts of packages read it: which headers are fetched, and which prebuilt binary
    env: target === undefined ? process.env : { ...process.env, npm_config_target: target }
  }).status ?? 1

const isRunning = (id) => {
  try {
    process.kill(id, 0)
    return true
  } catch ({ code }) {
    return code === "EPERM"
  }
}

/** Milliseconds after which a file without a process is left over, and after which an installation counts as stuck. */
const emptyFor = 10_000
const stuckAfter = 30 * 60_000

/** The process that installs, and for how long; undefined if it has just ended. */
const claimIn = (path) => {
  try {
    const holder = Number(readFileSync(path, "utf8")) || undefined
    return { holder, age: Date.now() - statSync(path).mtimeMs }
  } catch (error) {
    if (error.code !== "ENOENT") throw error
    return undefined
  }
}

/** Whether the script was killed, if need be before it wrote its number. */
const isLeft = ({ age, holder }) => (holder === undefined ? age > emptyFor : !isRunning(holder))

/**
 * Runs something while no other script installs into the folder. What a killed script has left holds up no other. Gives up on an installation that does
 * not end: its number may be that of another process by now.
 */
const alone = (folder, run) => {
  const path = join(folder, ".installing")
  for (let hasSaid = false; ;) {
    try {
      writeFileSync(path, `${process.pid}`, { flag: "wx" })
      break
    } catch (error) {
      if (error.code !== "EEXIST") throw error
    }
    const claim = claimIn(path)
    if (claim === undefined) continue
    if (isLeft(claim)) {
      // Of several scripts that find it, one moves it away. What another one has written meanwhile goes back
      const aside = `${path}-${process.pid}`
      try {
        renameSync(path, aside)
        if (isLeft(claimIn(aside))) rmSync(aside)
        else renameSync(aside, path)
      } catch {
        continue
      }
    } else {
      if (claim.age > stuckAfter) {
        process.stderr.write(`Process ${claim.holder} has installed dependencies here for half an hour. If it does not, remove ${path}.\n`)
        process.exit(1)
      }
      if (!hasSaid) process.stderr.write(`Process ${claim.holder ?? "?"} installs dependencies here: waiting for it…\n`)
      hasSaid = true
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
    }
  }
  try {
    return run()
  } finally {
    rmSync(path, { force: true })
  }
}

/** Installs what a folder's lock file says, and returns npm's exit code. */
const install = ({ flags, folder, message }) => {
  if (commandFor(folder) === undefined) return 0
  return alone(folder, () => {
    // Another script may have installed it meanwhile
    const command = commandFor(folder)
    if (command === undefined) return 0
    process.stderr.write(`${message}\n`)
    const status = npm(folder, [...command, ...flags])
    // Another version of Node may be the only reason left
    return status === 0 && command[0] === "install" && !isCompiled(folder, installedIn(folder)) ? npm(folder, ["rebuild"]) : status
  })
}

if (process.argv.includes("--docs"))
  process.exit(install({ folder: join(root, "scripts/docs"), flags: [], message: "Installing what builds the site: about 100 MB…" }))

const status = install({
  folder: root,
  flags: [],
  message: "Installing dependencies; one of them is compiled, which takes about a minute…"
})
if (status !== 0) process.exit(status)
if (target !== undefined && !isCompiled(root, installedIn(root))) {
  process.stderr.write(
    `better-sqlite3 has no binary that is safe in Node.js ${process.versions.node}: it needs the headers of ${target}, which npm's setting nodedir replaces. Unset it, or use Node.js 22.\n`
  )
  process.exit(1)
}

if (process.argv.includes("--nodes")) {
  const folder = join(root, "test/nodes")
  const { cpu, os } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  // The packages would all be linked under the name `node`
  const flags = ["--no-bin-links"]
  const message = "Installing the versions of Node that the standalone server is tested on: about 230 MB to download, 850 MB on disk…"
  // The other tests do not need them
  if (isForThisMachine({ cpu, os }) && install({ folder, flags, message }) !== 0)
    process.stderr.write("The versions of Node could not be installed: the tests on them are skipped.\n")
}
