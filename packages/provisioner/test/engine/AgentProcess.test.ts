import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { findProgram, gate, launch } from "../../src/engine/AgentProcess.js"
import { ProcessTable } from "../../src/engine/ProcessTable.js"
import { members } from "../../src/engine/ProcessTree.js"
import { aFolder } from "../agents.js"

describe("an agent's process", () => {
  it.scopedLive("begins when it is let, as the process that was launched", () =>
    Effect.gen(function* () {
      const folder = yield* aFolder
      const log = join(folder, "log")
      const launched = yield* launch({
        command: ["/bin/sh", "-c", 'echo "$$ $GREETING"'],
        environment: { GREETING: "hello" },
        directory: folder,
        log
      })
      expect(yield* Effect.promise(() => fs.readFile(log, "utf8"))).toBe("")
      yield* launched.begin
      yield* launched.ended
      expect(yield* Effect.promise(() => fs.readFile(log, "utf8"))).toBe(`${launched.pid} hello\n`)
      expect((yield* Effect.promise(() => fs.stat(log))).mode & 0o777).toBe(0o600)
      expect(yield* members({ leaders: [launched], marks: [] })).toEqual([])
    }).pipe(Effect.provide(ProcessTable.layer))
  )

  it.scopedLive("never begins when whoever launched it has died before", () =>
    Effect.gen(function* () {
      const folder = yield* aFolder
      // Death closes the other end of its input, without the line that lets it begin
      const child = spawn("/bin/sh", ["-c", gate, "agent", "/bin/sh", "-c", "touch begun"], {
        cwd: folder,
        stdio: ["pipe", "ignore", "ignore"]
      })
      child.stdin.end()
      yield* Effect.promise(() => once(child, "exit"))
      expect(existsSync(join(folder, "begun"))).toBe(false)
    })
  )

  it.scopedLive("is not launched in a folder that is none, nor with a link for a log", () =>
    Effect.gen(function* () {
      const folder = yield* aFolder
      const attempt = (directory: string, log: string) => Effect.flip(launch({ command: ["true"], environment: {}, directory, log }))
      expect((yield* attempt(join(folder, "none"), join(folder, "log"))).message).toContain("the agent cannot be started")
      yield* Effect.promise(() => fs.symlink("/dev/null", join(folder, "link")))
      expect((yield* attempt(folder, join(folder, "link"))).message).toContain("the agent's log cannot be opened")
    }).pipe(Effect.provide(ProcessTable.layer))
  )

  it.effect("is of a program found as a shell would find it", () =>
    Effect.gen(function* () {
      expect(yield* findProgram("sh", "/nowhere:/bin:/usr/bin")).toBe("/bin/sh")
      expect(yield* findProgram("/bin/sh", "")).toBe("/bin/sh")
      expect((yield* Effect.flip(findProgram("sh", "/nowhere"))).message).toBe('the agent\'s program "sh" cannot be executed')
    })
  )
})
