/** Copies of large files to the files of an agent. */
import { createClient, type Sandbox } from "@atelier/client"
import { mkdtemp, open, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { serving } from "../../agent/test/machine/files/serving.js"
import { filesOf } from "../../client/src/sandboxes/SandboxFiles.js"
import { uploadFile } from "../src/files/upload.js"
import type { Session } from "../src/Session.js"

const { address, at } = serving()

it("a read-only file with a long name is copied in pieces", async () => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-upload-"))
  const path = join(directory, "large")
  const size = 33 * 1024 * 1024
  const file = await open(path, "w", 0o444)
  await file.truncate(size)
  await file.close()
  const modes: Array<string | null> = []
  const client = createClient({
    baseUrl: "http://service",
    fetch: (url, init) => {
      const { pathname, search, searchParams } = new URL(url)
      if (init.method === "PUT") modes.push(searchParams.get("mode"))
      return fetch(address(pathname.replace("/api/v2/workspaceagents/agent", "") + search), init)
    }
  })
  const sandbox = { files: filesOf(client, "agent") } as unknown as Sandbox
  const session = { out: { say: () => {} }, signal: new AbortController().signal } as unknown as Session
  const name = "é".repeat(120)
  const watched: Array<() => number> = []
  const watch = (bytes: () => number) => void watched.push(bytes)
  expect(await uploadFile(sandbox, { path, found: await stat(path), place: at(name), watch }, session)).toBe(size)
  const counted = watched.map((bytes) => bytes())
  // Of the second piece: the bytes of the first one count too
  expect(counted.length).toBe(2)
  expect(counted[1]).toBeGreaterThanOrEqual(32 * 1024 * 1024)
  const copied = await stat(at(name))
  expect({ size: copied.size, mode: copied.mode & 0o777 }).toStrictEqual({ size, mode: 0o444 })
  // Only root can write to a part whose mode is already 0444
  expect(modes).toStrictEqual(["0600", "0444"])
  await rm(directory, { recursive: true })
})
