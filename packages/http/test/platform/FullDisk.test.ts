import { Sqlite } from "@atelier/storage-sqlite"
import { execFileSync } from "node:child_process"
import { mkdtempSync } from "node:fs"
import { open, rm, type FileHandle } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"
import { ownerPassword, startServer } from "../../../../test/http/server.js"

/** A file system of 6 MB, which only the superuser may mount. */
const mounted = (() => {
  const folder = mkdtempSync(join(tmpdir(), "atelier-disk-"))
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=6m", "tmpfs", folder], { stdio: "ignore" })
    return { folder, isSmall: true }
  } catch {
    return { folder, isSmall: false }
  }
})()

afterAll(async () => {
  if (mounted.isSmall) execFileSync("umount", [mounted.folder])
  await rm(mounted.folder, { recursive: true })
})

const fill = async (file: FileHandle, block: Uint8Array): Promise<void> => {
  const written = await file.write(block).catch(() => undefined)
  if (written !== undefined) return fill(file, block)
  if (block.length > 1) return fill(file, block.subarray(0, block.length / 2))
}

it.runIf(mounted.isSmall)("a server starts on a full disk, answers reads, and refuses writes with 507", async () => {
  const storage = Sqlite.layer({ filename: join(mounted.folder, "a.db") })
  await (await startServer(storage)).close()
  const file = await open(join(mounted.folder, "fill"), "a")
  await fill(file, new Uint8Array(64 * 1024))
  const server = await startServer(storage, { empty: true, logLevel: "none" })
  const login = { email: "owner@example.com", password: ownerPassword }
  expect((await server.call("GET", "/users/first")).status).toBe(200)
  expect((await server.call("POST", "/users/login", { body: login })).status).toBe(507)
  await file.truncate(0)
  await file.close()
  expect((await server.call("POST", "/users/login", { body: login })).status).toBe(201)
  await server.close()
})
