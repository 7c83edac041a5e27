import * as fc from "fast-check"
import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { describeAgents, describeAgentsOnEach, type AgentServer, type RunningAgent } from "../agents/AgentServer.js"
import { link } from "../network/linkedAgents.js"

const exec = (server: AgentServer, { id }: Pick<RunningAgent, "id">, token: string, body: object) =>
  server.call("POST", `/workspaceagents/${id}/exec`, { token, body })

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Starts a process, and opens its stream as a person. */
const openProcess = async (server: AgentServer, agent: RunningAgent, token: string, body: object) => {
  const started = await server.call("POST", `/workspaceagents/${agent.id}/processes`, { token, body })
  expect(started.status).toBe(201)
  const { id, pid } = started.body as { readonly id: string; readonly pid: number }
  const url = `${server.url.replace("http", "ws")}/api/v2/workspaceagents/${agent.id}/processes/${id}/stream`
  const socket = new WebSocket(url, { headers: { "service-session-token": token } })
  let output = ""
  const told: Array<unknown> = []
  socket.on("message", (data: Buffer, isBinary) => {
    if (isBinary) output += data.subarray(9).toString()
    else told.push(JSON.parse(data.toString()))
  })
  const closed = new Promise<number>((resolve) => socket.on("close", resolve))
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject))
  return { id, pid, socket, closed, told, output: () => output }
}

const anything = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("", "\0", "/", "..", "/dev/null", "a".repeat(70_000)),
  fc.jsonValue()
)
const mostly = (good: fc.Arbitrary<unknown>) => fc.oneof({ arbitrary: good, weight: 6 }, { arbitrary: anything, weight: 1 })

/** Orders of a program that does nothing, with whatever else an order may have, and what it may not. */
const anOrder = fc
  .tuple(
    fc.oneof(
      fc.record({ program: mostly(fc.constantFrom("true", "/missing/program", "/", "true\0")) }),
      fc.record({ command: mostly(fc.constantFrom(":", "exit 3", "kill -9 $$", "", ":\0")) }),
      fc.record({ program: fc.constant("true"), command: fc.constant(":") })
    ),
    fc.record(
      {
        args: mostly(fc.array(fc.string(), { maxLength: 4 })),
        cwd: mostly(fc.constantFrom("/", "/tmp")),
        env: mostly(fc.dictionary(fc.constantFrom("A", "B", "=", ""), fc.string({ unit: "binary" }), { maxKeys: 2 })),
        stdin: mostly(fc.string()),
        encoding: mostly(fc.constantFrom("utf8", "base64")),
        timeout_ms: mostly(fc.constantFrom(1000, 60_000)),
        max_output_bytes: mostly(fc.nat(1000))
      },
      { requiredKeys: [] }
    )
  )
  .map(([program, rest]) => ({ ...rest, ...program }))

describeAgents("a command", (server) => {
  it("answers how it ended and what it wrote", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const { token } = server().owner()
    expect(await exec(server(), agent, token, { program: "sh", args: ["-c", "cat; echo err >&2; exit 3"], stdin: "in" })).toMatchObject({
      status: 200,
      body: { exit_code: 3, signal: null, stdout: "in", stderr: "err\n", stdout_truncated: false, timed_out: false }
    })
    expect(await exec(server(), agent, token, { command: "echo $GREETING; kill -9 $$", env: { GREETING: "hello" } })).toMatchObject({
      status: 200,
      body: { exit_code: null, signal: "SIGKILL", stdout: "hello\n" }
    })
    expect(await exec(server(), agent, token, { program: "no-such-program" })).toMatchObject({
      status: 400,
      body: { validations: [{ field: "program", detail: "no-such-program is not found" }] }
    })
  })

  it("is refused by an agent that does not know such streams, and by one that is not connected", async () => {
    const agent = await server().anAgent({ connection_timeout_seconds: 1 })
    const { token } = server().owner()
    expect(await exec(server(), agent, token, { program: "true" })).toMatchObject({
      status: 404,
      body: { message: "The workspace's agent has not connected in time. The log of the workspace's build may say why." }
    })
    await link(server(), agent, "?role=agent&streams=1")
    expect(await exec(server(), agent, token, { program: "true" })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining("cannot run commands") }
    })
  })

  it("waits for an agent that has not connected yet", async () => {
    const agent = await server().anAgent()
    const answer = exec(server(), agent, server().owner().token, { command: "echo ready" })
    await link(server(), agent)
    expect(await answer).toMatchObject({ status: 200, body: { stdout: "ready\n" } })
  })

  it("is the caller's mistake or a result, whatever the order is", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const { token } = server().owner()
    const orders = fc.sample(anOrder, { numRuns: 100, seed: 35 })
    const answers: Array<number> = []
    for (const order of orders) answers.push((await exec(server(), agent, token, order)).status)
    const wrong = orders.filter((_, index) => ![200, 400, 413].includes(answers[index] ?? 0))
    expect(wrong).toStrictEqual([])
    expect(answers).toEqual(expect.arrayContaining([200, 400]))
  })

  it("ends with its client", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const { token } = server().owner()
    const marker = `atelier-${crypto.randomUUID()}`
    const running = async () => {
      const { body } = await exec(server(), agent, token, { command: `pgrep -f "[s]leep 1000 #${marker}" || true` })
      return Number((body as { readonly stdout: string }).stdout)
    }
    const client = new AbortController()
    const calling = fetch(`${server().url}/api/v2/workspaceagents/${agent.id}/exec`, {
      method: "POST",
      headers: { "service-session-token": token, "content-type": "application/json" },
      body: JSON.stringify({ program: "sh", args: ["-c", `sleep 1000 #${marker}\n:`] }),
      signal: client.signal
    }).catch(() => "gone")
    await expect.poll(running).toBeGreaterThan(0)
    const pid = await running()
    client.abort()
    expect(await calling).toBe("gone")
    await expect.poll(() => isAlive(pid)).toBe(false)
  })
})

describeAgents("a process that stays", (server) => {
  it("is shown, fed and ended over its stream", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const { token } = server().owner()
    const process = await openProcess(server(), agent, token, { command: "read line; echo got $line; cat; exit 5" })
    process.socket.send(Buffer.concat([Buffer.of(0), Buffer.from("hello\n")]))
    await expect.poll(process.output).toBe("got hello\n")
    process.socket.send(JSON.stringify({ type: "close_stdin" }))
    expect(await process.closed).toBe(1000)
    expect(process.told).toStrictEqual([
      { type: "start", offset: 0 },
      { type: "exit", exit_code: 5, signal: null }
    ])
    const path = `/workspaceagents/${agent.id}/processes`
    expect(await server().call("GET", `${path}/${process.id}/wait`, { token })).toMatchObject({ status: 200, body: { exit_code: 5 } })
    expect(await server().call("GET", path, { token })).toMatchObject({ status: 200, body: { processes: [{ id: process.id }] } })
    expect(await server().call("POST", `${path}/${process.id}/signal`, { token, body: { signal: "SIGTERM" } })).toMatchObject({
      status: 409
    })
    expect((await server().call("DELETE", `${path}/${process.id}`, { token })).status).toBe(204)
    const url = `${server().url.replace("http", "ws")}/api/v2${path}/${process.id}/stream`
    const refused = new WebSocket(url, { headers: { "service-session-token": token } })
    refused.on("error", () => undefined)
    expect(await new Promise((resolve) => refused.once("unexpected-response", (_, { statusCode }) => resolve(statusCode)))).toBe(404)
  })

  it("goes on when the session of its viewer ends, which closes the stream", async () => {
    const member = await server().aMember()
    const agent = await server().anAgent({}, member)
    await link(server(), agent)
    const process = await openProcess(server(), agent, member.token, { program: "sleep", args: ["1000"] })
    const waiting = exec(server(), agent, member.token, { program: "sleep", args: ["1000"] })
    await expect
      .poll(async () => (await server().call("GET", `/workspaceagents/${agent.id}/processes`, { token: member.token })).status)
      .toBe(200)
    await server().call("POST", "/users/logout", { token: member.token })
    expect(await process.closed).toBe(1008)
    expect((await waiting).status).toBe(403)
    expect(isAlive(process.pid)).toBe(true)
  })
})

describeAgentsOnEach("the right to processes", (server) => {
  it("is that of connecting to the workspace", async () => {
    const member = await server().aMember()
    const agent = await server().anAgent({}, member)
    await link(server(), agent)
    const missing = { status: 404, body: { message: "Resource not found or you do not have access to this resource" } }
    const stranger = await server().aMember()
    expect(await exec(server(), agent, stranger.token, { program: "true" })).toMatchObject(missing)
    expect(await exec(server(), { id: stranger.user.id as never }, member.token, { program: "true" })).toMatchObject(missing)
    expect((await server().call("POST", `/workspaceagents/${agent.id}/exec`, { body: { program: "true" } })).status).toBe(401)
    const token = async (body: object) => {
      const answer = await server().call("POST", "/users/me/keys/tokens", { token: member.token, body })
      return (answer.body as { readonly key: string }).key
    }
    expect(await exec(server(), agent, await token({ scopes: ["workspace:read"] }), { program: "true" })).toMatchObject({ status: 404 })
    expect(await exec(server(), agent, await token({ scopes: ["workspace:read", "workspace:ssh"] }), { program: "true" })).toMatchObject({
      status: 200
    })
    const elsewhere = { scopes: ["workspace:ssh"], allow_list: [{ type: "workspace", id: crypto.randomUUID() }] }
    expect(await exec(server(), agent, await token(elsewhere), { program: "true" })).toMatchObject({ status: 404 })
  })

  it("is used in view of the connection log: each command by itself, and other requests together", async () => {
    const member = await server().aMember()
    const agent = await server().anAgent({}, member)
    await link(server(), agent)
    expect((await exec(server(), agent, member.token, { program: "true" })).status).toBe(200)
    expect((await exec(server(), agent, member.token, { program: "true" })).status).toBe(200)
    for (const _ of [1, 2, 3]) await server().call("GET", `/workspaceagents/${agent.id}/processes`, { token: member.token })
    const logged = async () => {
      const { body } = await server().call("GET", `/connectionlog?q=workspace_id:${agent.workspace.id}&limit=10`, {
        token: server().owner().token
      })
      return (body as { readonly connection_logs: ReadonlyArray<{ readonly type: string; readonly ssh_info?: object }> }).connection_logs
    }
    await expect
      .poll(async () => (await logged()).map(({ ssh_info = {}, type }) => [type, "disconnect_time" in ssh_info]).toSorted(), {
        timeout: 20_000
      })
      .toStrictEqual([
        ["ssh", false],
        ["ssh", true],
        ["ssh", true]
      ])
    const found = await server().call("GET", `/connectionlog?q=username:${member.user.username}&limit=10`, {
      token: server().owner().token
    })
    const ssh_info = { user: { id: member.user.id }, user_agent: expect.any(String) }
    expect(found.body).toMatchObject({ count: 3, connection_logs: Array.from({ length: 3 }, () => ({ type: "ssh", ssh_info })) })
  })
})

describeAgents(
  "a deployment for browsers alone",
  (server) => {
    it("runs no commands for other clients", async () => {
      const agent = await server().anAgent()
      await link(server(), agent)
      expect(await exec(server(), agent, server().owner().token, { program: "true" })).toMatchObject({
        status: 409,
        body: { message: "Workspaces of this deployment can be reached only through the browser." }
      })
    })
  },
  { options: { browserOnly: true } }
)
