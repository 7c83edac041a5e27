/** What the bundled server finds of packages: it has some in itself. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"
import { createRequireBeside } from "../scripts/bundle/ownFiles.mjs"

let folder: string
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "atelier-own-files-")))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const installed = async (path: string): Promise<string> => {
  const file = join(folder, "node_modules", path, "index.js")
  await mkdir(join(file, ".."), { recursive: true })
  await writeFile(file, "")
  return file
}

it("uses the driver of its own client, also where another client with another driver is installed", async () => {
  const driver = await installed("better-sqlite3")
  await installed("@effect/sql-sqlite-node")
  await installed("@effect/sql-sqlite-node/node_modules/better-sqlite3")
  const program = pathToFileURL(join(folder, "node_modules/atelier/dist/program-main.cjs")).href
  const require = createRequireBeside(program)(program)
  expect(require.resolve("better-sqlite3")).toBe(driver)
  expect(() => require.resolve("@effect/sql-sqlite-node")).toThrow("is part of the program")
})
