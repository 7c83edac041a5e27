/** Archives and differences of sources, as the console reads and writes them. */
import fc from "fast-check"
import { pack } from "tar-stream"
import { buffer } from "node:stream/consumers"
import { describe, expect, it } from "vitest"
import { ArchiveError, bytesOf, pathProblem, readArchive, textOf, writeArchive } from "../src/screens/templates/source/archive.js"
import { latestOnly } from "../src/screens/templates/editor/latest.js"
import { placesIn } from "../src/screens/templates/editor/places.js"
import { treeRows } from "../src/screens/templates/editor/tree.js"
import { changedOf } from "../src/screens/templates/settings/changed.js"
import { changesOf, compareLines, type Line, linesOfChange, pairsOf, partsOf } from "../src/screens/templates/source/difference.js"

const filesOf = (texts: Readonly<Record<string, string>>) => ({
  files: new Map(Object.entries(texts).map(([path, text]) => [path, { content: bytesOf(text), mode: 0o644 }] as const)),
  others: []
})

const path = fc
  .array(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }).filter((part) => !/[/\0]/.test(part) && part !== "." && part !== ".."),
    { minLength: 1, maxLength: 5 }
  )
  .map((parts) => parts.join("/"))

type Given = Parameters<ReturnType<typeof pack>["entry"]>[0] & {
  readonly text?: string
  /** Records of an extended header. */
  readonly pax?: Readonly<Record<string, string>>
}

const written = async (entries: ReadonlyArray<Given>) => {
  const tar = pack()
  for (const { text, ...header } of entries) tar.entry(header, text)
  tar.finalize()
  return new Uint8Array(await buffer(tar))
}

describe("an archive", () => {
  it("holds what was written, whatever the names and bytes", () => {
    fc.assert(
      fc.property(fc.dictionary(path, fc.uint8Array({ maxLength: 1_500 })), (contents) => {
        const files = new Map(Object.entries(contents).map(([name, content]) => [name, { content, mode: 0o755 }] as const))
        const read = readArchive(writeArchive({ files, others: [] }))
        expect(new Map([...read.files].toSorted())).toStrictEqual(new Map([...files].toSorted()))
      })
    )
  })

  it("of another program is read, with long names, folders and links", async () => {
    const long = `${"folder/".repeat(40)}ü.txt`
    const tar = await written([
      { name: "./main.tf", text: "a", mode: 0o640 },
      { name: "empty/", type: "directory" },
      { name: long, text: "b" },
      { name: "link", type: "symlink", linkname: "main.tf" }
    ])
    const source = readArchive(tar)
    expect([...source.files.keys()].toSorted()).toStrictEqual([long, "main.tf"].toSorted())
    expect(source.files.get("main.tf")?.mode).toBe(0o640)
    expect(source.others).toHaveLength(2)
    const again = readArchive(writeArchive(source))
    expect(again.others).toStrictEqual(source.others)
    expect([...again.files.keys()].toSorted()).toStrictEqual([...source.files.keys()].toSorted())
  })

  it("that is cut is refused", async () => {
    const tar = await written([{ name: "main.tf", text: "a".repeat(2_000) }])
    expect(() => readArchive(tar.subarray(0, 1_024))).toThrow(ArchiveError)
    expect(() => readArchive(new Uint8Array(2_000).fill(99))).toThrow(ArchiveError)
  })

  it.each(["x", "-1024", "1.5", "1e400"])("with the length %s is refused", async (size) => {
    const tar = await written([
      { name: "main.tf", text: "a", pax: { size } },
      { name: "other.tf", text: "b" }
    ])
    expect(() => readArchive(tar)).toThrow(ArchiveError)
  })

  it("keeps its links and folders: no file takes their place", async () => {
    const source = readArchive(
      await written([
        { name: "main.tf", text: "a" },
        { name: "again.tf", type: "link", linkname: "main.tf" },
        { name: "link", type: "symlink", linkname: "/etc" },
        { name: "empty/", type: "directory" }
      ])
    )
    expect(source.others.map(({ kind, path }) => `${kind} ${path}`)).toStrictEqual(["hard link again.tf", "other link", "folder empty"])
    const names = ["link", "link/x", "again.tf", "empty", "empty/x", "new/x"]
    expect(names.map((name) => pathProblem(name, source.files, source.others))).toStrictEqual([
      "folder",
      "folder",
      "folder",
      "folder",
      undefined,
      undefined
    ])
    const bytes = writeArchive(source)
    const headers = Array.from({ length: bytes.length / 512 }, (_, index) =>
      textOf(bytes.subarray(index * 512, index * 512 + 8).filter(Boolean))
    )
    expect(headers.filter((text) => text !== "" && text !== "a")).toStrictEqual(["link", "empty/", "main.tf", "again.tf"])
  })

  it("takes no name from outside, none twice, and no file as a folder", () => {
    const { files } = filesOf({ "a/b": "" })
    expect(["", "/etc/passwd", "../x", "a/b", "a", "a/b/c", "a/c"].map((name) => pathProblem(name, files, []))).toStrictEqual([
      "empty",
      "outside",
      "outside",
      "taken",
      "folder",
      "folder",
      undefined
    ])
  })

  it("knows text from other bytes", () => {
    expect([bytesOf("ü"), new Uint8Array([1, 0]), new Uint8Array([0xff])].map(textOf)).toStrictEqual(["ü", undefined, undefined])
  })
})

const sideOf = (lines: ReadonlyArray<Line>, left: "removed" | "added"): string =>
  lines.flatMap(({ kind, text }) => (kind === "same" || kind === left ? [`${text}\n`] : [])).join("")

const text = fc
  .array(fc.constantFrom("a", "b", "c", "", "d d"), { maxLength: 40 })
  .map((lines) => lines.map((line) => `${line}\n`).join(""))

/** The length of the longest common part of two lists: what a least difference keeps. */
const commonLength = (one: ReadonlyArray<string>, other: ReadonlyArray<string>): number => {
  let row = Array.from({ length: other.length + 1 }, () => 0)
  for (const item of one) {
    const next = [0]
    for (const [index, each] of other.entries())
      next.push(item === each ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0))
    row = next
  }
  return row.at(-1) ?? 0
}

describe("a difference", () => {
  it("holds both texts, and is the least one", () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = compareLines(before, after)
        expect(sideOf(lines, "removed")).toBe(before)
        expect(sideOf(lines, "added")).toBe(after)
        expect(lines.filter(({ kind }) => kind === "same")).toHaveLength(
          commonLength(before.split("\n").slice(0, -1), after.split("\n").slice(0, -1))
        )
        expect(partsOf(lines).flatMap((part) => part.lines)).toStrictEqual(lines)
        const pairs = pairsOf(lines)
        expect(pairs.flatMap(({ left }) => (left === undefined ? [] : [`${left.text}\n`])).join("")).toBe(before)
        expect(pairs.flatMap(({ right }) => (right === undefined ? [] : [`${right.text}\n`])).join("")).toBe(after)
      })
    )
  })

  it("of texts that have little in common is bounded", () => {
    const many = (of: string) => Array.from({ length: 20_000 }, (_, index) => `${of} ${index}\n`).join("")
    const lines = compareLines(`first\n${many("old")}`, `first\n${many("new")}`)
    expect(lines).toHaveLength(40_001)
    expect(lines[0]).toStrictEqual({ kind: "same", text: "first", before: 1, after: 1 })
  })

  it("names files that were added, removed and changed, and compares no other bytes", () => {
    const before = filesOf({ same: "1", gone: "2", other: "a\0", text: "1\n2\n" })
    const after = filesOf({ same: "1", made: "2", other: "b\0", text: "1\n3\n" })
    const changes = changesOf(before, after)
    expect(changes.map(({ kind, path }) => `${kind} ${path}`)).toStrictEqual([
      "removed gone",
      "added made",
      "changed other",
      "changed text"
    ])
    expect(changes.map(linesOfChange).map((lines) => (typeof lines === "string" ? lines : lines.map(({ kind }) => kind)))).toStrictEqual([
      ["removed"],
      ["added"],
      "binary",
      ["same", "removed", "added"]
    ])
    const large = filesOf({ same: "x".repeat(1_000_001) })
    expect(changesOf(before, large).find(({ path }) => path === "same")).toSatisfy(
      (change: (typeof changes)[number]) => linesOfChange(change) === "large"
    )
  })
})

describe("the log of a build", () => {
  it("names places in files of the source", () => {
    const lines = [
      "template.yaml:12:9: agents[0].os: must be linux",
      "other.yaml:1:1: not of this source",
      "\u001b[31m│ Error: Unsupported argument\u001b[0m",
      '│   on main.tf line 4, in resource "a" "b":',
      "template.yaml:12:9: agents[0].os: must be linux"
    ]
    expect(placesIn(lines, new Set(["template.yaml", "main.tf"]))).toStrictEqual([
      { path: "template.yaml", line: 12, column: 9, message: "agents[0].os: must be linux" },
      { path: "main.tf", line: 4, column: 1, message: "Unsupported argument" }
    ])
  })
})

describe("the tree of a source", () => {
  it("has folders first, and hides what is in closed ones", () => {
    const paths = ["z", "b/two", "a/x/deep", "b/one", "a.txt"]
    const shown = (closed: ReadonlyArray<string>) => treeRows(paths, new Set(closed)).map(({ depth, path }) => `${depth} ${path}`)
    expect(shown([])).toStrictEqual(["0 a", "1 a/x", "2 a/x/deep", "0 b", "1 b/one", "1 b/two", "0 a.txt", "0 z"])
    expect(shown(["a", "b"])).toStrictEqual(["0 a", "0 b", "0 a.txt", "0 z"])
  })
})

describe("the draft of a source", () => {
  it("is written once at a time, and then as it is newest", async () => {
    const { isRunning, run, settled } = latestOnly()
    const written: Array<string> = []
    const write = (text: string) => async (): Promise<void> => {
      await Promise.resolve()
      written.push(text)
    }
    const all = ["a", "ab", "abc", "abcd"].map((text) => run("draft", write(text)))
    void run("other", write("x"))
    expect(isRunning("draft")).toBe(true)
    await settled("draft")
    expect(written.filter((text) => text !== "x")).toStrictEqual(["a", "abcd"])
    await Promise.all(all)
    expect(isRunning("draft")).toBe(false)
  })

  it("is written again after a failure, and only the last failure counts", async () => {
    const { run } = latestOnly()
    const failing = async (): Promise<void> => {
      throw new Error("full")
    }
    const all = [run("draft", failing), run("draft", async () => undefined)]
    await expect(Promise.all(all)).resolves.toHaveLength(2)
    await expect(run("draft", failing)).rejects.toThrow("full")
    await expect(run("draft", async () => undefined)).resolves.toBeUndefined()
  })
})

describe("the settings of a template", () => {
  it("send what differs", () => {
    const before = { name: "docker", icon: "", days: { of: ["monday"], weeks: 1 }, other: 1 }
    expect(changedOf(before, { name: "docker", icon: "/a.svg", days: { of: ["monday"], weeks: 1 } })).toStrictEqual({ icon: "/a.svg" })
    expect(changedOf(before, { name: "docker", days: { of: [], weeks: 1 } })).toStrictEqual({ days: { of: [], weeks: 1 } })
  })
})
