import { createServer } from "node:http"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { RpcError, type AgentMessages } from "@atelier/agent-protocol"
import { afterCheck, type AppState } from "../../src/reports/AppHealth.js"
import { mayFollow, type State } from "../../src/reports/Lifecycle.js"
import { id, runAgent, serve } from "../TestServer.js"

/** A manifest carries seconds as nanoseconds. */
const described = (key: string, script: string, interval: number, timeout: number): AgentMessages.MetadataDescription => ({
  key,
  display_name: key,
  script,
  interval: { seconds: 0, nanos: interval },
  timeout: { seconds: 0, nanos: timeout }
})

describe("metadata", () => {
  it.scopedLive("are collected in their intervals and cut to what the server stores", () =>
    Effect.gen(function* () {
      const server = yield* serve({
        manifest: {
          metadata: [
            described("now", "echo run >> runs; wc -l < runs", 1, 5),
            described("once", "echo '  spaces  '", 0, 5),
            described("wrong", "echo partly; echo broken >&2; exit 4", 60, 5),
            described("long", "head -c 3000 /dev/zero | tr '\\0' x", 60, 5),
            described("slow", "sleep 1000", 60, 1)
          ]
        }
      })
      yield* runAgent(server)
      const results = (key: string) =>
        server
          .of("BatchUpdateMetadata")
          .flatMap(({ request }) =>
            request.metadata.flatMap((metadata) =>
              metadata.key === key ? [{ value: metadata.result?.value, error: metadata.result?.error }] : []
            )
          )
      yield* server.until(() => results("now").length >= 3 && results("slow").length >= 1)
      // A value that is not sent in time is replaced by the next one.
      const counts = results("now").map(({ value }) => Number(value))
      expect(counts[0]).toBe(1)
      expect(counts).toStrictEqual(Array.from(new Set(counts)).toSorted((a, b) => a - b))
      expect(results("once")).toStrictEqual([{ value: "spaces", error: "" }])
      expect(results("wrong")).toStrictEqual([{ value: "partly", error: "exit status 4: broken" }])
      expect(results("long")).toStrictEqual([{ value: "x".repeat(2048), error: "the value has 3000 bytes, 2048 are kept" }])
      expect(results("slow")).toStrictEqual([{ value: "", error: "timed out after 1s" }])
    })
  )
})

describe("the health of an app", () => {
  it("fails after more failed checks in a row than the threshold, and recovers after one success", () => {
    const step = (state: AppState, succeeded: boolean) => afterCheck(state, succeeded, 2)
    const initial: AppState = { health: "INITIALIZING", failures: 0 }
    const healths = (checks: ReadonlyArray<boolean>) => {
      let state = initial
      return checks.map((succeeded) => (state = step(state, succeeded)).health)
    }
    expect(healths([false, false, false, true, false, false, true])).toStrictEqual([
      "INITIALIZING",
      "INITIALIZING",
      "UNHEALTHY",
      "HEALTHY",
      "HEALTHY",
      "HEALTHY",
      "HEALTHY"
    ])
  })

  it.scopedLive("is reported when it changes", () =>
    Effect.gen(function* () {
      let status = 503
      const app = yield* Effect.acquireRelease(
        Effect.async<ReturnType<typeof createServer>>((resume) => {
          const http = createServer((_, response) => response.writeHead(status).end())
          http.listen(0, "127.0.0.1", () => resume(Effect.succeed(http)))
        }),
        (http) => Effect.sync(() => http.close())
      )
      const address = app.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const watched = id()
      const checked = (appId: Uint8Array, url: string) => ({
        id: appId,
        health: "INITIALIZING" as const,
        healthcheck: { url, interval: { seconds: 0, nanos: 500_000_000 }, threshold: 1 }
      })
      const nowhere = id()
      const server = yield* serve({
        manifest: { apps: [checked(watched, `http://127.0.0.1:${port}/`), checked(nowhere, "not a url"), { id: id(), health: "DISABLED" }] }
      })
      yield* runAgent(server)
      // On a busy machine, an answer may come too late for a check, and the health changes more often
      const of = (appId: Uint8Array) =>
        server
          .of("BatchUpdateAppHealths")
          .flatMap(({ request }) => request.updates.filter((update) => Buffer.compare(update.id, appId) === 0).map(({ health }) => health))
      yield* server.until(() => of(watched).at(-1) === "UNHEALTHY")
      status = 404
      yield* server.until(() => of(watched).at(-1) === "HEALTHY")
      status = 500
      yield* server.until(() => of(watched).at(-1) === "UNHEALTHY")
      expect(of(nowhere)).toStrictEqual(["UNHEALTHY"])
    })
  )
})

describe("statistics", () => {
  it.scopedLive("are asked for first, then say what went through the connection since the last ones", () =>
    Effect.gen(function* () {
      const server = yield* serve({})
      yield* runAgent(server)
      yield* server.until(() => server.of("UpdateStats").length >= 3)
      const [asked, first, second] = server.of("UpdateStats").map(({ request }) => request.stats)
      expect(asked).toBeUndefined()
      expect(first?.rx_bytes).toBeGreaterThan(0)
      expect(first?.tx_bytes).toBeGreaterThan(second?.tx_bytes ?? 0)
      expect(second?.tx_bytes).toBeGreaterThan(0)
      expect(second).toMatchObject({ connection_count: 0, session_count_ssh: 0 })
      expect(second?.metrics.map(({ name }) => name)).toStrictEqual(["agent_uptime_seconds", "agent_resident_memory_bytes"])
    })
  )
})

describe("the lifecycle", () => {
  it("never goes backwards", () => {
    const order: ReadonlyArray<State> = [
      "CREATED",
      "STARTING",
      "START_TIMEOUT",
      "START_ERROR",
      "READY",
      "SHUTTING_DOWN",
      "SHUTDOWN_TIMEOUT",
      "SHUTDOWN_ERROR",
      "OFF"
    ]
    for (const [from, current] of order.entries())
      for (const [to, next] of order.entries()) expect(mayFollow(current, next)).toBe(to > from)
  })

  it.scopedLive("is reported again until the server takes it", () =>
    Effect.gen(function* () {
      const states: Array<AgentMessages.LifecycleState | undefined> = []
      let failures = 2
      const server = yield* serve({
        handlers: {
          UpdateLifecycle: ({ lifecycle }) =>
            Effect.suspend(() => {
              states.push(lifecycle?.state)
              failures -= 1
              return failures >= 0 ? new RpcError({ code: 0, message: "the store is away" }) : Effect.succeed({})
            })
        }
      })
      const { stop } = yield* runAgent(server)
      yield* server.until(() => server.of("UpdateStats").length > 0)
      yield* stop
      expect(states).toStrictEqual(["STARTING", "STARTING", "STARTING", "READY", "SHUTTING_DOWN", "OFF"])
    })
  )

  it.scopedLive("does not begin while the server has no manifest for the agent", () =>
    Effect.gen(function* () {
      let failures = 1
      const server = yield* serve({
        handlers: {
          GetManifest: () =>
            Effect.suspend(() => {
              failures -= 1
              return failures >= 0 ? new RpcError({ code: 0, message: "not yet" }) : Effect.succeed({})
            })
        }
      })
      yield* runAgent(server)
      yield* server.until(() => server.states().includes("READY"))
      expect(server.upgrades).toHaveLength(2)
    })
  )
})
