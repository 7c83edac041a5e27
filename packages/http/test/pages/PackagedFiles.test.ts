import { HttpServerRequest } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { packagedFiles } from "../../src/pages/packagedFiles.js"

const aFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "atelier-files-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/** Answers requests for a file. */
const anAnswer = (path: string) =>
  Effect.map(packagedFiles({ "page.js": { path, contentType: "text/javascript" } }, {}), (files) => {
    const answer = files(HttpServerRequest.fromWeb(new Request("http://atelier.test/page.js")), "page.js")
    return Effect.map(answer ?? Effect.dieMessage("there is no such file"), ({ status }) => status)
  })

describe("a file of a package", () => {
  it.scopedLive("is answered after its first client has gone while it was read", () =>
    Effect.gen(function* () {
      const path = join(yield* aFolder, "page.js")
      yield* Effect.promise(() => writeFile(path, "x".repeat(1_000_000)))
      const answer = yield* anAnswer(path)
      const leaving = yield* Effect.fork(answer)
      const staying = yield* Effect.fork(answer)
      yield* Effect.yieldNow()
      expect(Exit.isExit(yield* Fiber.interrupt(leaving))).toBe(true)
      expect([yield* Fiber.join(staying), yield* answer]).toStrictEqual([200, 200])
    })
  )

  it.scopedLive("is answered once it can be read", () =>
    Effect.gen(function* () {
      const path = join(yield* aFolder, "page.js")
      const answer = yield* anAnswer(path)
      expect(Exit.isFailure(yield* Effect.exit(answer))).toBe(true)
      yield* Effect.promise(() => writeFile(path, "x"))
      expect(yield* answer).toBe(200)
    })
  )
})
