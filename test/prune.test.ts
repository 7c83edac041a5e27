/** A build leaves nothing behind of sources that are gone. */
import { execFileSync } from "node:child_process"
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const script = fileURLToPath(new URL("../scripts/prune.mjs", import.meta.url))

it("outputs without a source are removed, and bundles stay", async () => {
  const root = await mkdtemp(join(tmpdir(), "atelier-prune-"))
  const outputsOf = (name: string) => ["js", "js.map", "d.ts", "d.ts.map"].map((ending) => `packages/one/dist/${name}.${ending}`)
  const kept = ["packages/one/src/kept.ts", "packages/one/src/area/Kept.ts", ...outputsOf("kept"), ...outputsOf("area/Kept")]
  const bundle = ["packages/one/dist/program.js", "packages/one/dist/download.mjs"]
  const stale = [...outputsOf("gone"), ...outputsOf("area/Gone"), ...outputsOf("old/deep/Gone")]
  try {
    for (const path of [...kept, ...bundle, ...stale]) {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), "")
    }
    execFileSync(process.execPath, [script, root])
    const left = await readdir(join(root, "packages/one"), { recursive: true, withFileTypes: true })
    const files = left.filter((entry) => entry.isFile()).map(({ name, parentPath }) => join(parentPath, name).slice(root.length + 1))
    expect(files.toSorted()).toStrictEqual([...kept, ...bundle].toSorted())
    expect(left.filter((entry) => entry.isDirectory()).map(({ name }) => name)).not.toContain("old")
  } finally {
    await rm(root, { recursive: true, force: true })
  }
})
