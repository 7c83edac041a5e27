import { execFile, spawn, type ChildProcess } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { text } from "node:stream/consumers"
import type { ClientChannel } from "ssh2"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { version } from "@atelier/agent"
import { isBuilt } from "../../../test/run/built.js"
import { tellsRejection } from "../../../test/run/compiledCode.js"
import * as ProcessTree from "../src/scripts/ProcessTree.js"
import { until } from "./Advancing.js"
import { connect } from "./ssh/connect.js"
import { aScript, folder, serve, type TestServer } from "./TestServer.js"

/** What is installed; `npm test` builds it before. */
const program = fileURLToPath(new URL("../dist/program.cjs", import.meta.url))

/** What workspaces on other machines download. */
const download = fileURLToPath(new URL("../dist/download.mjs", import.meta.url))

/** Starts the program as an engine does: as the leader of a process group of its own. */
const launch = (server: TestServer, file = program) =>
  Effect.gen(function* () {
    const home = yield* folder
    const exit = yield* Deferred.make<number | NodeJS.Signals | null>()
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const child = spawn(process.execPath, [file], {
          detached: true,
          stdio: "ignore",
          env: {
            PATH: process.env["PATH"],
            HOME: home,
            SHELL: "/bin/sh",
            SERVICE_AGENT_URL: server.url.href,
            SERVICE_AGENT_TOKEN: "the-token"
          }
        })
        child.once("exit", (code, signal) => Deferred.unsafeDone(exit, Effect.succeed(code ?? signal)))
        return child
      }),
      (child) => Effect.sync(() => killGroup(child))
    )
    return { agent, home, exit: Deferred.await(exit) }
  })

const killGroup = ({ exitCode, pid, signalCode }: ChildProcess) => {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, "SIGKILL")
}

const askGroup = ({ pid }: ChildProcess) => {
  if (pid !== undefined) process.kill(-pid, "SIGTERM")
}

const isAlive = (id: number): boolean => ProcessTree.members({ root: id, isMark: () => false }).includes(id)

const idsFrom = (server: TestServer, script: { readonly log_source_id: Uint8Array }) =>
  server.lines(script.log_source_id).map(({ output }) => Number(output))

describe.skipIf(!isBuilt(program))("the program", () => {
  it.scopedLive("shuts the workspace down when it gets SIGTERM", () =>
    Effect.gen(function* () {
      const stop = aScript("echo stopped", { run_on_start: false, run_on_stop: true })
      const server = yield* serve({ manifest: { scripts: [stop] } })
      const { agent, exit } = yield* launch(server)
      yield* server.until(() => server.states().includes("READY"))
      agent.kill("SIGTERM")
      expect(yield* exit).toBe(0)
      expect(server.states()).toStrictEqual(["STARTING", "READY", "SHUTTING_DOWN", "OFF"])
      expect(server.lines(stop.log_source_id)).toStrictEqual([{ level: "INFO", output: "stopped" }])
    })
  )

  it.scopedLive.each([program, download])("serves SSH as %s", (file) =>
    Effect.gen(function* () {
      const server = yield* serve({})
      yield* launch(server, file)
      yield* server.until(() => server.states().includes("READY"))
      const client = yield* connect(yield* Effect.fromNullable(server.session()))
      const channel = yield* Effect.async<ClientChannel, Error>((resume) => {
        client.exec("echo here", (error, opened) => resume(error === undefined ? Effect.succeed(opened) : Effect.fail(error)))
      })
      const output = yield* Effect.promise(() => text(channel))
      expect(output).toBe("here\n")
    })
  )

  it.scopedLive("runs its stop scripts although its process group is asked to end again and again", () =>
    Effect.gen(function* () {
      const left = aScript("trap 'sleep 0.1; exit 0' TERM; echo $$; while [ ! -e go ]; do sleep 0.02; done")
      const stop = aScript("echo $$; while [ ! -e go ]; do sleep 0.02; done; echo stopped", { run_on_start: false, run_on_stop: true })
      const server = yield* serve({ manifest: { scripts: [left, stop] } })
      const { agent, exit, home } = yield* launch(server)
      yield* server.until(() => server.lines(left.log_source_id).length === 1)
      askGroup(agent)
      yield* server.until(() => server.lines(stop.log_source_id).length === 1)
      askGroup(agent)
      yield* Effect.sync(() => writeFileSync(join(home, "go"), ""))
      expect(yield* exit).toBe(0)
      expect(server.states()).toStrictEqual(["STARTING", "SHUTTING_DOWN", "OFF"])
      expect(server.lines(stop.log_source_id)[1]).toStrictEqual({ level: "INFO", output: "stopped" })
    })
  )

  it.scopedLive("ends at once when it gets SIGINT while it shuts down, and its scripts with it", () =>
    Effect.gen(function* () {
      const stop = aScript("echo $$; exec sleep 1000", { run_on_start: false, run_on_stop: true })
      const server = yield* serve({ manifest: { scripts: [stop] } })
      const { agent, exit } = yield* launch(server)
      yield* server.until(() => server.states().includes("READY"))
      agent.kill("SIGTERM")
      yield* server.until(() => idsFrom(server, stop).length === 1)
      agent.kill("SIGINT")
      expect(yield* exit).toBe(130)
      yield* until(() => !idsFrom(server, stop).some(isAlive))
    })
  )

  it.scopedLive("dies with everything its scripts started when its process group is killed", () =>
    Effect.gen(function* () {
      const left = aScript("sh -c 'sleep 1000; true' >/dev/null 2>&1 & echo $!")
      const running = aScript("echo $$; exec sleep 1000")
      const server = yield* serve({ manifest: { scripts: [left, running] } })
      const { agent, exit } = yield* launch(server)
      yield* server.until(() => idsFrom(server, left).length === 1 && idsFrom(server, running).length === 1)
      killGroup(agent)
      expect(yield* exit).toBe("SIGKILL")
      yield* until(() => ![...idsFrom(server, left), ...idsFrom(server, running)].some(isAlive))
    })
  )

  it.each(["program.cjs", "download.mjs"])("names a Node that is too old before anything else: %s", async (name) => {
    const old = `data:text/javascript,Object.defineProperty(process.versions, "node", { value: "20.18.3" })`
    const file = fileURLToPath(new URL(`../dist/${name}`, import.meta.url))
    // Without the variables that it would ask for next
    const started = promisify(execFile)(process.execPath, ["--import", old, file], { env: {} })
    await expect(started).rejects.toMatchObject({ code: 1, stderr: "Node.js 20.18.3 is too old: the agent needs >=20.19\n" })
  })

  it.each([
    ["by engines of this project", [], ""],
    ["for less memory", ["--max-semi-space-size=1"], ""],
    ["with sizes in the environment", ["--min-semi-space-size=1"], "--max_semi_space_size=8"]
  ])("takes the compiled code that the build kept, started %s", async (_, flags, variable) => {
    const env = { ...process.env, NODE_OPTIONS: variable }
    const { stderr } = await promisify(execFile)(process.execPath, [...flags, tellsRejection, program, "--version"], { env })
    expect(stderr).toBe("rejected: false\n")
  })

  it("says its version", async () => {
    expect((await promisify(execFile)(process.execPath, [program, "--version"])).stdout).toBe(`v${version}\n`)
  })
})
