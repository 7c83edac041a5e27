/** Copies out of a workspace whose agent lies. */
import { createClient, type Sandbox } from "@atelier/client"
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { serving } from "../../agent/test/machine/files/serving.js"
import { filesOf } from "../../client/src/sandboxes/SandboxFiles.js"
import { download } from "../src/files/download.js"
import { partName } from "../src/files/partName.js"
import type { Session } from "../src/Session.js"

const { address, at } = serving()

/** What the agent answers in place of the truth, by fields of the entry. */
let lies: Record<string, unknown> = {}

const client = createClient({
  baseUrl: "http://service",
  fetch: async (url, init) => {
    const { pathname, search } = new URL(url)
    const response = await fetch(address(pathname.replace("/api/v2/workspaceagents/agent", "") + search), init)
    if (!pathname.endsWith("/stat") || !response.ok) return response
    return Response.json({ ...(await response.json()), ...lies })
  }
})
const sandbox = { files: filesOf(client, "agent") } as unknown as Sandbox
const session = { out: { say: () => {} }, signal: new AbortController().signal } as unknown as Session

let home = ""
beforeEach(async () => {
  lies = {}
  home = await mkdtemp(join(tmpdir(), "atelier-download-"))
})
afterEach(() => rm(home, { recursive: true }))

const copy = (from: string, to: string) => download(sandbox, at(from), { kind: "local", path: to }, session, () => {})

it("a file has the name that the user has written, whatever the agent answers", async () => {
  await writeFile(at("report.txt"), "report")
  lies = { path: "/home/.profile" }
  await copy("report.txt", home)
  expect(await readdir(home)).toStrictEqual(["report.txt"])
})

it("a directory stays in the target, and one without a name of its own brings its files there", async () => {
  await mkdir(at("tree"))
  await writeFile(at("tree/file"), "file")
  await mkdir(join(home, "out"))
  for (const path of ["/tree/..", "/home/.ssh", "/"]) {
    lies = { path }
    await copy("tree", join(home, "out"))
    await download(sandbox, `${at("tree")}/.`, { kind: "local", path: join(home, "out") }, session, () => {})
  }
  expect([await readdir(home), (await readdir(join(home, "out"))).toSorted()]).toStrictEqual([["out"], ["file", "tree"]])
})

it("a link of an earlier copy leads no later one out of the target", async () => {
  const secret = join(home, "secret")
  await mkdir(secret)
  await writeFile(join(secret, "file"), "mine")
  const out = join(home, "out")
  await mkdir(out)
  await mkdir(at("inner"))
  await writeFile(at("inner/file"), "forged")
  await symlink(secret, join(out, "inner"))
  await expect(copy("inner", out)).rejects.toThrow("is a link")

  await writeFile(at("data"), "forged")
  lies = { etag: '"known"' }
  const part = partName("data", Buffer.from('"known"').toString("base64url").slice(0, 24))
  await symlink(join(secret, "file"), join(out, part))
  await copy("data", out)
  expect([await readFile(join(secret, "file"), "utf8"), await readFile(join(out, "data"), "utf8")]).toStrictEqual(["mine", "forged"])
  expect((await lstat(join(out, "data"))).isFile()).toBe(true)
})
