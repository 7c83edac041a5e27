import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { boundLog, folderIn, placeFile, removeTree, replaceFile } from "../../src/local/WorkspaceDirectory.js"
import { aFolder } from "../agents.js"

const bytes = (text: string) => new TextEncoder().encode(text)

describe("a folder of a workspace", () => {
  it.scopedLive("may be reached by links that stay inside", () =>
    Effect.gen(function* () {
      const home = yield* aFolder
      yield* Effect.promise(async () => {
        await fs.mkdir(join(home, "src"))
        await fs.symlink("src", join(home, "code"))
        await fs.symlink("loop", join(home, "loop"))
        await fs.symlink("..", join(home, "up"))
        await fs.writeFile(join(home, "file"), "")
      })
      expect(yield* folderIn(home, "code/app")).toBe(join(home, "src/app"))
      expect(yield* folderIn(home, "")).toBe(home)
      const refusal = (path: string) => Effect.map(Effect.flip(folderIn(home, path)), ({ message }) => message)
      expect(yield* refusal("up")).toBe('the folder "up" leads out of the workspace')
      expect(yield* refusal("../x")).toBe('the folder "../x" leads outside')
      expect(yield* refusal("loop")).toContain("cannot be entered")
      expect(yield* refusal("file/x")).toContain("cannot be read")
    })
  )
})

describe("a file of a template", () => {
  it.scopedLive("does not replace a folder", () =>
    Effect.gen(function* () {
      const home = yield* aFolder
      yield* Effect.promise(() => fs.mkdir(join(home, "a")))
      const refused = yield* Effect.flip(placeFile(home, { path: "a", bytes: bytes("x"), mode: 0o644, overwrite: true }))
      expect(refused.message).toBe('the file "a" cannot be written: a folder is there')
    })
  )
})

describe("a file that cannot be replaced", () => {
  it.scopedLive("leaves nothing behind", () =>
    Effect.gen(function* () {
      const home = yield* aFolder
      yield* Effect.promise(() => fs.mkdir(join(home, "a")))
      const refused = yield* Effect.flip(replaceFile(join(home, "a"), bytes("x"), 0o644))
      expect(refused.message).toContain("cannot be written")
      expect(yield* Effect.promise(() => fs.readdir(home))).toEqual(["a"])
    })
  )
})

describe("an agent's output", () => {
  it.scopedLive("is bounded to its last part and what follows, in the file the agent writes to", () =>
    Effect.gen(function* () {
      const log = join(yield* aFolder, "log")
      const agent = yield* Effect.acquireRelease(
        Effect.promise(() => fs.open(log, "a")),
        (file) => Effect.promise(() => file.close())
      )
      const write = (text: string) => Effect.promise(() => agent.write(text))
      const read = (path: string) => Effect.promise(() => fs.readFile(path, "utf8"))
      yield* write("small\n")
      yield* boundLog(log)
      expect(yield* read(log)).toBe("small\n")
      yield* write("x".repeat(1024 * 1024))
      yield* write("last\n")
      yield* boundLog(log)
      yield* write("next\n")
      expect(yield* read(log)).toBe("next\n")
      const kept = yield* read(`${log}.1`)
      expect(kept.length).toBe(1024 * 1024)
      expect(kept.endsWith("xlast\n")).toBe(true)
      yield* boundLog(join(log, "none")).pipe(Effect.flip)
      yield* boundLog(`${log}.none`)
    })
  )
})

describe("removing a tree", () => {
  it.scopedLive("removes links, not what they lead to", () =>
    Effect.gen(function* () {
      const outside = yield* aFolder
      const tree = join(yield* aFolder, "tree")
      yield* Effect.promise(async () => {
        await fs.writeFile(join(outside, "precious"), "")
        await fs.mkdir(join(tree, "a/b"), { recursive: true })
        await fs.symlink(outside, join(tree, "a/link"))
        await fs.chmod(join(tree, "a"), 0o555)
      })
      yield* removeTree(tree)
      expect(yield* Effect.promise(() => fs.readdir(outside))).toEqual(["precious"])
      yield* removeTree(tree)
    })
  )
})
