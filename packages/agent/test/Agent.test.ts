import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { RpcError } from "@atelier/agent-protocol"
import { Deferred, Effect, Exit, Logger } from "effect"
import { Agent } from "@atelier/agent"
import { version } from "../src/Version.js"
import { aConfig, aScript, folder, runAgent, serve } from "./TestServer.js"

it.scopedLive("an agent authenticates, says who it is and runs the start scripts, whose output arrives in order", () =>
  Effect.gen(function* () {
    const script = aScript("for i in $(seq 1 2500); do echo line $i; done; echo wrong >&2")
    const server = yield* serve({ manifest: { scripts: [script], directory: "$HOME/project" } })
    const { home } = yield* runAgent(server)
    yield* server.until(() => server.states().includes("READY") && server.of("ScriptCompleted").length >= 1)
    yield* server.until(() => server.lines(script.log_source_id).length === 2501)

    const [upgrade] = server.upgrades
    expect(upgrade?.url).toBe("/base/api/v2/workspaceagents/me/rpc?version=2.8&role=agent&streams=3&tokens=2")
    expect(upgrade?.headers["service-session-token"]).toBe("the-token")
    expect(server.of("UpdateStartup").map(({ request }) => request.startup)).toStrictEqual([
      { version: `v${version}`, expanded_directory: join(home, "project"), subsystems: [] }
    ])
    expect(existsSync(join(home, "project"))).toBe(true)
    expect(server.states()).toStrictEqual(["STARTING", "READY"])
    const lines = server.lines(script.log_source_id)
    expect(lines.filter(({ level }) => level === "INFO").map(({ output }) => output)).toStrictEqual(
      Array.from({ length: 2500 }, (_, index) => `line ${index + 1}`)
    )
    expect(lines.filter(({ level }) => level === "ERROR")).toStrictEqual([{ output: "wrong", level: "ERROR" }])
    const timing = server.of("ScriptCompleted")[0]?.request.timing
    expect(timing).toMatchObject({ exit_code: 0, stage: "START", status: "OK" })
    expect(timing?.script_id).toStrictEqual(new Uint8Array(script.id))
  })
)

it.scopedLive("a token that is refused at first is tried again", () =>
  Effect.gen(function* () {
    const server = yield* serve({ refusals: 3 })
    yield* runAgent(server)
    yield* server.until(() => server.states().includes("READY"))
    expect(server.upgrades.length).toBe(4)
  })
)

it.scopedLive("a server with a name below localhost is reached, although the resolver does not know it", () =>
  Effect.gen(function* () {
    const server = yield* serve({})
    yield* runAgent({ ...server, url: new URL(server.url.href.replace("127.0.0.1", "dev.localhost")) })
    yield* server.until(() => server.states().includes("READY"))
    expect(server.upgrades[0]?.headers.host).toMatch(/^dev\.localhost:/)
  })
)

it.scopedLive("a server whose name does not resolve is named in the log, with the reason", () =>
  Effect.gen(function* () {
    const said = yield* Deferred.make<string>()
    const logger = Logger.make(({ message }) => Deferred.unsafeDone(said, Exit.succeed([message].flat().join(" "))))
    const agent = Agent.run(aConfig(new URL("http://nowhere.invalid"), yield* folder))
    yield* Effect.forkScoped(Effect.provide(agent, Logger.replace(Logger.defaultLogger, logger)))
    expect(yield* Deferred.await(said)).toMatch(
      /^Not connected to nowhere\.invalid: host name not found: getaddrinfo E\w+ nowhere\.invalid$/
    )
  })
)

it.scopedLive(
  "an agent whose token is that of another agent, since its workspace was claimed, begins again with the manifest of that agent",
  () =>
    Effect.gen(function* () {
      const [before, after] = [aScript(`echo warm`), aScript(`echo claimed`)]
      const stop = aScript("echo bye", { run_on_start: false, run_on_stop: true })
      let isClaimed = false
      const server = yield* serve({
        handlers: {
          GetManifest: () =>
            Effect.sync(() =>
              isClaimed
                ? { agent_id: new Uint8Array(16).fill(2), scripts: [after] }
                : { agent_id: new Uint8Array(16).fill(1), scripts: [before, stop] }
            )
        }
      })
      yield* runAgent(server)
      yield* server.until(() => server.states().includes("READY"))
      // A connection that comes and goes changes nothing
      yield* server.crash
      yield* server.resume
      yield* server.until(() => server.of("UpdateStartup").length >= 2)
      isClaimed = true
      yield* server.crash
      yield* server.resume
      // States and lines whose answer was cut off are sent again
      const states = () => server.states().filter((state, at, all) => state !== all[at - 1])
      yield* server.until(() => states().length === 6 && server.lines(after.log_source_id).length > 0)
      expect(states()).toStrictEqual(["STARTING", "READY", "SHUTTING_DOWN", "OFF", "STARTING", "READY"])
      const outputs = [before, stop, after].map(({ log_source_id }) => server.lines(log_source_id).map(({ output }) => output))
      expect(outputs.map((lines) => [...new Set(lines)])).toStrictEqual([["warm"], ["bye"], ["claimed"]])
    })
)

it.scopedLive("when the server dies in the middle, no line is lost and no script runs twice", () =>
  Effect.gen(function* () {
    const script = aScript(`echo run >> "$HOME/runs"; for i in $(seq 1 300); do echo $i; done
while [ ! -e "$HOME/go" ]; do sleep 0.02; done; for i in $(seq 301 3000); do echo $i; done`)
    const server = yield* serve({ manifest: { scripts: [script] } })
    const { home } = yield* runAgent(server)
    const outputs = () => server.lines(script.log_source_id).map(({ output }) => Number(output))
    yield* server.until(() => outputs().length > 0)
    yield* server.crash
    const seen = server.upgrades.length
    yield* Effect.sync(() => writeFileSync(join(home, "go"), ""))
    // At least one attempt to come back is refused.
    yield* server.until(() => server.upgrades.length > seen)
    yield* server.resume
    yield* server.until(() => outputs().includes(3000) && server.states().includes("READY"))
    yield* server.until(() => server.of("ScriptCompleted").length > 0)
    expect(Array.from(new Set(outputs()))).toStrictEqual(Array.from({ length: 3000 }, (_, index) => index + 1))
    expect(readFileSync(join(home, "runs"), "utf8")).toBe("run\n")
    expect(server.of("UpdateStartup").length).toBe(2)
    expect(server.states()).toStrictEqual(["STARTING", "READY"])
  })
)

it.scopedLive("when the server takes lines but dies before it says so, they are sent again, in order", () =>
  Effect.gen(function* () {
    const script = aScript("seq 1 500")
    const arrived: Array<number> = []
    let crash: Effect.Effect<void> = Effect.void
    const server = yield* serve({
      manifest: { scripts: [script] },
      handlers: {
        BatchCreateLogs: ({ logs }) =>
          Effect.suspend(() => {
            const isFirst = arrived.length === 0
            arrived.push(...logs.map(({ output }) => Number(output)))
            return isFirst ? Effect.zipRight(crash, Effect.never) : Effect.succeed({})
          })
      }
    })
    crash = Effect.zipRight(server.crash, server.resume)
    const { stop } = yield* runAgent(server)
    yield* server.until(() => server.of("UpdateStartup").length >= 2 && server.states().includes("READY"))
    yield* stop
    const last = arrived.lastIndexOf(1)
    expect(last).toBeGreaterThan(0)
    expect(arrived.slice(last)).toStrictEqual(Array.from({ length: 500 }, (_, index) => index + 1))
  })
)

it.scopedLive("lines that the server refuses for now are not lost", () =>
  Effect.gen(function* () {
    const script = aScript("seq 1 500")
    const arrived: Array<number> = []
    let failures = 2
    const server = yield* serve({
      manifest: { scripts: [script] },
      handlers: {
        BatchCreateLogs: ({ logs }) =>
          Effect.suspend(() => {
            failures -= 1
            if (failures >= 0) return new RpcError({ code: 0, message: "the store is away" })
            arrived.push(...logs.map(({ output }) => Number(output)))
            return Effect.succeed({})
          })
      }
    })
    const { stop } = yield* runAgent(server)
    yield* server.until(() => server.states().includes("READY"))
    yield* stop
    expect(arrived).toStrictEqual(Array.from({ length: 500 }, (_, index) => index + 1))
  })
)
