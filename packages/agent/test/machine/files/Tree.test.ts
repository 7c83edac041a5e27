import { execFileSync } from "node:child_process"
import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { extract, pack } from "tar-stream"
import { describe, expect, it } from "vitest"
import { serving } from "./serving.js"

const { at, begin, call } = serving()

const post = (path: string, body: object) => call(path, { method: "POST", body: JSON.stringify(body) })

const modeOf = async (path: string) => ((await stat(path)).mode & 0o7777).toString(8)

/** A small tree with files, a link and a directory that others may not read. */
const tree = async (name: string) => {
  await mkdir(at(name, "a", "b"), { recursive: true })
  await writeFile(at(name, "a", "b", "deep"), "deep", { mode: 0o755 })
  await writeFile(at(name, "a-file"), "file", { mode: 0o600 })
  await symlink("../nowhere", at(name, "link"))
  await chmod(at(name, "a"), 0o700)
}

const paths = async (query: Readonly<Record<string, string | number>>) => {
  const { json } = await call("/files/list", { query })
  return { next: json.next, names: json.entries.map((entry: { readonly path: string }) => entry.path.slice(at().length + 1)) }
}

describe("a list", () => {
  it("describes the entries in the order of their names", async () => {
    await tree("listed")
    const { json, status } = await call("/files/list", { query: { path: "listed" } })
    expect(status).toBe(200)
    expect(json.entries).toMatchObject([
      { path: at("listed", "a"), name: "a", type: "directory", mode: "0700" },
      { name: "a-file", type: "file", size: 4, mode: "0600" },
      { name: "link", type: "symlink", target: "../nowhere" }
    ])
    expect((await call("/files/stat", { query: { path: "listed/a-file" } })).json).toStrictEqual(json.entries[1])
    expect((await call("/files/list", { query: { path: "listed/a-file" } })).status).toBe(409)
  })

  it("has the same entries in pages of any size, at any depth", async () => {
    for (const name of ["x", "x/y", "x/y/z", "x-1", "é", "zz"]) {
      await mkdir(at("paged", name), { recursive: true })
      for (const file of ["1", "2"]) await writeFile(at("paged", name, file), "")
    }
    await symlink("x", at("paged", "x-link"))
    for (const depth of [1, 2, 10]) {
      const { names: all } = await paths({ path: "paged", depth })
      expect(all).toHaveLength({ 1: 5, 2: 14, 10: 19 }[depth] ?? 0)
      for (const limit of [1, 2, 7]) {
        const found: Array<string> = []
        for (let after: string | undefined = ""; after !== undefined;) {
          const page: Awaited<ReturnType<typeof paths>> = await paths({ path: "paged", depth, limit, after })
          expect(page.names.length).toBeLessThanOrEqual(limit)
          found.push(...page.names)
          after = page.next
        }
        expect(found).toStrictEqual(all)
      }
    }
    expect((await call("/files/list", { query: { path: "paged", limit: 0 } })).status).toBe(400)
    expect((await call("/files/list", { query: { path: "paged", after: "?" } })).status).toBe(400)
  })

  it("has names that are not UTF-8, which can be deleted with their directory", async () => {
    await mkdir(at("bytes"))
    await writeFile(Buffer.concat([Buffer.from(`${at("bytes")}/`), Buffer.from([0xff, 0xfe])]), "")
    await writeFile(Buffer.concat([Buffer.from(`${at("bytes")}/`), Buffer.from([0xff, 0xff])]), "")
    const first = await paths({ path: "bytes", limit: 1 })
    const second = await paths({ path: "bytes", limit: 1, after: first.next })
    expect([first.names.length, second.names.length, second.next]).toStrictEqual([1, 1, undefined])
    expect((await call("/files", { method: "DELETE", query: { path: "bytes", recursive: true } })).status).toBe(204)
  })
})

describe("a deletion", () => {
  const remove = (path: string, recursive = false) => call("/files", { method: "DELETE", query: { path, recursive } })

  it("of a directory that is not empty has to be asked for, and follows no link", async () => {
    await tree("deleted")
    await mkdir(at("kept"))
    await writeFile(at("kept", "file"), "")
    await symlink(at("kept"), at("deleted", "to-kept"))
    expect((await remove("deleted")).status).toBe(409)
    expect((await remove("deleted", true)).status).toBe(204)
    expect((await remove("deleted", true)).status).toBe(404)
    await symlink("kept", at("link-to-kept"))
    expect((await remove("link-to-kept", true)).status).toBe(204)
    expect(await readdir(at("kept"))).toStrictEqual(["file"])
    expect((await remove("/", true)).status).toBe(409)
  })
})

describe("directories", () => {
  it("are made one by one, or with their parents", async () => {
    expect((await post("/files/directories", { path: "new/er" })).status).toBe(404)
    expect(await post("/files/directories", { path: "new/er", parents: true, mode: "0700" })).toMatchObject({
      status: 201,
      json: { type: "directory", mode: "0700" }
    })
    expect((await post("/files/directories", { path: "new/er", parents: true })).status).toBe(201)
    expect((await post("/files/directories", { path: "new/er" })).status).toBe(409)
    expect((await post("/files/directories", { path: 1 })).status).toBe(400)
    expect((await post("/files/directories", [])).status).toBe(400)
  })
})

describe("a move", () => {
  it("replaces nothing unless that is asked for", async () => {
    await writeFile(at("from"), "from")
    await writeFile(at("to"), "to")
    expect(await post("/files/move", { from: "from", to: "to" })).toMatchObject({
      status: 409,
      json: { message: expect.stringContaining(at("to")) }
    })
    expect(await post("/files/move", { from: "from", to: "to", overwrite: true })).toMatchObject({
      status: 200,
      json: { path: at("to"), size: 4 }
    })
    expect(await readFile(at("to"), "utf8")).toBe("from")
    expect(await post("/files/move", { from: "from", to: "other" })).toMatchObject({
      status: 404,
      json: { message: expect.stringContaining(at("from")) }
    })
    await tree("moved")
    expect((await post("/files/move", { from: "moved", to: "moved/a/b/below" })).status).toBe(409)
    expect((await post("/files/move", { from: "moved", to: "moved-to" })).status).toBe(200)
    expect(await readFile(at("moved-to", "a", "b", "deep"), "utf8")).toBe("deep")
  })

  it("goes to another device", async (context) => {
    const shared = "/dev/shm"
    const other = await stat(shared).catch(() => undefined)
    if (other === undefined || other.dev === (await stat(at())).dev) return context.skip()
    const target = join(shared, `atelier-files-${process.pid}`)
    await tree("crossing")
    await utimes(at("crossing", "a-file"), 1000, 1000)
    expect((await post("/files/move", { from: "crossing", to: target })).status).toBe(200)
    expect(await readdir(at())).not.toContain("crossing")
    expect([
      await modeOf(join(target, "a")),
      await modeOf(join(target, "a", "b", "deep")),
      (await stat(join(target, "a-file"))).mtimeMs
    ]).toStrictEqual(["700", "755", 1_000_000])
    expect((await call("/files", { method: "DELETE", query: { path: target, recursive: true } })).status).toBe(204)
  })
})

describe("a copy", () => {
  it("of a tree keeps modes and links, and leaves pipes out", async () => {
    await tree("copied")
    execFileSync("mkfifo", [at("copied", "pipe")])
    expect((await post("/files/copy", { from: "copied", to: "copy" })).status).toBe(409)
    expect((await post("/files/copy", { from: "copied", to: "copied/a/copy", recursive: true })).status).toBe(409)
    expect((await post("/files/copy", { from: "copied", to: "copy", recursive: true })).status).toBe(200)
    expect(await readdir(at("copy"))).toStrictEqual(["a", "a-file", "link"])
    expect([await modeOf(at("copy", "a")), await modeOf(at("copy", "a", "b", "deep")), await readlink(at("copy", "link"))]).toStrictEqual([
      "700",
      "755",
      "../nowhere"
    ])
    expect((await post("/files/copy", { from: "copied", to: "copy", recursive: true, overwrite: true })).status).toBe(409)
    expect((await post("/files/copy", { from: "copied/pipe", to: "pipe-copy" })).status).toBe(409)
    expect((await readdir(at())).filter((name) => name.startsWith(".draft-"))).toStrictEqual([])
  })
})

type Entry = Parameters<ReturnType<typeof pack>["entry"]>[0]

const tarOf = (...entries: ReadonlyArray<readonly [Entry, string?]>): Promise<Buffer> => {
  const tar = pack()
  for (const [header, content = ""] of entries) tar.entry(header, content)
  tar.finalize()
  return buffer(tar)
}

const unpack = (path: string, body: Uint8Array) => call("/files/archive", { method: "PUT", query: { path }, body })

describe("an archive", () => {
  it("of a directory is unpacked as it was", async () => {
    await tree("packed")
    await writeFile(at("packed", "a", "é".repeat(120)), Buffer.alloc(300_000, "x"))
    const archive = await call("/files/archive", { query: { path: "packed" } })
    expect(archive).toMatchObject({ status: 200, headers: { "content-type": "application/x-tar" } })
    const names: Array<string> = []
    const reader = extract()
    reader.on("entry", (header, stream, next) => {
      names.push(header.name)
      stream.resume()
      next()
    })
    reader.end(archive.bytes)
    await new Promise((resolve) => void reader.once("finish", () => resolve(undefined)))
    expect(names).toStrictEqual(["a/", "a/b/", "a/b/deep", `a/${"é".repeat(120)}`, "a-file", "link"])
    expect((await unpack("unpacked", archive.bytes)).json).toStrictEqual({ entries: 6, bytes: 300_008 })
    expect([
      await modeOf(at("unpacked", "a")),
      await modeOf(at("unpacked", "a", "b", "deep")),
      await readlink(at("unpacked", "link"))
    ]).toStrictEqual(["700", "755", "../nowhere"])
    expect((await call("/files/archive", { query: { path: "packed/a-file" } })).status).toBe(409)
  })

  it("is read by another program", async () => {
    await tree("foreign")
    const { bytes } = await call("/files/archive", { query: { path: "foreign" } })
    const listed = execFileSync("tar", ["-tf", "-"], { input: bytes }).toString().trim().split("\n")
    expect(listed).toStrictEqual(["a/", "a/b/", "a/b/deep", "a-file", "link"])
    expect((await unpack("native", execFileSync("tar", ["-cf", "-", "-C", at("foreign"), "."]))).json.entries).toBe(5)
  })

  it.each([
    ["an absolute path", [[{ name: "/escaped" }, "x"]]],
    ["a path that leads up", [[{ name: "a/../../escaped" }, "x"]]],
    ["a file below a link", [[{ name: "l", type: "symlink", linkname: ".." }], [{ name: "l/escaped" }, "x"]]],
    [
      "a directory at a link",
      [[{ name: "l", type: "symlink", linkname: ".." }], [{ name: "l", type: "directory" }], [{ name: "l/escaped" }, "x"]]
    ],
    ["a hard link to a path outside", [[{ name: "escaped", type: "link", linkname: "../outside" }]]],
    [
      "a hard link through a link",
      [[{ name: "l", type: "symlink", linkname: ".." }], [{ name: "escaped", type: "link", linkname: "l/outside" }]]
    ]
  ] as ReadonlyArray<readonly [string, ReadonlyArray<readonly [Entry, string?]>]>)("does not escape by %s", async (title, entries) => {
    const name = title.replaceAll(" ", "-")
    await mkdir(at(name))
    await writeFile(at(name, "outside"), "secret")
    const { status } = await unpack(`${name}/into`, await tarOf(...entries))
    expect([400, 409]).toContain(status)
    expect(await readdir(at(name))).toStrictEqual(["into", "outside"])
    expect(await readdir(at(name, "into"))).not.toContain("escaped")
  })

  it("replaces a link, and does not write through it", async () => {
    await mkdir(at("linked"))
    await writeFile(at("linked-file"), "old")
    await symlink("../linked-file", at("linked", "file"))
    await unpack("linked", await tarOf([{ name: "file" }, "new"], [{ name: "same", type: "link", linkname: "file" }]))
    expect([await readFile(at("linked-file"), "utf8"), await readFile(at("linked", "same"), "utf8")]).toStrictEqual(["old", "new"])
    expect(await readdir(at("linked"))).toStrictEqual(["file", "same"])
  })

  it("that is broken is refused, and leaves no draft", async () => {
    expect((await unpack("torn", Buffer.alloc(2000, "no tar"))).status).toBe(400)
    const whole = await tarOf([{ name: "file" }, "x".repeat(10_000)])
    expect((await unpack("torn", whole.subarray(0, 5000))).status).toBe(400)
    expect(await readdir(at("torn"))).toStrictEqual([])
    const request = begin("/files/archive", { method: "PUT", query: { path: "torn" } }).on("error", () => undefined)
    request.write(whole.subarray(0, 5000))
    await expect.poll(() => readdir(at("torn")), { interval: 5 }).toHaveLength(1)
    request.destroy()
    await expect.poll(() => readdir(at("torn")), { interval: 5 }).toStrictEqual([])
  })
})
