import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { ProcessTable } from "../../src/engine/ProcessTable.js"

const aChild = Effect.acquireRelease(
  Effect.promise(async () => {
    const child = spawn("/bin/sh", ["-c", "read -r line"], { detached: true, env: { MARK: "a=b" }, stdio: ["pipe", "ignore", "ignore"] })
    await once(child, "spawn")
    return child
  }),
  (child) =>
    Effect.promise(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill("SIGKILL")
      await once(child, "exit")
    })
)

const tables: ReadonlyArray<readonly [string, Layer.Layer<ProcessTable>]> = [
  ["ps", ProcessTable.layerPs],
  ...(existsSync("/proc/self/stat") ? [["/proc", ProcessTable.layerProcfs] as const] : [])
]

describe.each(tables)("the processes of this machine, by %s", (name, layer) => {
  it.scopedLive("hold a child with its parent, its group and its start", () =>
    Effect.gen(function* () {
      const table = yield* ProcessTable
      const { pid = 0 } = yield* aChild
      const found = yield* table.find(pid)
      expect(found).toMatchObject({ pid, parent: process.pid, group: pid })
      expect((yield* table.all).find((process) => process.pid === pid)).toEqual(found)
      expect(yield* table.find(pid)).toEqual(found)
      expect(found === undefined ? false : table.isOfThisBoot(found)).toBe(true)
      expect(table.isOfThisBoot({ pid, started: "another boot/1" })).toBe(false)
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("do not hold one that has ended", () =>
    Effect.gen(function* () {
      const table = yield* ProcessTable
      const child = yield* aChild
      child.stdin.end("end\n")
      yield* Effect.promise(() => once(child, "exit"))
      expect(yield* table.find(child.pid ?? 0)).toBeUndefined()
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive("show what a process was given, where the system tells", () =>
    Effect.gen(function* () {
      const table = yield* ProcessTable
      const child = { pid: (yield* aChild).pid ?? 0, started: "" }
      expect(yield* table.hasEnvironment(child, "MARK=a=b")).toBe(name === "/proc")
      expect(yield* table.hasEnvironment(child, "MARK=a")).toBe(false)
      expect(yield* table.hasEnvironment({ pid: 2 ** 30, started: "" }, "MARK=a=b")).toBe(false)
    }).pipe(Effect.provide(layer))
  )
})
