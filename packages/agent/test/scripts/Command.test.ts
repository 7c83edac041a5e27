import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Option, type Scope } from "effect"
import * as Brand from "../../src/Brand.js"
import * as Command from "../../src/scripts/Command.js"
import * as Marks from "../../src/scripts/Marks.js"
import * as ProcessTree from "../../src/scripts/ProcessTree.js"
import { until, whileAdvancing } from "../Advancing.js"
import { folder } from "../TestServer.js"

/** Whether a process runs; one that only waits for being collected does not. */
const isAlive = (id: number): boolean => ProcessTree.members({ root: id, isMark: () => false }).includes(id)

/** Starts a script; what it leaves behind is killed with the test. */
const starting = (script: string, more: Partial<Command.Command> = {}) =>
  Effect.gen(function* () {
    const directory = yield* folder
    const marks = Marks.make(Brand.make("Service"))
    const written = { stdout: "", stderr: "", ended: false }
    yield* Effect.addFinalizer(() => Effect.sync(() => ProcessTree.kill({ root: undefined, isMark: marks.isMark })))
    const fiber = yield* Command.run(
      {
        script,
        shell: "/bin/sh",
        directory,
        environment: { PATH: process.env["PATH"] ?? "" },
        mark: marks.next(),
        timeout: Option.none(),
        ownGroup: false,
        ...more
      },
      {
        stdout: (chunk) => {
          written.stdout += Buffer.from(chunk).toString()
        },
        stderr: (chunk) => {
          written.stderr += Buffer.from(chunk).toString()
        },
        end: () => {
          written.ended = true
        }
      }
    ).pipe(Effect.forkScoped)
    return { fiber, written, directory }
  })

const running = (
  script: string,
  more: Partial<Command.Command> = {}
): Effect.Effect<{ status: string; exitCode: number; stdout: string; stderr: string }, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { fiber, written } = yield* starting(script, more)
    const { exitCode, status } = yield* Fiber.join(fiber)
    return { status, exitCode, stdout: written.stdout, stderr: written.stderr }
  })

describe("a command", () => {
  it.scopedLive("is run by the shell, in its directory, with its environment and nothing else", () =>
    Effect.gen(function* () {
      const { fiber, written, directory } = yield* starting('pwd; echo "$GREETING"; echo oops >&2', { environment: { GREETING: "hello" } })
      expect(yield* Fiber.join(fiber)).toMatchObject({ status: "OK", exitCode: 0 })
      expect(written).toStrictEqual({ stdout: `${directory}\nhello\n`, stderr: "oops\n", ended: true })
    })
  )

  it.scopedLive("that begins with #! is run by the interpreter it names, with at most one argument", () =>
    Effect.gen(function* () {
      expect(yield* running("#!/usr/bin/env node\nconsole.log(process.argv.length)")).toMatchObject({ status: "OK", stdout: "2\n" })
      expect(yield* running("#! /bin/sh -eu \nfalse\necho unreached")).toMatchObject({ status: "EXIT_FAILURE", exitCode: 1, stdout: "" })
    })
  )

  it.scopedLive("may be longer than an argument of a process", () =>
    Effect.gen(function* () {
      expect(yield* running(`# ${"x".repeat(300_000)}\necho done`)).toMatchObject({ status: "OK", stdout: "done\n" })
    })
  )

  it.scopedLive("that cannot be started fails as in a shell, and its output says why", () =>
    Effect.gen(function* () {
      const missing = yield* running("#!/no/such/interpreter\n")
      expect(missing).toMatchObject({ status: "EXIT_FAILURE", exitCode: 127 })
      expect(missing.stderr).toContain("/no/such/interpreter")
      const { fiber, written } = yield* starting("true", { directory: "/no/such/directory" })
      expect(yield* Fiber.join(fiber)).toMatchObject({ exitCode: 127 })
      yield* until(() => written.ended)
    })
  )

  it.scopedLive("that a signal ends has the exit code shells give it", () =>
    Effect.gen(function* () {
      expect(yield* running("kill -KILL $$")).toMatchObject({ status: "EXIT_FAILURE", exitCode: 137 })
    })
  )

  it.scopedLive("that takes too long is killed with its descendants, also those in sessions of their own", () =>
    Effect.gen(function* () {
      const { fiber, written } = yield* starting("sleep 1000 & echo $!; setsid sh -c 'echo $$; sleep 1000; true' & wait", {
        timeout: Option.some(Duration.millis(300))
      })
      expect(yield* Fiber.join(fiber)).toMatchObject({ status: "TIMED_OUT", exitCode: 143 })
      const ids = written.stdout.trim().split("\n").map(Number)
      expect(ids).toHaveLength(2)
      expect(ids.filter(isAlive)).toStrictEqual([])
    })
  )

  it.scoped("that ignores being asked to end is killed after five seconds", () =>
    Effect.gen(function* () {
      const { fiber, written } = yield* starting("trap '' TERM; echo ready; while :; do sleep 0.05; done")
      yield* until(() => written.stdout === "ready\n")
      const { seconds } = yield* whileAdvancing(yield* Effect.fork(Fiber.interrupt(fiber)))
      expect(seconds).toBeGreaterThanOrEqual(5)
      yield* until(() => written.ended)
    })
  )

  it.scoped("succeeds after ten seconds although a descendant keeps the output open", () =>
    Effect.gen(function* () {
      const { fiber, written } = yield* starting("mkfifo go; (read -r line < go; echo later) & echo $!")
      yield* until(() => written.stdout !== "")
      const { seconds, value } = yield* whileAdvancing(fiber)
      expect(value).toMatchObject({ status: "PIPES_LEFT_OPEN", exitCode: 0 })
      expect(seconds).toBeGreaterThanOrEqual(10)
      expect(isAlive(Number(written.stdout))).toBe(true)
      expect(written.ended).toBe(false)
    })
  )

  it.scopedLive.skipIf(process.platform !== "linux")("stays in the process group of the agent, unless it shall not", () =>
    Effect.gen(function* () {
      const groupOf = (stat: string) => stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]
      const own = groupOf(readFileSync("/proc/self/stat", "utf8"))
      expect(groupOf((yield* running("cat /proc/self/stat")).stdout)).toBe(own)
      expect(groupOf((yield* running("cat /proc/self/stat", { ownGroup: true })).stdout)).not.toBe(own)
    })
  )
})
