import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import type { AgentMessages } from "@atelier/agent-protocol"
import { limitNotice, maximumBytes } from "../../src/reports/LogQueue.js"
import { until } from "../Advancing.js"
import { aScript, runAgent, serve } from "../TestServer.js"

/** Runs a workspace with these scripts until it has a state behind `STARTING`, and answers what came of it. */
const started = (scripts: ReadonlyArray<AgentMessages.WorkspaceAgentScript>) =>
  Effect.gen(function* () {
    const server = yield* serve({ manifest: { scripts, workspace_name: "dev", agent_name: "main", owner_username: "ann" } })
    const agent = yield* runAgent(server)
    yield* server.until(() => server.states().length === 2)
    return { server, ...agent }
  })

const outputs = (server: Effect.Effect.Success<ReturnType<typeof serve>>, script: AgentMessages.WorkspaceAgentScript) =>
  server.lines(script.log_source_id).map(({ output }) => output)

describe("start scripts", () => {
  it.scopedLive("run side by side, whether they block a login or not", () =>
    Effect.gen(function* () {
      // Neither ends before the other has begun.
      const meet = (mine: string, other: string) => `touch ${mine}; while [ ! -e ${other} ]; do sleep 0.02; done`
      const { server } = yield* started([
        aScript(meet("a", "b"), { start_blocks_login: true }),
        aScript(meet("b", "a"), { start_blocks_login: false })
      ])
      expect(server.states()).toStrictEqual(["STARTING", "READY"])
    })
  )

  it.scopedLive("that fail make a start error, also when others take too long", () =>
    Effect.gen(function* () {
      const failing = aScript("exit 3")
      const slow = aScript("sleep 1000", { timeout: { seconds: 0, nanos: 200_000_000 } })
      const { server } = yield* started([failing, slow, aScript("true")])
      expect(server.states()).toStrictEqual(["STARTING", "START_ERROR"])
      yield* server.until(() => server.of("ScriptCompleted").length >= 3)
      const timings = server.of("ScriptCompleted").flatMap(({ request: { timing } }) => (timing === undefined ? [] : [timing]))
      const ended = (script: AgentMessages.WorkspaceAgentScript) =>
        timings.find((timing) => Buffer.compare(timing.script_id, script.id) === 0)
      expect(ended(failing)).toMatchObject({ status: "EXIT_FAILURE", exit_code: 3, stage: "START" })
      expect(ended(slow)).toMatchObject({ status: "TIMED_OUT", stage: "START" })
      for (const { end, start } of timings)
        expect((end?.seconds ?? 0) * 1e9 + (end?.nanos ?? 0)).toBeGreaterThanOrEqual((start?.seconds ?? 0) * 1e9 + (start?.nanos ?? 0))
      yield* server.until(() => outputs(server, slow).length > 0)
      expect(outputs(server, slow)).toStrictEqual(["The script took too long and was killed."])
    })
  )

  it.scopedLive("that take too long make a start timeout", () =>
    Effect.gen(function* () {
      const { server } = yield* started([aScript("sleep 1000", { timeout: { seconds: 0, nanos: 200_000_000 } })])
      expect(server.states()).toStrictEqual(["STARTING", "START_TIMEOUT"])
    })
  )

  it.scopedLive("know which workspace they belong to, but not the agent's token", () =>
    Effect.gen(function* () {
      const script = aScript("env")
      const { server } = yield* started([script])
      yield* server.until(() => outputs(server, script).length > 0)
      const lines = outputs(server, script)
      expect(lines).toEqual(
        expect.arrayContaining([
          "SERVICE=true",
          "SERVICE_WORKSPACE_NAME=dev",
          "SERVICE_WORKSPACE_OWNER_NAME=ann",
          "SERVICE_WORKSPACE_AGENT_NAME=main"
        ])
      )
      expect(lines.filter((line) => line.includes("the-token"))).toStrictEqual([])
    })
  )

  it.scopedLive("write what they output into their log file, too", () =>
    Effect.gen(function* () {
      const relative = aScript("printf 'a\\nb'", { log_path: "script.log" })
      const { home } = yield* started([relative, aScript("echo c", { log_path: "~/deep/er.log" })])
      yield* until(() => readFileSync(join(home, "script.log"), "utf8") === "a\nb")
      yield* until(() => readFileSync(join(home, "deep", "er.log"), "utf8") === "c\n")
      expect(statSync(join(home, "script.log")).mode & 0o777).toBe(0o600)
    })
  )

  it.scopedLive("do not write their log file through a link in a shared folder", () =>
    Effect.gen(function* () {
      const first = aScript('ln -s "$HOME/precious" "$HOME/linked.log"')
      const { home, stop } = yield* started([first])
      yield* stop
      expect(existsSync(join(home, "precious"))).toBe(false)
      const script = aScript("echo x", { log_path: "linked.log" })
      const server = yield* serve({ manifest: { scripts: [script] } })
      yield* runAgent(server, { homeDirectory: home, logDirectory: home })
      yield* server.until(() => outputs(server, script).length === 2)
      expect(outputs(server, script)[0]).toContain("cannot be written")
      expect(existsSync(join(home, "precious"))).toBe(false)
    })
  )

  it.scopedLive("that write without end are cut off at the limit, with one notice", () =>
    Effect.gen(function* () {
      const script = aScript("yes 'a line of forty characters, more or less' | head -c 3000000; echo done")
      const other = aScript('while [ ! -e "$HOME/go" ]; do sleep 0.02; done; echo late')
      const server = yield* serve({ manifest: { scripts: [script, other] } })
      const { home } = yield* runAgent(server)
      yield* server.until(() => outputs(server, script).includes(limitNotice))
      yield* Effect.sync(() => writeFileSync(join(home, "go"), ""))
      yield* server.until(() => server.states().includes("READY"))
      const lines = outputs(server, script)
      expect(lines.filter((line) => line === limitNotice)).toHaveLength(1)
      expect(lines.at(-1)).toBe(limitNotice)
      const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0)
      expect(bytes).toBeLessThanOrEqual(maximumBytes)
      expect(bytes).toBeGreaterThan(maximumBytes - 2048)
      expect(outputs(server, other)).toStrictEqual([])
    })
  )

  it.scopedLive("are not heard any more when the server has had enough", () =>
    Effect.gen(function* () {
      let batches = 0
      const script = aScript("yes | head -n 5000; echo done >&2")
      const server = yield* serve({
        manifest: { scripts: [script] },
        handlers: {
          BatchCreateLogs: () =>
            Effect.sync(() => {
              batches += 1
              return { log_limit_exceeded: true }
            })
        }
      })
      const { stop } = yield* runAgent(server)
      yield* server.until(() => server.states().includes("READY"))
      yield* stop
      expect(batches).toBe(1)
    })
  )

  it.scopedLive("may answer bytes that are not text", () =>
    Effect.gen(function* () {
      const script = aScript(String.raw`printf '\377\376ok\0\n'`)
      const { server } = yield* started([script])
      yield* server.until(() => outputs(server, script).length === 1)
      expect(outputs(server, script)).toStrictEqual(["\uFFFD\uFFFDok\uFFFD"])
    })
  )
})

describe("scheduled scripts", () => {
  it.scopedLive("run after the start, at their times", () =>
    Effect.gen(function* () {
      const script = aScript("echo tick", { run_on_start: false, cron: "* * * * * *" })
      const server = yield* serve({ manifest: { scripts: [script] } })
      yield* runAgent(server)
      yield* server.until(() => server.of("ScriptCompleted").length >= 2)
      const [first, second] = server.of("ScriptCompleted").map(({ request }) => request.timing?.stage)
      expect([first, second]).toStrictEqual(["CRON", "CRON"])
      expect(server.states()).toStrictEqual(["STARTING", "READY"])
    })
  )

  it.scopedLive("with a schedule that cannot be read say so in their log", () =>
    Effect.gen(function* () {
      const script = aScript("true", { run_on_start: false, cron: "often" })
      const { server } = yield* started([script])
      yield* server.until(() => outputs(server, script).length === 1)
      expect(outputs(server, script)[0]).toContain('"often" cannot be read')
    })
  )
})

describe("a shutdown", () => {
  it.scopedLive("runs the stop scripts and delivers everything before the connection ends", () =>
    Effect.gen(function* () {
      const script = aScript("seq 1 1000", { run_on_start: false, run_on_stop: true })
      const { server, stop } = yield* started([script])
      yield* stop
      expect(server.states()).toStrictEqual(["STARTING", "READY", "SHUTTING_DOWN", "OFF"])
      expect(outputs(server, script).map(Number)).toStrictEqual(Array.from({ length: 1000 }, (_, index) => index + 1))
      expect(server.of("ScriptCompleted").map(({ request }) => request.timing?.stage)).toStrictEqual(["STOP"])
    })
  )

  it.scopedLive("runs the stop scripts, but does not go on for a server that takes the token no more", () =>
    Effect.gen(function* () {
      const { home, server, stop } = yield* started([aScript("touch stopped", { run_on_start: false, run_on_stop: true })])
      yield* server.refuse
      const [duration] = yield* Effect.timed(stop)
      expect(existsSync(join(home, "stopped"))).toBe(true)
      expect(server.states()).toStrictEqual(["STARTING", "READY"])
      // It goes on for half a minute for a server that is away
      expect(Duration.lessThan(duration, "25 seconds")).toBe(true)
    })
  )

  it.scopedLive("says when a stop script failed or took too long", () =>
    Effect.gen(function* () {
      const onStop = { run_on_start: false, run_on_stop: true }
      const failing = yield* started([aScript("exit 1", onStop)])
      const slow = yield* started([aScript("sleep 1000", { ...onStop, timeout: { seconds: 0, nanos: 200_000_000 } })])
      yield* failing.stop
      yield* slow.stop
      expect(failing.server.states().at(-1)).toBe("SHUTDOWN_ERROR")
      expect(slow.server.states().at(-1)).toBe("SHUTDOWN_TIMEOUT")
    })
  )

  it.scopedLive("ends the start scripts that still run, and what others left behind", () =>
    Effect.gen(function* () {
      const left = aScript("sleep 1000 >/dev/null 2>&1 & echo $!")
      const long = aScript("echo $$; exec sleep 1000")
      const server = yield* serve({ manifest: { scripts: [left, long] } })
      const { stop } = yield* runAgent(server)
      yield* server.until(() => outputs(server, left).length === 1 && outputs(server, long).length === 1)
      const ids = [...outputs(server, left), ...outputs(server, long)].map(Number)
      yield* stop
      expect(server.states()).toStrictEqual(["STARTING", "SHUTTING_DOWN", "OFF"])
      expect(
        ids.filter((pid) => existsSync(`/proc/${pid}/stat`) && !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8")))
      ).toStrictEqual([])
    })
  )
})
