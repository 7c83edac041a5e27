import {
  type AgentMessages,
  Packet,
  type TailnetMessages,
  Timestamp as ProtocolTimestamp,
  Uuid as ProtocolUuid
} from "@atelier/agent-protocol"
import { Duration, Effect, Either, Metric, Option, Schema, Stream } from "effect"
import { expect, it } from "vitest"
import { anApp } from "../../../../test/records/resources.js"
import { aBuild } from "../../../../test/records/agentWorkspaces.js"
import { describeAgentsOnEach, type RunningAgent, type TestSocket } from "./AgentServer.js"

const bytesOf = (uuid: string): Uint8Array => Option.getOrThrow(ProtocolUuid.toBytes(uuid))
const second = (seconds: number): ProtocolTimestamp.Timestamp =>
  ProtocolTimestamp.fromMillis(Date.parse("2026-01-01T00:00:00Z") + seconds * 1000)
const instant = (seconds: number): string => new Date(Date.parse("2026-01-01T00:00:00Z") + seconds * 1000).toISOString()

/** What a metric has counted with a label of a value. */
const countedOf = (name: string, label: string): ReadonlyArray<object> =>
  Metric.unsafeSnapshot().flatMap(({ metricKey, metricState }) =>
    metricKey.name === name && metricKey.tags.some(({ value }) => value === label) ? [metricState] : []
  )

const Level = Schema.Struct({ count: Schema.Number })
const Durations = Schema.Struct({ count: Schema.Number, sum: Schema.Number })

/** The state of a metric's only series, which there may not be yet. */
const decoded = <A, I>(schema: Schema.Schema<A, I>, [state = { count: 0, sum: 0 }]: ReadonlyArray<object>): A =>
  Schema.decodeUnknownSync(schema)(state)

const script = {
  display_name: "Startup Script",
  icon: "",
  script: "echo hello",
  cron: "",
  start_blocks_login: true,
  run_on_start: true,
  run_on_stop: false,
  timeout_seconds: 5,
  log_path: "startup.log"
}

describeAgentsOnEach(
  "an agent's connection",
  (server, once) => {
    const get = async ({ id }: RunningAgent) =>
      (await server().call("GET", `/workspaceagents/${id}`, { token: server().owner().token })).body
    const run = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => Effect.runPromise(effect)
    const refusal = <A, E>(effect: Effect.Effect<A, E>): Promise<E> => Effect.runPromise(Effect.flip(effect))

    once("makes the agent connected at once, and disconnected as soon as it ends", async () => {
      const agent = await server().anAgent()
      const connection = await server().connect(agent.token, "?version=2.11&role=agent&version=2.11&role=agent")
      await run(connection.agent.GetManifest({}))
      expect(await get(agent)).toMatchObject({ status: "connected", health: { healthy: true }, first_connected_at: expect.any(String) })
      await connection.close()
      await expect
        .poll(() => get(agent))
        .toMatchObject({ status: "disconnected", health: { healthy: false, reason: "agent has lost connection" } })
      const { disconnected_at, last_connected_at } = Schema.decodeUnknownSync(
        Schema.Struct({ disconnected_at: Schema.String, last_connected_at: Schema.String })
      )(await get(agent))
      expect(disconnected_at >= last_connected_at).toBe(true)
    })

    once("in another role than the agent's changes nothing of that", async () => {
      const agent = await server().anAgent()
      const connection = await server().connect(agent.token, "?role=other")
      await run(connection.agent.GetManifest({}))
      expect(await get(agent)).toMatchObject({ status: "connecting" })
      await connection.close()
    })

    once("is refused over HTTP in a version that is not served", async () => {
      const { token } = await server().anAgent()
      const refused = await server().socket("/workspaceagents/me/rpc?version=99.0", token).refused
      expect(refused).toMatchObject({
        status: 400,
        body: { message: "Unknown or unsupported API version", validations: [{ field: "version" }] }
      })
      for (const version of ["1.0", "2.12", "2", "x"]) {
        expect((await server().socket(`/workspaceagents/me/rpc?version=${version}`, token).refused).status).toBe(400)
      }
      expect((await server().socket("/workspaceagents/me/rpc", server().owner().token).refused).status).toBe(401)
      expect((await server().call("GET", "/workspaceagents/me/rpc", { token })).status).toBe(426)
    })

    once("ends with a text message", async () => {
      const { token } = await server().anAgent()
      const socket = server().socket("/workspaceagents/me/rpc", token)
      await expect(socket.refused).rejects.toThrow("opened")
      socket.send("hello")
      expect(await socket.closed).toBe(1003)
    })

    once("receives the agent's manifest", async () => {
      const agent = await server().anAgent({
        directory: "/home/dev",
        environment_variables: { KEY: "value" },
        motd_file: "/etc/motd",
        scripts: [script],
        apps: [anApp({ slug: "web", sharing_level: "public", healthcheck: { url: "http://localhost", interval: 5, threshold: 3 } })],
        metadata: [{ key: "cpu", display_name: "CPU", script: "uptime", interval: 10, timeout: 1, order: 0 }]
      })
      const connection = await server().connect(agent.token)
      const manifest = await run(connection.agent.GetManifest({}))
      expect(manifest).toMatchObject({
        agent_id: bytesOf(agent.id),
        agent_name: "main",
        owner_username: agent.owner.username,
        workspace_id: bytesOf(agent.workspace.id),
        workspace_name: agent.workspace.name,
        directory: "/home/dev",
        motd_path: "/etc/motd",
        environment_variables: new Map([["KEY", "value"]]),
        scripts: [{ display_name: "Startup Script", script: "echo hello", timeout: { seconds: 5, nanos: 0 }, run_on_start: true }],
        apps: [
          {
            slug: "web",
            sharing_level: "PUBLIC",
            health: "INITIALIZING",
            healthcheck: { url: "http://localhost", interval: { seconds: 5, nanos: 0 }, threshold: 3 }
          }
        ],
        metadata: [{ key: "cpu", script: "uptime", interval: { seconds: 0, nanos: 10 }, timeout: { seconds: 0, nanos: 1 } }],
        git_auth_configs: 0,
        vs_code_port_proxy_uri: "",
        secrets: []
      })
      expect(manifest.derp_map?.home_params).toBeDefined()
      expect(manifest.parent_id).toBeUndefined()
      expect(await run(connection.agent.GetServiceBanner({}))).toMatchObject({ enabled: false })
      expect(await run(connection.agent.GetAnnouncementBanners({}))).toMatchObject({ announcement_banners: [] })
      const monitoring = await run(connection.agent.GetResourcesMonitoringConfiguration({}))
      expect(monitoring).toStrictEqual({ config: { num_datapoints: 20, collection_interval_seconds: 10 }, volumes: [] })
      expect(await run(connection.agent.PushResourcesMonitoringUsage({ datapoints: [] }))).toStrictEqual({})
      await connection.close()
    })

    once("is counted as an open WebSocket until it ends", async () => {
      const path = "/api/v2/workspaceagents/me/rpc"
      const open = () => decoded(Level, countedOf("api_concurrent_websockets", path)).count
      const durations = () => decoded(Durations, countedOf("api_websocket_durations_seconds", path))
      const agent = await server().anAgent()
      await expect.poll(open).toBe(0)
      const before = durations()
      const connection = await server().connect(agent.token)
      const opened = performance.now()
      await run(connection.agent.GetManifest({}))
      expect(open()).toBe(1)
      const seconds = (performance.now() - opened) / 1000
      await connection.close()
      await expect.poll(open).toBe(0)
      const after = durations()
      expect(after.count).toBe(before.count + 1)
      expect(after.sum - before.sum).toBeGreaterThanOrEqual(seconds)
    })

    once("tells once how long the build took, however often the agent starts", async () => {
      const agent = await server().anAgent({}, undefined, { template: { name: "observed-once" } })
      const { agent: rpc, close } = await server().connect(agent.token)
      for (const state of ["START_TIMEOUT", "READY", "READY"] as const) await run(rpc.UpdateLifecycle({ lifecycle: { state } }))
      expect(countedOf("template_workspace_build_duration_seconds", "observed-once")).toMatchObject([{ count: 1 }])
      await close()
    })

    once("takes the agent's lifecycle in any order", async () => {
      const agent = await server().anAgent()
      const { agent: rpc, close } = await server().connect(agent.token)
      const report = (state: AgentMessages.LifecycleState, at?: number) =>
        run(rpc.UpdateLifecycle({ lifecycle: { state, ...(at === undefined ? {} : { changed_at: second(at) }) } }))
      expect(await report("STARTING", 1)).toStrictEqual({ state: "STARTING", changed_at: second(1) })
      await report("READY", 2)
      expect(await get(agent)).toMatchObject({ lifecycle_state: "ready", started_at: instant(1), ready_at: instant(2) })
      await report("STARTING", 3)
      const again = await get(agent)
      expect(again).toMatchObject({ lifecycle_state: "starting", started_at: instant(3) })
      expect(again).not.toHaveProperty("ready_at")
      await report("START_TIMEOUT", 4)
      expect(await get(agent)).toMatchObject({ ready_at: instant(4), health: { healthy: true } })
      await report("START_ERROR", 5)
      expect(await get(agent)).toMatchObject({ ready_at: instant(5), health: { healthy: false } })
      const before = Date.now()
      expect((await report("READY")).changed_at).toBeUndefined()
      const { ready_at } = Schema.decodeUnknownSync(Schema.Struct({ ready_at: Schema.DateFromString }))(await get(agent))
      const changed = ready_at.getTime()
      expect([changed >= before, changed <= Date.now()]).toStrictEqual([true, true])
      await report("OFF")
      expect(await refusal(rpc.UpdateLifecycle({ lifecycle: { state: "UNSPECIFIED" } }))).toMatchObject({ _tag: "RpcError", code: 0 })
      expect(await refusal(rpc.UpdateLifecycle({}))).toMatchObject({ _tag: "RpcError", code: 0 })
      expect(await get(agent)).toMatchObject({ lifecycle_state: "off" })
      await close()
    })

    once("stores the agent's program and version", async () => {
      const agent = await server().anAgent()
      const { agent: rpc, close } = await server().connect(agent.token, "?version=2.4")
      const startup = {
        version: "v2.30.1-devel+abc",
        expanded_directory: "/home/dev",
        subsystems: ["EXECTRACE", "ENVBOX", "ENVBOX"]
      } as const
      expect(await run(rpc.UpdateStartup({ startup }))).toStrictEqual(startup)
      expect(await get(agent)).toMatchObject({
        version: "v2.30.1-devel+abc",
        expanded_directory: "/home/dev",
        subsystems: ["envbox", "exectrace"],
        api_version: "2.4"
      })
      for (const wrong of [{ version: "2.30.1" }, { version: "" }, { version: "v1", subsystems: ["UNSPECIFIED" as const] }]) {
        expect(await refusal(rpc.UpdateStartup({ startup: wrong }))).toMatchObject({ code: 0 })
      }
      await close()
    })

    once("takes logs until they overflow, and then nothing more", async () => {
      const agent = await server().anAgent()
      const { agent: rpc, close } = await server().connect(agent.token)
      const create = (
        logs: ReadonlyArray<{ readonly output: string; readonly level?: AgentMessages.LogLevel }>,
        log_source_id = new Uint8Array(16)
      ) => rpc.BatchCreateLogs({ log_source_id, logs })
      const more = { log_limit_exceeded: false }
      expect(await run(create([]))).toStrictEqual(more)
      expect(await run(create([{ output: "a", level: "ERROR" }, { output: "b" }, { output: "c", level: 77 as never }]))).toStrictEqual(more)
      const { body } = await server().call("GET", `/workspaceagents/${agent.id}/logs`, { token: server().owner().token })
      expect(body).toMatchObject([
        { output: "a", level: "error", source_id: "3b579bf4-1ed8-4b99-87a8-e9a1e3410410" },
        { output: "b", level: "info" },
        { output: "c", level: "info" }
      ])
      expect(await refusal(create([{ output: "x" }], new Uint8Array(3)))).toMatchObject({ code: 0 })
      const exceeded = { log_limit_exceeded: true }
      expect(await run(create([{ output: "x".repeat(1_048_576) }]))).toStrictEqual(exceeded)
      expect(await get(agent)).toMatchObject({ logs_length: 3, logs_overflowed: true })
      expect(await run(create([{ output: "x" }]))).toStrictEqual(exceeded)
      expect(await get(agent)).toMatchObject({ logs_length: 3 })
      await close()
    })

    once("takes the health of apps all together or not at all", async () => {
      const healthcheck = { url: "http://localhost", interval: 5, threshold: 3 }
      const agent = await server().anAgent({
        apps: [anApp({ slug: "a", healthcheck }), anApp({ slug: "b", healthcheck }), anApp({ slug: "c" })]
      })
      const { agent: rpc, close } = await server().connect(agent.token)
      const [a, b, c] = agent.first.agents[0]?.apps.map(({ id }) => bytesOf(id)) ?? []
      const update = (...updates: ReadonlyArray<{ readonly id?: Uint8Array | undefined; readonly health: AgentMessages.AppHealth }>) =>
        rpc.BatchUpdateAppHealths({ updates: updates.map(({ health, id }) => ({ health, id: id ?? new Uint8Array(16) })) })
      const healths = async () =>
        Schema.decodeUnknownSync(Schema.Struct({ apps: Schema.Array(Schema.Struct({ health: Schema.String })) }))(
          await get(agent)
        ).apps.map(({ health }) => health)
      expect(await healths()).toStrictEqual(["initializing", "initializing", "disabled"])
      await run(update())
      await run(update({ id: a, health: "HEALTHY" }, { id: b, health: "UNHEALTHY" }))
      expect(await healths()).toStrictEqual(["healthy", "unhealthy", "disabled"])
      for (const wrong of [{ id: c, health: "HEALTHY" }, { health: "HEALTHY" }, { id: b, health: "UNSPECIFIED" }] as const) {
        expect(await refusal(update({ id: a, health: "UNHEALTHY" }, wrong))).toMatchObject({ code: 0 })
      }
      expect(await refusal(rpc.BatchUpdateAppHealths({ updates: [{ id: new Uint8Array(3), health: "HEALTHY" }] }))).toMatchObject({
        code: 0
      })
      expect(await healths()).toStrictEqual(["healthy", "unhealthy", "disabled"])
      await close()
    })

    once("takes the status of apps", async () => {
      const agent = await server().anAgent({ apps: [anApp({ slug: "code" })] })
      const { agent: rpc, close } = await server().connect(agent.token)
      await run(rpc.UpdateAppStatus({ slug: "code", state: "IDLE", message: "waiting", uri: "https://example.com" }))
      expect(await get(agent)).toMatchObject({ apps: [{ statuses: [{ state: "idle", message: "waiting", uri: "https://example.com" }] }] })
      expect(await refusal(rpc.UpdateAppStatus({ slug: "other", state: "IDLE" }))).toMatchObject({ code: 0 })
      expect(await refusal(rpc.UpdateAppStatus({ slug: "code", state: 9 as never }))).toMatchObject({
        message: expect.stringContaining("state")
      })
      await close()
    })

    once("takes the runs of scripts; the one that started last counts", async () => {
      const agent = await server().anAgent({ scripts: [script] })
      const { agent: rpc, close } = await server().connect(agent.token)
      const manifest = await run(rpc.GetManifest({}))
      const script_id = manifest.scripts[0]?.id ?? new Uint8Array()
      const timing = { script_id, start: second(10), end: second(11), exit_code: -1, stage: "START", status: "EXIT_FAILURE" } as const
      await run(rpc.ScriptCompleted({ timing }))
      await run(rpc.ScriptCompleted({ timing: { ...timing, start: second(5), end: second(6), exit_code: 0, status: "OK" } }))
      expect(await get(agent)).toMatchObject({ scripts: [{ exit_code: -1, status: "exit_failure" }] })
      const wrong: ReadonlyArray<AgentMessages.WorkspaceAgentScriptCompletedRequest | object> = [
        {},
        { timing: { ...timing, end: second(9) } },
        { timing: { ...timing, script_id: new Uint8Array(16) } },
        { timing: { ...timing, script_id: new Uint8Array(1) } },
        { timing: { script_id, end: second(1) } }
      ]
      for (const request of wrong) expect(await refusal(rpc.ScriptCompleted(request))).toMatchObject({ code: 0 })
      await close()
    })

    once("answers how often to report statistics", async () => {
      const agent = await server().anAgent()
      const { agent: rpc, close } = await server().connect(agent.token)
      const interval = { report_interval: { seconds: 30, nanos: 0 } }
      expect(await run(rpc.UpdateStats({}))).toStrictEqual(interval)
      expect(
        await run(rpc.UpdateStats({ stats: { connection_count: 1, rx_bytes: 10, connection_median_latency_ms: Number.NaN } }))
      ).toStrictEqual(interval)
      await close()
    })

    once("takes reports of connections and of the network's boundary", async () => {
      const agent = await server().anAgent()
      const { agent: rpc, close } = await server().connect(agent.token)
      const connection = { id: bytesOf("01020304-0506-0708-090a-0b0c0d0e0f10"), action: "CONNECT", type: "SSH", ip: "localhost" } as const
      await run(rpc.ReportConnection({ connection }))
      for (const wrong of [
        { id: new Uint8Array(16) },
        { id: new Uint8Array(1) },
        { action: "UNSPECIFIED" },
        { type: "UNSPECIFIED" }
      ] as const) {
        expect(await refusal(rpc.ReportConnection({ connection: { ...connection, ...wrong } }))).toMatchObject({ code: 0 })
      }
      await run(rpc.ReportBoundaryLogs({}))
      await run(rpc.ReportBoundaryLogs({ logs: [{ allowed: true }], session_id: "none" }))
      expect(await refusal(rpc.ReportBoundaryLogs({ logs: Array.from({ length: 1001 }, () => ({})) }))).toMatchObject({ code: 0 })
      await close()
    })

    once("has no sub agents, and accepts context states in the order of their versions", async () => {
      const { token } = await server().anAgent()
      const { agent: rpc, close } = await server().connect(token)
      expect((await run(rpc.ListSubAgents({}))).agents).toStrictEqual([])
      const push = async (version: bigint, more: Parameters<typeof rpc.PushContextState>[0] = {}) =>
        (await run(rpc.PushContextState({ version, ...more }))).accepted
      expect(await push(1n, { initial: true, resources: [{ source: "/home/AGENTS.md" }] })).toBe(true)
      expect([await push(1n), await push(2n), await push(1n, { initial: true })]).toStrictEqual([false, true, true])
      const file = (kibibytes: number) => ({
        source: "a",
        body: { case: "instruction_file", value: { content: new Uint8Array(kibibytes * 1024) } } as const
      })
      const refused = [
        { resources: [{ source: "" }] },
        { resources: [{ source: "a" }, { source: "a" }] },
        { resources: [{ source: "a".repeat(1025) }] },
        { resources: [{ source: "a", source_path: "a".repeat(1025) }] },
        { resources: [{ source: "a", error: "a".repeat(4097) }] },
        { resources: [{ source: "a", content_hash: new Uint8Array(65) }] },
        { resources: [file(257)] },
        { resources: Array.from({ length: 1001 }, (_, index) => ({ source: String(index) })) },
        { aggregate_hash: new Uint8Array(65) },
        { snapshot_error: "a".repeat(4097) }
      ]
      for (const state of refused) expect(await refusal(rpc.PushContextState({ version: 9n, ...state }))).toMatchObject({ code: 0 })
      expect(await push(9n, { resources: [file(255)] })).toBe(true)
      await close()
    })

    once("streams a map of relays and keeps a place with the coordinator", async () => {
      const agent = await server().anAgent()
      const { close, tailnet } = await server().connect(agent.token)
      const map = await run(Stream.runHead(tailnet.StreamDERPMaps({})))
      expect(Option.getOrThrow(map).home_params).toBeDefined()
      const own = `fd7a:115c:a1e0:${agent.id.slice(14).replaceAll("-", "").match(/.{4}/g)?.join(":")}/128`
      const coordinate = (...requests: ReadonlyArray<TailnetMessages.CoordinateRequestInit>) =>
        run(Stream.runCollect(tailnet.Coordinate(Stream.fromIterable(requests)))).then((responses) =>
          Array.from(responses, ({ error }) => error)
        )
      const announced = { update_self: { node: { addresses: [own], allowed_ips: [own] } } }
      expect(await coordinate(announced, { disconnect: {} })).toStrictEqual([])
      expect(await coordinate(announced, { ready_for_handshake: [{ id: bytesOf(agent.id) }] })).toStrictEqual([
        `ready for handshake error: you do not share a tunnel with "${agent.id}"`
      ])
      const [foreign] = await coordinate({ update_self: { node: { addresses: ["fd7a:115c:a1e0::1/128"] } } }, announced)
      expect(foreign).toMatch(/^authorization: /)
      expect(await coordinate({ add_tunnel: { id: bytesOf(agent.id) } }, announced)).toHaveLength(1)
      expect(await run(tailnet.PostTelemetry({ events: [{ application: "ssh" }] }))).toStrictEqual({})
      await close()
    })

    once("is closed when a newer build has replaced the agent's", async () => {
      const agent = await server().anAgent()
      const connection = await server().connect(agent.token)
      await run(connection.agent.GetManifest({}))
      await server().store(aBuild(agent, { status: "pending" }))
      await connection.closed
      await expect.poll(() => get(agent)).toMatchObject({ status: "disconnected" })
    })

    once("of an agent that connects again leaves it connected when the former one ends", async () => {
      const agent = await server().anAgent()
      const former = await server().connect(agent.token)
      await run(former.agent.GetManifest({}))
      const latter = await server().connect(agent.token)
      await run(latter.agent.GetManifest({}))
      await former.close()
      await run(latter.agent.GetManifest({}))
      expect(await get(agent)).toMatchObject({ status: "connected" })
      await latter.close()
      await expect.poll(() => get(agent)).toMatchObject({ status: "disconnected" })
    })

    it("of an agent that opens one too many ends the oldest", async () => {
      const { token } = await server().anAgent()
      const sockets: Array<TestSocket> = []
      for (let count = 0; count < 9; count++) {
        const socket = server().socket("/workspaceagents/me/rpc?role=tool", token)
        await expect(socket.refused).rejects.toThrow("opened")
        sockets.push(socket)
      }
      expect(await sockets[0]?.closed).toBe(1008)
      const another = await server().connect((await server().anAgent()).token)
      await run(another.agent.GetManifest({}))
      await another.close()
      for (const { close } of sockets) close()
      expect(await Promise.all(sockets.slice(1).map(({ closed }) => closed))).toEqual(Array(8).fill(1000))
    })

    /** Packets of one call as the server sends them back. */
    const exchange = (token: string, packets: ReadonlyArray<Uint8Array>) =>
      server()
        .connect(token)
        .then(async (connection) => {
          const answered = await Effect.gen(function* () {
            const stream = yield* connection.session.open
            const decoder = new Packet.Decoder()
            for (const packet of packets) yield* stream.write(packet)
            const seen: Array<Packet.Packet | Packet.Violation> = []
            while (!seen.some((packet) => packet.kind === Packet.Kind.CloseSend || packet.kind === Packet.Kind.Error)) {
              const chunk = yield* stream.read
              if (Option.isNone(chunk)) break
              seen.push(...decoder.decode(chunk.value))
            }
            return seen
          }).pipe(Effect.scoped, Effect.either, Effect.runPromise)
          await connection.close()
          return answered
        })
    const text = (value: string) => new TextEncoder().encode(value)
    const call = (rpc: string, streamId = 1) => [
      Packet.encode({ kind: Packet.Kind.Invoke, streamId, messageId: 1, data: text(rpc) }),
      Packet.encode({ kind: Packet.Kind.Message, streamId, messageId: 2, data: new Uint8Array() }),
      Packet.encode({ kind: Packet.Kind.CloseSend, streamId, messageId: 3, data: new Uint8Array() })
    ]

    once("answers a call on the stream it came on", async () => {
      const { token } = await server().anAgent()
      const answered = Either.getOrThrow(await exchange(token, call("/coder.agent.v2.Agent/GetManifest")))
      expect(answered).toMatchObject([
        { kind: Packet.Kind.Message, streamId: 1, messageId: 1 },
        { kind: Packet.Kind.CloseSend, streamId: 1, messageId: 2 }
      ])
      const [unknown] = Either.getOrThrow(await exchange(token, call("/coder.agent.v2.Agent/Nothing")))
      expect(unknown).toMatchObject({ kind: Packet.Kind.Error, streamId: 1 })
      expect(unknown !== undefined && "data" in unknown ? unknown.data[7] : undefined).toBe(12)
    })

    once("breaks a stream off on which message ids go back", async () => {
      const { token } = await server().anAgent()
      const [invoke = new Uint8Array(), message = new Uint8Array()] = call("/coder.agent.v2.Agent/GetManifest", 2)
      expect(Either.isLeft(await exchange(token, [invoke, message, ...call("/coder.agent.v2.Agent/GetManifest", 1)]))).toBe(true)
    })

    once("survives streams that never end, and refuses more of them than it can serve", async () => {
      const { token } = await server().anAgent()
      const connection = await server().connect(token)
      await Effect.gen(function* () {
        const idle = yield* Effect.replicateEffect(connection.session.open, 200)
        const [invoke = new Uint8Array()] = call("/coder.agent.v2.Agent/GetManifest")
        for (const stream of idle) yield* stream.write(invoke)
        const manifest = yield* connection.agent.GetManifest({})
        expect(manifest.agent_name).toBe("main")
      }).pipe(Effect.scoped, Effect.runPromise)
      await connection.close()
    })

    once("ends when what arrives is not yamux", async () => {
      const { token } = await server().anAgent()
      const socket = server().socket("/workspaceagents/me/rpc", token)
      await expect(socket.refused).rejects.toThrow("opened")
      socket.send(new Uint8Array(64).fill(0xff))
      expect(await socket.closed).toBe(1000)
    })
  },
  { options: { agentConnectionUpdateInterval: Duration.millis(200) } }
)
