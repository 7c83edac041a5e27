// Installs the dependencies as the lock file has them unless they are so already, so that every npm script works right after a clone.
// With `--nodes` it also installs the versions of Node that the tests run the standalone server on.
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createHash } from "node:crypto"
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

/** Installs what a folder's lock file says, and returns npm's exit code. */
const install = ({ folder, flags, message }) => {
  const stamp = join(folder, "node_modules", ".atelier-installed")
  const lock = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex")
  const wanted = `${process.version} ${lock}`
  const installed = existsSync(stamp) ? readFileSync(stamp, "utf8") : ""
  if (installed === wanted) return 0

  process.stderr.write(`${message}\n`)
  // `ci` starts from nothing, so it compiles again, which another version of Node needs; a change of the lock file does not
  const command = installed.startsWith(`${process.version} `) ? ["install", "--no-save"] : ["ci"]
  // An install that is interrupted is not taken for a complete one
  rmSync(stamp, { force: true })
  const { status } = spawnSync("npm", [...command, ...flags, "--no-audit", "--no-fund"], {
    cwd: folder,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32"
  })
  if (status === 0) writeFileSync(stamp, wanted)
  return status ?? 1
}

const status = install({
  folder: root,
  flags: [],
  message: "Installing dependencies; one of them is compiled, which takes about a minute…"
})
if (status !== 0) process.exit(status)

if (process.argv.includes("--nodes")) {
  const folder = join(root, "test/nodes")
  const { cpu, os } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const hasBinaries = os.includes(process.platform) && cpu.includes(process.arch)
  // The packages would all be linked under the name `node`
  const flags = ["--no-bin-links"]
  const message = "Installing the versions of Node that the standalone server is tested on: about 230 MB to download, 850 MB on disk…"
  // The other tests do not need them
  if (hasBinaries && install({ folder, flags, message }) !== 0)
    process.stderr.write("The versions of Node could not be installed: the tests on them are skipped.\n")
}
