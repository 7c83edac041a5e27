import { execFileSync } from "node:child_process"
import { chmod, link, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { describe, expect, it } from "vitest"
import { about, FileError } from "../../../src/machine/files/FileError.js"
import { serving } from "./serving.js"

const { at, begin, call } = serving()

const put = (path: string, body: string | Uint8Array, query: Readonly<Record<string, string | boolean>> = {}, headers = {}) =>
  call("/files", { method: "PUT", query: { path, ...query }, headers, body })

describe("a read", () => {
  it("gives the bytes with a validator that changes with the file", async () => {
    await writeFile(at("read"), "first", { mode: 0o640 })
    const first = await call("/files", { query: { path: "read" } })
    expect(first).toMatchObject({
      status: 200,
      text: "first",
      headers: { "content-length": "5", "accept-ranges": "bytes", "x-file-mode": "0640" }
    })
    const etag = String(first.headers["etag"])
    expect((await call("/files", { query: { path: at("read") }, headers: { "if-none-match": etag } })).status).toBe(304)
    expect((await call("/files", { method: "HEAD", query: { path: "read" } })).headers).toMatchObject({ etag, "content-length": "5" })
    await put("read", "other")
    expect(await call("/files", { query: { path: "read" }, headers: { "if-none-match": etag } })).toMatchObject({
      status: 200,
      text: "other"
    })
    expect((await call("/files", { query: { path: "read" }, headers: { "if-match": etag } })).status).toBe(412)
  })

  it.each([
    ["bytes=0-1", 206, "01", "bytes 0-1/10"],
    ["bytes=8-", 206, "89", "bytes 8-9/10"],
    ["bytes=8-99", 206, "89", "bytes 8-9/10"],
    ["bytes=-3", 206, "789", "bytes 7-9/10"],
    ["bytes=-99", 206, "0123456789", "bytes 0-9/10"],
    ["bytes=0-1,4-5", 200, "0123456789", undefined],
    ["bytes=4-1", 200, "0123456789", undefined],
    ["lines=1-2", 200, "0123456789", undefined]
  ])("answers the range %s with %i", async (range, status, text, contentRange) => {
    await writeFile(at("range"), "0123456789")
    const answer = await call("/files", { query: { path: "range" }, headers: { range } })
    expect(answer).toMatchObject({ status, text })
    expect(answer.headers["content-range"]).toBe(contentRange)
  })

  it("refuses a range behind the end, and ignores one of an older version", async () => {
    await writeFile(at("ranged"), "0123456789")
    const behind = await call("/files", { query: { path: "ranged" }, headers: { range: "bytes=10-" } })
    expect(behind).toMatchObject({ status: 416, headers: { "content-range": "bytes */10" } })
    const older = await call("/files", { query: { path: "ranged" }, headers: { range: "bytes=0-1", "if-range": '"older"' } })
    expect(older.status).toBe(200)
  })

  it("streams a large file, and one that the kernel makes", async () => {
    const bytes = Buffer.alloc(5_000_000, "0123456789")
    await writeFile(at("large"), bytes)
    expect((await call("/files", { query: { path: "large" } })).bytes.equals(bytes)).toBe(true)
    expect(
      (await call("/files", { query: { path: "large" }, headers: { range: "bytes=200000-4000000" } })).bytes.equals(
        bytes.subarray(200_000, 4_000_001)
      )
    ).toBe(true)
    if (process.platform === "linux") expect((await call("/files", { query: { path: "/proc/self/status" } })).text).toContain("Pid:")
  })

  it("of a pipe, a socket, a device or a directory is refused at once", async () => {
    execFileSync("mkfifo", [at("pipe")])
    const listener = createServer()
    await new Promise<void>((resolve) => listener.listen(at("socket"), resolve))
    for (const path of ["pipe", "socket", "/dev/zero", "."]) {
      const answer = await call("/files", { query: { path } })
      expect(answer, path).toMatchObject({ status: 409, json: { message: expect.stringContaining("is") } })
    }
    expect((await put("pipe", "bytes")).status).toBe(409)
    listener.close()
  })

  it("of a missing, looping or malformed path names the path", async () => {
    await symlink("loop", at("loop"))
    await writeFile(at("plain"), "")
    const statusOf = async (path: string) => (await call("/files", { query: { path } })).status
    expect(await call("/files", { query: { path: "missing" } })).toMatchObject({
      status: 404,
      json: { message: `${JSON.stringify(at("missing"))} does not exist.`, detail: "ENOENT" }
    })
    expect(await statusOf("plain/below")).toBe(409)
    expect(await statusOf("loop")).toBe(400)
    expect(await statusOf("a\0b")).toBe(400)
    expect(await statusOf("")).toBe(400)
    expect(await statusOf("x".repeat(300))).toBe(400)
    expect(await statusOf("x/".repeat(3000))).toBe(400)
    expect((await call("/files?path=%ff")).status).toBe(400)
    expect((await call("/files")).status).toBe(400)
  })

  it("takes any valid name", async () => {
    for (const name of ["a+b %41&=#?", "héé \u{1f600}", "new\nline", "--", "back\\slash"]) {
      expect((await put(name, name)).status).toBe(201)
      expect((await call("/files", { query: { path: name } })).text).toBe(name)
      expect(await readFile(at(name), "utf8")).toBe(name)
    }
  })
})

describe("a write", () => {
  it("makes a file, or replaces it and keeps its mode", async () => {
    const made = await put("made", "one")
    expect(made).toMatchObject({ status: 201, json: { path: at("made"), name: "made", type: "file", size: 3 } })
    await chmod(at("made"), 0o751)
    const replaced = await put("made", "two")
    expect(replaced).toMatchObject({ status: 200, json: { mode: "0751" }, headers: { etag: replaced.json.etag } })
    expect(await readFile(at("made"), "utf8")).toBe("two")
    expect((await put("made", "three", { mode: "600", fsync: true })).json.mode).toBe("0600")
    expect((await put("made", "four", { mode: "rw" })).status).toBe(400)
    expect((await put("some/where/deep", "x")).status).toBe(404)
    expect((await put("some/where/deep", "x", { parents: true })).status).toBe(201)
  })

  it("through a link changes its target", async () => {
    await mkdir(at("links"))
    await symlink("target", at("links", "link"))
    expect((await put("links/link", "new")).status).toBe(201)
    await put("links/link", "newer")
    expect(await readFile(at("links", "target"), "utf8")).toBe("newer")
    expect(await readdir(at("links"))).toStrictEqual(["link", "target"])
  })

  it("expects the version that it names", async () => {
    const { json } = await put("versioned", "one")
    expect((await put("versioned", "two", {}, { "if-none-match": "*" })).status).toBe(412)
    expect((await put("versioned", "two", {}, { "if-match": '"other"' })).status).toBe(412)
    expect((await put("versioned", "two", {}, { "if-match": json.etag })).status).toBe(200)
    expect((await put("not-there", "two", {}, { "if-match": "*" })).status).toBe(412)
    const { json: current } = await call("/files/stat", { query: { path: "versioned" } })
    const racing = await Promise.all(["a", "b", "c"].map((text) => put("versioned", text, {}, { "if-match": current.etag })))
    expect(racing.map(({ status }) => status).toSorted()).toStrictEqual([200, 412, 412])
    const making = await Promise.all(["a", "b", "c"].map((text) => put("fresh", text, {}, { "if-none-match": "*" })))
    expect(making.map(({ status }) => status).toSorted()).toStrictEqual([201, 412, 412])
  })

  it("that breaks off leaves the file and nothing beside it", async () => {
    await mkdir(at("broken"))
    await writeFile(at("broken", "file"), "old")
    const request = begin("/files", { method: "PUT", query: { path: "broken/file" }, headers: { "content-length": "1000000" } })
    request.on("error", () => undefined)
    request.write(Buffer.alloc(100_000))
    // Its draft is there before it breaks off
    await expect.poll(() => readdir(at("broken")), { interval: 5 }).toHaveLength(2)
    request.destroy()
    await expect.poll(() => readdir(at("broken")), { interval: 5 }).toStrictEqual(["file"])
    expect(await readFile(at("broken", "file"), "utf8")).toBe("old")
  })

  it("adds to the end that it names, and keeps what arrives of one that breaks off", async () => {
    expect(await put("grown/file", "one", { offset: "0", parents: true, mode: "0640" })).toMatchObject({
      status: 201,
      json: { size: 3, mode: "0640" }
    })
    expect(await put("grown/file", "two", { offset: "3" })).toMatchObject({ status: 200, json: { size: 6 } })
    expect((await put("grown/file", "x", { offset: "3" })).status).toBe(412)
    expect((await put("grown/file", "x", { offset: "-1" })).status).toBe(400)
    const broken = begin("/files", { method: "PUT", query: { path: "grown/file", offset: "6" }, headers: { "content-length": "10" } })
    broken.on("error", () => undefined)
    broken.write("three")
    await expect.poll(() => readFile(at("grown/file"), "utf8")).toBe("onetwothree")
    expect(await put("grown/file", "x", { offset: "11" })).toMatchObject({ status: 409, json: { detail: "EBUSY" } })
    broken.destroy()
    await expect.poll(() => put("grown/file", "!", { offset: "11" })).toMatchObject({ status: 200, json: { size: 12 } })
    expect(await readFile(at("grown/file"), "utf8")).toBe("onetwothree!")
  })

  it("leaves another name of the file as it was", async () => {
    await writeFile(at("name"), "old")
    await link(at("name"), at("other-name"))
    await put("name", "new")
    expect(await readFile(at("other-name"), "utf8")).toBe("old")
  })
})

it("a client that goes away during a read leaves no open file", async () => {
  await writeFile(at("endless"), Buffer.alloc(50_000_000))
  const open = async () => (await readdir("/proc/self/fd")).length
  const before = process.platform === "linux" ? await open() : 0
  for (let round = 0; round < 5; round++) {
    const request = begin("/files", { query: { path: "endless" } }).on("error", () => undefined)
    request.end()
    await new Promise<void>((resolve) => request.once("response", (response) => response.once("data", () => resolve())))
    request.destroy()
  }
  if (process.platform === "linux") await expect.poll(open, { interval: 10 }).toBeLessThanOrEqual(before)
})

it.each([
  ["ENOSPC", 507],
  ["EDQUOT", 507],
  ["EACCES", 403],
  ["EROFS", 403],
  ["EMFILE", 503]
])("the system's %s is answered with %i", (code, status) => {
  const error = about("/a/b", Object.assign(new Error(code), { code }))
  expect(error).toBeInstanceOf(FileError)
  expect(error).toMatchObject({ status, message: expect.stringContaining('"/a/b"'), code })
})
