import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { gzipSync } from "node:zlib"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { pack } from "tar-stream"
import { place } from "../../src/environment/PlacedFiles.js"

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "placed-files-"))))
afterEach(() => rmSync(folder, { recursive: true }))

const archive = async (entries: Readonly<Record<string, string>>, compress = (bytes: Buffer): Uint8Array => bytes): Promise<string> => {
  const packing = pack()
  for (const [name, content] of Object.entries(entries)) packing.entry({ name, mode: 0o750 }, content)
  packing.finalize()
  const path = join(folder, "files.tar")
  writeFileSync(path, compress(await buffer(packing)))
  return path
}

describe("the files of a template", () => {
  it.each([
    ["plain", undefined],
    ["compressed", gzipSync]
  ])("replace what is there, or are written once, from a %s archive", async (_, compress) => {
    writeFileSync(join(folder, "kept"), "own")
    symlinkSync("/nowhere/else", join(folder, "replaced"))
    await place(await archive({ "overwrite/replaced": "new", "once/kept": "new", "once/a/b": "b", "other/c": "c" }, compress), folder)
    expect(readFileSync(join(folder, "replaced"), "utf8")).toBe("new")
    expect(readFileSync(join(folder, "kept"), "utf8")).toBe("own")
    expect(readFileSync(join(folder, "a/b"), "utf8")).toBe("b")
    expect(statSync(join(folder, "a/b")).mode & 0o777).toBe(0o750)
  })

  it("are refused if a path leads out of the directory", async () => {
    await expect(place(await archive({ "once/a/../../../b": "b" }), folder)).rejects.toThrow("leads out of the directory")
  })

  it("are refused if the archive is broken", async () => {
    const path = join(folder, "files.tar")
    writeFileSync(path, "no tar at all".repeat(100))
    await expect(place(path, folder)).rejects.toThrow()
    await expect(place(join(folder, "missing"), folder)).rejects.toThrow("ENOENT")
  })
})
