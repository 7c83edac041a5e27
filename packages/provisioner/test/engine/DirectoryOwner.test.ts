import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Logger, Scope, TestClock } from "effect"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { own } from "../../src/engine/DirectoryOwner.js"
import { ProcessTable } from "../../src/engine/ProcessTable.js"
import { ownerFolder, prepareRoot } from "../../src/engine/EngineDirectory.js"
import { aFolder } from "../agents.js"

const aRoot = Effect.tap(aFolder, prepareRoot)
const claimsOf = (root: string) => Effect.promise(() => fs.readdir(ownerFolder(root)))

describe("a directory of workspaces", () => {
  it.scopedLive("is free again when its owner lets go", () =>
    Effect.gen(function* () {
      const root = yield* aRoot
      yield* Effect.scoped(own(root))
      yield* Effect.scoped(own(root))
      yield* own(root)
      expect(yield* claimsOf(root)).toEqual(["3"])
    }).pipe(Effect.provide(ProcessTable.layer))
  )

  it.scopedLive("is taken over from an owner that has died", () =>
    Effect.gen(function* () {
      const root = yield* aRoot
      const claim = (name: string, text: string) => Effect.promise(() => fs.symlink(text, join(ownerFolder(root), name)))
      // This process's id, but another process: it started at another time
      yield* claim("7", `${process.pid} another boot/12`)
      yield* Effect.scoped(own(root))
      yield* claim("9", "broken")
      yield* own(root)
      expect(yield* claimsOf(root)).toEqual(["10"])
    }).pipe(Effect.provide(ProcessTable.layer))
  )

  it.scopedLive("is taken over from an owner of an earlier version, which claimed it with a file", () =>
    Effect.gen(function* () {
      const root = yield* aRoot
      const claims = [
        { pid: process.pid, started: "another boot/12", released: false },
        { pid: process.pid, started: "another boot/12", released: true }
      ]
      for (const text of [...claims.map((claim) => JSON.stringify(claim)), `{"pid":`]) {
        yield* Effect.promise(() => fs.writeFile(join(ownerFolder(root), "7"), text))
        yield* Effect.scoped(own(root))
        expect(yield* claimsOf(root)).toEqual(["8"])
        yield* Effect.promise(() => fs.rm(join(ownerFolder(root), "8")))
      }
    }).pipe(Effect.provide(ProcessTable.layer))
  )

  it.scoped("is refused while an owner of an earlier version lives", () =>
    Effect.gen(function* () {
      const root = yield* aRoot
      const self = yield* Effect.flatMap(ProcessTable, ({ find }) => find(process.pid))
      const claim = { pid: process.pid, started: self?.started, released: false }
      yield* Effect.promise(() => fs.writeFile(join(ownerFolder(root), "1"), JSON.stringify(claim)))
      const waiting = yield* Effect.fork(Effect.flip(own(root)))
      while ((yield* Fiber.poll(waiting))._tag === "None") {
        yield* TestClock.adjust("30 seconds")
        yield* Effect.promise(() => fs.stat(root))
      }
      expect((yield* Fiber.join(waiting)).message).toBe(`${root} is in use by the process ${process.pid}`)
    }).pipe(Effect.provide(ProcessTable.layer))
  )

  it.scopedLive("goes to one of many that want it at once", () =>
    Effect.gen(function* () {
      const root = yield* aRoot
      let owners = 0
      let most = 0
      const use = Effect.gen(function* () {
        yield* own(root)
        most = Math.max(most, ++owners)
        yield* Effect.yieldNow()
        owners--
      })
      yield* Effect.forEach(Array.from({ length: 8 }), () => Effect.scoped(use), { concurrency: "unbounded", discard: true })
      expect(most).toBe(1)
    }).pipe(Effect.provide(ProcessTable.layer))
  )

  it.scoped("is refused after half a minute of waiting for an owner that lives", () =>
    Effect.gen(function* () {
      const root = yield* aRoot
      const scope = yield* Scope.make()
      yield* Scope.extend(own(root), scope)
      const lines: Array<unknown> = []
      const logger = Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ message }) => lines.push(message))
      )
      const waiting = yield* Effect.fork(Effect.provide(Effect.scoped(Effect.flip(own(root))), logger))
      let waited = 0
      // The file system answers in real time, the clock moves by hand
      while ((yield* Fiber.poll(waiting))._tag === "None") {
        yield* TestClock.adjust("250 millis")
        yield* Effect.promise(() => fs.stat(root))
        waited++
      }
      expect((yield* Fiber.join(waiting)).message).toBe(`${root} is in use by the process ${process.pid}`)
      expect(waited).toBeGreaterThanOrEqual(120)
      expect(lines).toStrictEqual([[`${root} is in use by the process ${process.pid}: waiting up to 30 seconds for its end`]])
      yield* Scope.close(scope, Exit.void)
      yield* own(root)
    }).pipe(Effect.provide(ProcessTable.layer))
  )
})
