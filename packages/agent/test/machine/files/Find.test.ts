import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises"
import { beforeAll, describe, expect, it } from "vitest"
import type { WebSocket } from "ws"
import { watch } from "../../../src/machine/files/Watch.js"
import { glob } from "../../../src/machine/files/Glob.js"
import { serving } from "./serving.js"
import { longestTurn, maximumTurn } from "../../../../core/test/platform/longestTurn.js"

const { at, call, open } = serving()

describe("a pattern", () => {
  it.each([
    ["*.ts", ["a.ts", "b/c.ts"], ["a.tsx"]],
    ["a?c", ["abc", "x/aéc"], ["ac", "abbc"]],
    ["[a-c]x", ["ax", "cx"], ["dx"]],
    ["[!a-c]x", ["dx"], ["ax"]],
    ["[]x]", ["]", "x"], ["["]],
    ["[ab", ["[ab"], ["a"]],
    ["\\*", ["*"], ["a"]],
    ["src/*.ts", ["src/a.ts"], ["src/b/a.ts", "x/src/a.ts"]],
    ["src/**/*.ts", ["src/a.ts", "src/b/c/a.ts"], ["a.ts"]],
    ["**/test/**", ["test/a", "x/test/y/z"], ["x/tests/y"]]
  ])("%s matches as in a shell", (pattern, matching, others) => {
    const matches = glob(pattern)
    for (const path of matching) expect(matches(path), path).toBe(true)
    for (const path of others) expect(matches(path), path).toBe(false)
  })

  it("of many stars is matched quickly", async () => {
    const stars = async () => {
      expect(glob(`${"*a".repeat(500)}b`)("a".repeat(255))).toBe(false)
      expect(glob(`${"**/a/".repeat(200)}b`)("a/".repeat(2000))).toBe(false)
    }
    expect(await longestTurn(stars)).toBeLessThan(maximumTurn)
  })
})

describe("a search", () => {
  beforeAll(async () => {
    await mkdir(at("searched", "src"), { recursive: true })
    await writeFile(at("searched", "src", "one.ts"), "first\nconst needle = 1\r\nneedle needle\n")
    await writeFile(at("searched", "two.md"), "no match here")
    await writeFile(at("searched", "binary"), Buffer.from([0, 1, ...Buffer.from("needle")]))
    await writeFile(at("searched", "wide"), `${"x".repeat(1024 * 1024 - 3)}needle${"y".repeat(2000)}\nneedle`)
    await symlink("src", at("searched", "link"))
  })

  const find = async (query: Readonly<Record<string, string | number>>) =>
    (await call("/files/find", { query: { path: "searched", ...query } })).json

  it("finds by name", async () => {
    expect(await find({ name: "*.ts" })).toStrictEqual({ matches: [{ path: at("searched", "src", "one.ts") }], truncated: false })
    expect(await find({ name: "*", limit: 2 })).toStrictEqual({
      matches: [{ path: at("searched", "binary") }, { path: at("searched", "link") }],
      truncated: true
    })
  })

  it("finds lines of texts, also across the border of what is read at once", async () => {
    const { matches, truncated } = await find({ content: "needle" })
    expect(truncated).toBe(false)
    expect(matches).toMatchObject([
      { path: at("searched", "src", "one.ts"), line: 2, text: "const needle = 1" },
      { path: at("searched", "src", "one.ts"), line: 3, text: "needle needle" },
      { path: at("searched", "wide"), line: 1, text: expect.stringContaining("needleyyy") },
      { path: at("searched", "wide"), line: 2, text: "needle" }
    ])
    expect(await find({ content: "needle", name: "*.md" })).toStrictEqual({ matches: [], truncated: false })
    expect(await find({ content: "needle", limit: 1 })).toMatchObject({ truncated: true })
  })

  it("refuses what it cannot search for", async () => {
    for (const query of [{ content: "" }, { content: "a\nb" }, { name: "" }, { name: "*".repeat(2000) }, { limit: 99_999 }]) {
      expect((await call("/files/find", { query: { path: "searched", ...query } })).status).toBe(400)
    }
    expect((await call("/files/find", { query: { path: "searched/two.md", name: "*" } })).status).toBe(409)
  })
})

/** Gathers what a socket tells until it has told all that is expected. */
const told = (socket: WebSocket) => {
  const events: Record<string, string> = {}
  socket.on("message", (data) => {
    const message = JSON.parse(String(data))
    for (const { kind, path } of message.events ?? []) events[path.slice(at().length + 1)] = kind
  })
  return () => events
}

describe("a watcher", () => {
  it("stops to look at what is there when its client goes away", async () => {
    for (let name = 0; name < 50; name++) await mkdir(at("many", String(name)), { recursive: true })
    const client = new AbortController()
    const told: Array<unknown> = []
    const opening = watch(
      at("many"),
      true,
      { events: (events) => told.push(...events), overflow: () => told.push("overflow") },
      client.signal
    )
    setImmediate(() => client.abort())
    await expect(opening).rejects.toThrow(/abort/)
    await writeFile(at("many", "new"), "")
    // By now, the first one would have told of its file
    const other = new AbortController()
    const reported = new Promise((resolve) => {
      void watch(at("many"), true, { events: resolve, overflow: () => resolve("overflow") }, other.signal).then(() =>
        writeFile(at("many", "newer"), "")
      )
    })
    expect(await reported).toStrictEqual([{ path: at("many", "newer"), kind: "created" }])
    other.abort()
    expect(told).toStrictEqual([])
  })

  it("tells what is created, changed and deleted, also in new directories", async () => {
    await mkdir(at("watched", "below"), { recursive: true })
    await writeFile(at("watched", "changed"), "")
    await writeFile(at("watched", "below", "deleted"), "")
    const socket = await open("/files/watch", { path: "watched", recursive: true })
    const events = told(socket)
    await writeFile(at("watched", "changed"), "x")
    await call("/files", { method: "PUT", query: { path: "watched/created" }, body: "x" })
    await rm(at("watched", "below", "deleted"))
    await mkdir(at("watched", "new", "er"), { recursive: true })
    await writeFile(at("watched", "new", "er", "file"), "x")
    const first = {
      "watched/changed": "changed",
      "watched/created": "created",
      "watched/below/deleted": "deleted",
      "watched/new": "created"
    }
    await expect.poll(events, { interval: 5 }).toMatchObject({ ...first, "watched/new/er/file": "created" })
    await call("/files", { method: "PUT", query: { path: "watched/created" }, body: "y" })
    await rename(at("watched", "new"), at("watched", "old"))
    await expect
      .poll(events, { interval: 5 })
      .toMatchObject({ "watched/created": "changed", "watched/new": "deleted", "watched/old": "created", "watched/old/er/file": "created" })
    expect(Object.keys(events()).filter((path) => path.includes(".draft-"))).toStrictEqual([])
    socket.close()
  })

  it("of a file goes on when the file is replaced", async () => {
    await writeFile(at("single"), "")
    const socket = await open("/files/watch", { path: "single" })
    const events = told(socket)
    for (const body of ["one", "two"]) await call("/files", { method: "PUT", query: { path: "single" }, body })
    await writeFile(at("unrelated"), "")
    await expect.poll(events, { interval: 5 }).toStrictEqual({ single: "changed" })
    await rm(at("single"))
    await expect.poll(events, { interval: 5 }).toStrictEqual({ single: "deleted" })
    socket.close()
  })

  it("of a missing path is refused", async () => {
    await expect(open("/files/watch", { path: "missing" })).rejects.toThrow("404")
  })
})
