import { watch, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { call } from "../machine/machineClient.js"
import { aConfig, folder, runAgent, serve } from "../TestServer.js"

it.scopedLive("an agent that waits for a user runs a command for itself, which no list and no report has", () =>
  Effect.gen(function* () {
    const programs = yield* folder
    const runs = join(programs, "runs")
    writeFileSync(runs, "")
    writeFileSync(join(programs, "true"), `#!/bin/sh\necho run >>${runs}\n`, { mode: 0o700 })
    const server = yield* serve({ handlers: { GetManifest: () => Effect.succeed({ owner_username: "prebuilds" }) } })
    const { environment } = aConfig(server.url, programs)
    const path = [programs, environment["PATH"]].join(delimiter)
    yield* runAgent(server, { environment: { ...environment, PATH: path } })
    yield* server.until(() => server.states().includes("READY"))
    const told = server.calls.length

    const lines = Effect.map(
      Effect.promise(() => readFile(runs, "utf8")),
      (text) => text.split("\n").length - 1
    )
    const change = Effect.async<void>((resume) => {
      const watcher = watch(runs, () => resume(Effect.void))
      return Effect.sync(() => watcher.close())
    })
    while ((yield* lines) < 3) yield* Effect.timeoutOption(change, "100 millis")

    const session = yield* Effect.fromNullable(server.session())
    expect(yield* call(session, "GET", "/processes")).toStrictEqual({ status: 200, body: { processes: [] } })
    expect(server.calls.slice(told).map(({ method }) => method)).not.toContain("BatchCreateLogs")
    expect(server.upgrades).toHaveLength(1)
  })
)
