import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { draftBeside, sweepBeside } from "../../../src/machine/files/Drafts.js"

const day = 24 * 60 * 60 * 1000

it("drafts of a killed writer are removed after a day, and nothing else is", async () => {
  for (const [later, left] of [
    [day - 60_000, 4],
    [day + 60_000, 2]
  ] as const) {
    const directory = await mkdtemp(join(tmpdir(), "drafts-"))
    const path = join(directory, "file")
    await writeFile(path, "")
    await writeFile(join(directory, ".draft-of-a-user"), "")
    await writeFile(draftBeside(path), "")
    const copy = draftBeside(path)
    await mkdir(copy)
    await writeFile(join(copy, "file"), "")
    await sweepBeside(path, Date.now() + later)
    expect(await readdir(directory)).toHaveLength(left)
    await rm(directory, { recursive: true })
  }
})
