// Installs the dependencies when they are not what the lock file says, so that every npm script works right after a clone.
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { createHash } from "node:crypto"
import { fileURLToPath } from "node:url"
import { join } from "node:path"

const root = fileURLToPath(new URL("..", import.meta.url))
const stamp = join(root, "node_modules", ".atelier-installed")
const wanted = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .update(process.version)
  .digest("hex")

if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
  process.stderr.write("Installing dependencies; one of them is compiled, which takes about a minute…\n")
  // Not `ci`, which refuses a lock file that leaves out optional packages of other platforms
  const { status } = spawnSync("npm", ["install", "--no-save", "--no-audit", "--no-fund"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32"
  })
  if (status !== 0) process.exit(status ?? 1)
  writeFileSync(stamp, wanted)
}
