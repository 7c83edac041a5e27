/**
 * Builds the peer of the private network that tests speak to, which is written in Go, into `node_modules/.cache/network-peer`. Does nothing without
 * Go: the tests that need it are skipped then.
 */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** Milliseconds; a slow build is given up, and a download from a proxy that does not answer sooner. */
const timeout = 300_000
const downloadTimeout = 60_000

const sources = fileURLToPath(new URL("../packages/http/test/privateNetwork/goPeer", import.meta.url))
const cache = fileURLToPath(new URL("../node_modules/.cache/network-peer", import.meta.url))

const hash = createHash("sha256")
for (const file of readdirSync(sources).toSorted()) hash.update(readFileSync(join(sources, file)))
const program = join(cache, hash.digest("hex").slice(0, 16))

if (!existsSync(program)) {
  rmSync(cache, { recursive: true, force: true })
  mkdirSync(cache, { recursive: true })
  const built = `${program}.${process.pid}`
  try {
    // An older Go is not to download a newer one
    const env = { ...process.env, GOTOOLCHAIN: "local", CGO_ENABLED: "0" }
    const options = { cwd: sources, env, stdio: ["ignore", "ignore", "pipe"] }
    execFileSync("go", ["mod", "download"], { ...options, timeout: downloadTimeout })
    execFileSync("go", ["build", "-trimpath", "-o", built, "."], { ...options, timeout })
    renameSync(built, program)
  } catch (error) {
    console.error(`The peer of the private network is not built, and its tests are skipped: ${error.message.split("\n")[0]}`)
  }
}
