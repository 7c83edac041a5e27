import { maximumLogsLength } from "@atelier/core/agents"
import { Events } from "@atelier/core/platform"
import { publishWorkspaceEvent, workspaceEvents } from "@atelier/core/workspaces"
import { Effect, Schema, Stream } from "effect"
import { expect, it } from "vitest"
import { aBuild } from "../../../../../test/records/agentWorkspaces.js"
import { describeAgentInterface, describeAgentsOnEach, type RunningAgent } from "../AgentServer.js"

const Logs = Schema.Array(
  Schema.Struct({ id: Schema.Number, created_at: Schema.String, output: Schema.String, level: Schema.String, source_id: Schema.String })
)
const external = "3b579bf4-1ed8-4b99-87a8-e9a1e3410410"
const source = "01020304-0506-0708-090a-0b0c0d0e0f10"

describeAgentsOnEach("an agent's logs", (server, once) => {
  const send = (token: string, logs: ReadonlyArray<object>, log_source_id?: string) =>
    server().call("PATCH", "/workspaceagents/me/logs", { token, body: { log_source_id, logs } })
  const read = async ({ id }: RunningAgent, query = "") =>
    (await server().call("GET", `/workspaceagents/${id}/logs${query}`, { token: server().owner().token })).as(Logs)
  const agentOf = async ({ id }: RunningAgent) =>
    (await server().call("GET", `/workspaceagents/${id}`, { token: server().owner().token })).as(
      Schema.Struct({
        logs_length: Schema.Number,
        logs_overflowed: Schema.Boolean,
        log_sources: Schema.Array(Schema.Struct({ id: Schema.String, display_name: Schema.String, icon: Schema.String }))
      })
    )
  /** The kinds of the events of the agent's workspace that an action causes. */
  const eventsOf = async ({ owner, workspace }: RunningAgent, action: () => Promise<unknown>): Promise<ReadonlyArray<string>> =>
    server().store(
      Effect.scoped(
        Effect.gen(function* () {
          const events = yield* Events.subscribe(workspaceEvents(owner.id))
          yield* Effect.promise(action)
          // An event of the test's own marks the end: events of one channel keep their order
          yield* publishWorkspaceEvent(owner.id, { kind: "mtd_update", workspace_id: workspace.id })
          const seen = yield* events.pipe(
            Stream.map((delivery) => (delivery._tag === "Lost" ? "lost" : delivery.event.kind)),
            Stream.takeUntil((kind) => kind === "mtd_update"),
            Stream.runCollect
          )
          return Array.from(seen).slice(0, -1)
        })
      )
    )

  once("come back in the order in which they were sent, at the service's time", async () => {
    const agent = await server().anAgent()
    const sent = [{ output: "one", level: "warn", created_at: "2001-01-01T00:00:00Z" }, { output: "two" }, { output: "three", level: "" }]
    expect((await send(agent.token, sent)).body).toStrictEqual({ message: expect.any(String) })
    await send(agent.token, [{ output: "four", level: "trace" }], source)
    const logs = await read(agent)
    expect(logs.map(({ level, output, source_id }) => [output, level, source_id])).toStrictEqual([
      ["one", "warn", external],
      ["two", "info", external],
      ["three", "info", external],
      ["four", "trace", source]
    ])
    expect(new Set(logs.slice(0, 3).map(({ created_at }) => created_at)).size).toBe(3)
    expect(logs[0]?.created_at.startsWith("2001")).toBe(false)
    expect((await read(agent, `?after=${logs[1]?.id}`)).map(({ output }) => output)).toStrictEqual(["three", "four"])
    expect((await agentOf(agent)).log_sources).toMatchObject([{ id: external, display_name: "External", icon: "/emojis/1f310.png" }])
  })

  once("are empty before anything was sent", async () => {
    expect(await read(await server().anAgent())).toStrictEqual([])
  })

  once("are read in pages of any number", async () => {
    const agent = await server().anAgent()
    const outputs = Array.from({ length: 2000 }, (_, index) => `line ${index}`)
    await send(
      agent.token,
      outputs.map((output) => ({ created_at: "2026-01-01T00:00:00Z", level: "info", output }))
    )
    expect((await read(agent)).map(({ output }) => output)).toStrictEqual(outputs)
  })

  once("count as they were sent and are kept as they can be stored", async () => {
    const agent = await server().anAgent()
    await send(agent.token, [{ output: "a\0b" }])
    expect((await agentOf(agent)).logs_length).toBe(5)
    await send(agent.token, [{ output: "x".repeat(2000) }])
    expect((await agentOf(agent)).logs_length).toBe(2005)
    expect((await read(agent)).map(({ output }) => output)).toStrictEqual(["a❌b", "x".repeat(1024)])
  })

  once("without lines or with an unknown level are refused as a whole", async () => {
    const agent = await server().anAgent()
    expect((await send(agent.token, [])).status).toBe(400)
    expect((await server().call("PATCH", "/workspaceagents/me/logs", { token: agent.token, body: {} })).status).toBe(400)
    expect((await send(agent.token, [{ output: "fine" }, { output: "x", level: "loud" }])).status).toBe(400)
    expect(await read(agent)).toStrictEqual([])
  })

  once("are refused whole when they exceed the limit, and taken again when they fit", async () => {
    const agent = await server().anAgent()
    const line = { output: "x".repeat(65_536) }
    for (let batch = 0; batch < 4; batch++)
      await send(
        agent.token,
        Array.from({ length: 4 }, () => line)
      )
    expect(await agentOf(agent)).toMatchObject({ logs_length: maximumLogsLength, logs_overflowed: false })
    const overflow = () => send(agent.token, [{ output: "x" }])
    expect(await eventsOf(agent, async () => expect((await overflow()).status).toBe(413))).toStrictEqual(["agt_logs_overflow"])
    expect(await eventsOf(agent, overflow)).toStrictEqual([])
    expect(await agentOf(agent)).toMatchObject({ logs_length: maximumLogsLength, logs_overflowed: true })
    expect(await read(agent)).toHaveLength(16)
    expect((await send(agent.token, [{ output: "" }])).status).toBe(200)
  })

  once("tell the workspace's watchers of the first ones", async () => {
    const agent = await server().anAgent()
    expect(await eventsOf(agent, () => send(agent.token, [{ output: "first" }]))).toStrictEqual(["agt_first_logs"])
    expect(await eventsOf(agent, () => send(agent.token, [{ output: "second" }]))).toStrictEqual([])
  })

  it("are stored one batch after the other when several arrive at once", async () => {
    const agent = await server().anAgent()
    const batches = Array.from({ length: 8 }, (_, batch) => Array.from({ length: 10 }, (_, line) => ({ output: `${batch}.${line}` })))
    const answers = await Promise.all(batches.map((logs) => send(agent.token, logs)))
    expect(new Set(answers.map(({ status }) => status))).toStrictEqual(new Set([200]))
    const outputs = (await read(agent)).map(({ output }) => output)
    const order = outputs.filter((output) => output.endsWith(".0")).map((output) => output.split(".")[0])
    expect(outputs).toStrictEqual(order.flatMap((batch) => Array.from({ length: 10 }, (_, line) => `${batch}.${line}`)))
    expect((await agentOf(agent)).logs_length).toBe(8 * 10 * 3)
  })

  once("are readable as text", async () => {
    const agent = await server().anAgent()
    await server().call("POST", "/workspaceagents/me/log-source", {
      token: agent.token,
      body: { id: source, display_name: "Script", icon: "" }
    })
    await send(agent.token, [{ output: "hello", level: "error" }], source)
    const answer = await server().call("GET", `/workspaceagents/${agent.id}/logs?format=text`, { token: server().owner().token })
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8")
    expect(answer.text).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z \[error\] \[agent\.main\|Script\] hello\n$/)
  })

  once("are asked for in a way that is known", async () => {
    const agent = await server().anAgent()
    const ask = (query: string) => server().call("GET", `/workspaceagents/${agent.id}/logs?${query}`, { token: server().owner().token })
    const fields = async (query: string) => {
      const answer = await ask(query)
      return [
        answer.status,
        answer.as(Schema.Struct({ validations: Schema.Array(Schema.Struct({ field: Schema.String })) })).validations[0]?.field
      ]
    }
    expect(await fields("after=-1")).toStrictEqual([400, "after"])
    expect(await fields("after=x")).toStrictEqual([400, "after"])
    expect(await fields("format=xml")).toStrictEqual([400, "format"])
    expect(await fields("format=text&follow")).toStrictEqual([400, "format"])
    expect((await ask("after=&before=7&format=&no_compression")).status).toBe(200)
    expect((await ask("follow=false")).status).toBe(426)
    const stranger = await server().aMember()
    expect((await server().call("GET", `/workspaceagents/${agent.id}/logs`, { token: stranger.token })).status).toBe(404)
  })

  once("are followed until the agent's build is no longer the latest", async () => {
    const agent = await server().anAgent()
    await send(agent.token, [{ output: "old" }])
    const socket = server().socket(`/workspaceagents/${agent.id}/startup-logs?follow`, server().owner().token)
    expect(await socket.next()).toMatchObject([{ output: "old" }])
    await send(agent.token, [{ output: "new" }, { output: "newer" }])
    expect(await socket.next()).toMatchObject([{ output: "new" }, { output: "newer" }])
    await server().store(aBuild(agent, { status: "pending" }))
    await server().store(publishWorkspaceEvent(agent.owner.id, { kind: "state_change", workspace_id: agent.workspace.id }))
    expect(await socket.closed).toBe(1000)
  })

  once("are followed from a given line", async () => {
    const agent = await server().anAgent()
    await send(agent.token, [{ output: "old" }])
    const [old] = await read(agent)
    const socket = server().socket(`/workspaceagents/${agent.id}/logs?follow&after=${old?.id}`, server().owner().token)
    expect(await socket.next()).toStrictEqual([])
    await send(agent.token, [{ output: "new" }])
    expect(await socket.next()).toMatchObject([{ output: "new" }])
    socket.close()
    expect(await socket.closed).toBe(1000)
  })

  once("of a former build end after the stored lines", async () => {
    const agent = await server().anAgent()
    await send(agent.token, [{ output: "old" }])
    await server().store(aBuild(agent, { status: "pending" }))
    const socket = server().socket(`/workspaceagents/${agent.id}/logs?follow`, server().owner().token)
    expect(await socket.next()).toMatchObject([{ output: "old" }])
    expect(await socket.closed).toBe(1000)
  })
})

describeAgentInterface("a log source", (server) => {
  const add = (token: string, body: object) => server().call("POST", "/workspaceagents/me/log-source", { token, body })

  it("is stored once, and a repeated request is echoed", async () => {
    const agent = await server().anAgent()
    const first = await add(agent.token, { id: source, display_name: "First", icon: "/icon.png" })
    expect([first.status, first.body]).toStrictEqual([
      200,
      { id: source, workspace_agent_id: agent.id, created_at: expect.any(String), display_name: "First", icon: "/icon.png" }
    ])
    expect((await add(agent.token, { id: source, display_name: "Second", icon: "" })).body).toMatchObject({ display_name: "Second" })
    const { body } = await server().call("GET", `/workspaceagents/${agent.id}`, { token: server().owner().token })
    expect(body).toMatchObject({ log_sources: [{ display_name: "First", icon: "/icon.png" }] })
  })

  it("has a name of at most 127 characters, and an id", async () => {
    const agent = await server().anAgent()
    expect((await add(agent.token, { id: source, display_name: "n".repeat(200), icon: "" })).body).toMatchObject({
      display_name: "n".repeat(127)
    })
    expect((await add(agent.token, { display_name: "x" })).status).toBe(400)
  })
})
