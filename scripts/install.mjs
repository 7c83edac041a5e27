// Installs the dependencies as the lock file has them unless they are so already, so that every npm script works right after a clone.
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createHash } from "node:crypto"
import { fileURLToPath } from "node:url"
import { join } from "node:path"

const root = fileURLToPath(new URL("..", import.meta.url))
const stamp = join(root, "node_modules", ".atelier-installed")
const lock = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .digest("hex")
const wanted = `${process.version} ${lock}`
const installed = existsSync(stamp) ? readFileSync(stamp, "utf8") : ""

if (installed !== wanted) {
  process.stderr.write("Installing dependencies; one of them is compiled, which takes about a minute…\n")
  // `ci` starts from nothing, so it compiles again, which another version of Node needs; a change of the lock file does not
  const command = installed.startsWith(`${process.version} `) ? ["install", "--no-save"] : ["ci"]
  // An install that is interrupted is not taken for a complete one
  rmSync(stamp, { force: true })
  const { status } = spawnSync("npm", [...command, "--no-audit", "--no-fund"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32"
  })
  if (status !== 0) process.exit(status ?? 1)
  writeFileSync(stamp, wanted)
}
