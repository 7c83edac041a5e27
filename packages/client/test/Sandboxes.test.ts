/** The part of sandboxes that a real workspace cannot show: connections that are lost, and builds that fail. */
import { createClient } from "@atelier/client"
import { once } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest"
import { WebSocket, WebSocketServer } from "ws"
import { aTemplate } from "../../../test/http/templates.js"
import { describeInterface } from "../../../test/http/server.js"
import { testEngines } from "../../../test/outside/engine.js"
import { aResource } from "../../../test/records/resources.js"

describeInterface(
  "a sandbox",
  (server) => {
    const clientOf = () => createClient({ baseUrl: server().url, token: server().owner().token, WebSocket })

    it("that cannot be built fails with the build's error and log, and is deleted", async () => {
      const { name } = await aTemplate(server(), {
        resources: [aResource()],
        parameters: [{ name: "fails", default_value: "start" }],
        fails_by: "fails",
        logs: ["made ready"]
      })
      const lines: Array<string> = []
      const created = clientOf().sandboxes.create({ template: name, onProgress: ({ output }) => lines.push(output) })
      await expect(created).rejects.toMatchObject({
        name: "AtelierError",
        message: expect.stringContaining("failed as its parameter told")
      })
      expect(lines).toContain("made ready")
      expect(await clientOf().sandboxes.list()).toStrictEqual([])
    })

    it("of a template that does not exist, or without an agent, is refused clearly", async () => {
      await expect(clientOf().sandboxes.create({ template: "missing" })).rejects.toMatchObject({
        status: 404,
        message: 'There is no template named "missing".'
      })
      const { name } = await aTemplate(server(), {})
      await expect(clientOf().sandboxes.create({ template: name })).rejects.toMatchObject({ message: "The template has no agent." })
    })
  },
  { provisioner: testEngines }
)

describe("a workspace whose agent has lost its connection", () => {
  const workspace = (status: "connected" | "disconnected") => ({
    id: "00000000-0000-7000-8000-000000000001",
    name: "w",
    latest_build: {
      status: "running",
      job: {},
      resources: [{ agents: [{ id: "00000000-0000-7000-8000-000000000002", name: "main", status, lifecycle_state: "ready" }] }]
    }
  })
  const event = (status: "connected" | "disconnected") => `event: data\ndata: ${JSON.stringify(workspace(status))}\n\n`

  /** A service that tells of the workspace, with a sign of life each second. */
  const clientOf = (events: (send: (text: string) => void) => void) =>
    createClient({
      baseUrl: "http://service.test",
      fetch: async (url, init) => {
        if (!String(url).includes("/watch")) return Response.json(workspace("disconnected"))
        let alive: ReturnType<typeof setInterval> | undefined
        const body = new ReadableStream<Uint8Array>({
          start: (controller) => {
            const send = (text: string) => controller.enqueue(new TextEncoder().encode(text))
            alive = setInterval(() => send(": ping\n\n"), 1_000)
            init?.signal?.addEventListener("abort", () => {
              clearInterval(alive)
              controller.error(init.signal?.reason)
            })
            events(send)
          },
          cancel: () => clearInterval(alive)
        })
        return new Response(body)
      }
    })

  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] }))
  afterEach(() => void vi.useRealTimers())

  it("is given up after two minutes", async () => {
    const got = clientOf((send) => send(event("disconnected"))).sandboxes.get("w")
    const outcome = expect(got).rejects.toMatchObject({
      message: "The agent has lost its connection, and has not come back in two minutes."
    })
    await vi.advanceTimersByTimeAsync(119_000)
    expect(vi.getTimerCount()).toBeGreaterThan(0)
    await vi.advanceTimersByTimeAsync(2_000)
    await outcome
  })

  it("is taken once its agent is back", async () => {
    const client = clientOf((send) => {
      send(event("disconnected"))
      setTimeout(() => send(event("connected")), 60_000)
    })
    const got = client.sandboxes.get("w")
    await vi.advanceTimersByTimeAsync(61_000)
    expect((await got).name).toBe("w")
  })
})

describe("a process that stays", () => {
  const agent = "00000000-0000-7000-8000-000000000001"
  const process = { id: "p1", pid: 7, status: "running", exit_code: null, signal: null, output_start: 0, output_end: 0 }
  const output = "0123456789"
  const received: Array<unknown> = []
  const offsets: Array<string | null> = []
  let server: Server
  let url: string

  const frame = (offset: number, text: string) => {
    const head = Buffer.alloc(9)
    head[0] = 1
    head.writeBigUInt64BE(BigInt(offset), 1)
    return Buffer.concat([head, Buffer.from(text)])
  }

  /** Once its agent has ended, it is not known any more. Requests of a stream that are no WebSocket are answered alike then and before. */
  let isForgotten = false
  /** While the agent has no connection, nothing of it is known. */
  let agentStatus = { status: "connected", lifecycle_state: "ready" }
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url ?? ""
    response.setHeader("content-type", "application/json")
    if (path.includes("/stream")) return void response.writeHead(426).end("{}")
    if (path.endsWith(`/workspaceagents/${agent}`)) return void response.end(JSON.stringify({ id: agent, ...agentStatus }))
    if (isForgotten && path.includes("/p1")) {
      server.emit("refused")
      return void response.writeHead(404).end("{}")
    }
    const workspace = {
      id: agent,
      name: "w",
      owner_name: "ada",
      latest_build: {
        status: "running",
        job: {},
        resources: [{ agents: [{ id: agent, name: "main", status: "connected", lifecycle_state: "ready" }] }]
      }
    }
    if (path.startsWith("/api/v2/workspaces/")) response.end(JSON.stringify(workspace))
    else if (path.endsWith("/wait?timeout_ms=30000")) response.end(JSON.stringify({ ...process, status: "exited", exit_code: 3 }))
    else response.end(JSON.stringify(process))
  }

  beforeAll(async () => {
    server = createServer(answer).listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    url = typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : ""
    const sockets = new WebSocketServer({ server, verifyClient: (_, answered) => answered(!isForgotten, 404) })
    sockets.on("connection", (socket, request) => {
      const asked = new URL(request.url ?? "", url).searchParams.get("offset")
      offsets.push(asked)
      const from = Number(asked)
      socket.send(JSON.stringify({ type: "start", offset: from }))
      socket.on("message", (data, isBinary) => received.push(isBinary ? String(data) : JSON.parse(String(data))))
      if (offsets.length === 1) {
        socket.send(frame(0, output.slice(0, 4)), () => socket.terminate())
        return
      }
      // What was sent before comes once more
      socket.send(frame(from - 2, output.slice(from - 2)))
      const exit = () => {
        socket.send(JSON.stringify({ type: "exit", exit_code: 3, signal: null }))
        socket.close(1000)
      }
      if (offsets.length === 2) setImmediate(exit)
      else socket.on("message", (_, isBinary) => (isBinary ? undefined : exit()))
    })
  })
  afterAll(() => server.close())

  it("goes on where its output was after a lost connection, and takes input", async () => {
    const sandbox = await createClient({ baseUrl: url, WebSocket }).sandboxes.get(agent)
    const started = await sandbox.spawn("count")
    expect(await new Response(started.stdout).text()).toBe(output)
    expect([offsets, started.offset]).toStrictEqual([["0", "4"], output.length])
    expect(await started.wait()).toStrictEqual({ exitCode: 3, signal: null })
  })

  it("gets input as frames, and its end as a message", async () => {
    const sandbox = await createClient({ baseUrl: url, WebSocket }).sandboxes.get(agent)
    const writer = (await sandbox.process("p1", { offset: 4 })).stdin.getWriter()
    await writer.write("in")
    await writer.close()
    await expect.poll(() => received).toStrictEqual(["\0in", { type: "close_stdin" }])
  })

  it.each(["stdout", "wait"] as const)("outlives a lost connection of its agent: %s", async (part) => {
    const sandbox = await createClient({ baseUrl: url, WebSocket }).sandboxes.get(agent)
    const started = await sandbox.process("p1", { offset: 4 })
    isForgotten = true
    agentStatus = { status: "disconnected", lifecycle_state: "ready" }
    const refused = once(server, "refused")
    offsets.splice(1)
    const ended = part === "wait" ? started.wait() : new Response(started.stdout).text()
    await refused
    isForgotten = false
    agentStatus = { status: "connected", lifecycle_state: "ready" }
    expect(await ended).toStrictEqual(part === "wait" ? { exitCode: 3, signal: null } : output.slice(4))
  })

  it("fails where its agent has ended with the workspace", async () => {
    const sandbox = await createClient({ baseUrl: url, WebSocket }).sandboxes.get(agent)
    const started = await sandbox.process("p1", { offset: 4 })
    isForgotten = true
    agentStatus = { status: "disconnected", lifecycle_state: "off" }
    await expect(started.wait()).rejects.toMatchObject({ status: 404 })
    isForgotten = false
    agentStatus = { status: "connected", lifecycle_state: "ready" }
  })

  it("fails once its agent does not know it any more", async () => {
    const sandbox = await createClient({ baseUrl: url, WebSocket }).sandboxes.get(agent)
    const started = await sandbox.process("p1", { offset: 4 })
    isForgotten = true
    await expect(new Response(started.stdout).text()).rejects.toMatchObject({ status: 404 })
  })
})

describe("an empty range of a file, and a call that is aborted", () => {
  const id = "00000000-0000-7000-8000-000000000001"
  const asked: Array<string> = []
  let creating: ServerResponse | undefined
  let server: Server
  let url: string

  const workspace = {
    id,
    name: "w",
    owner_name: "ada",
    latest_build: {
      id,
      status: "running",
      job: {},
      resources: [{ agents: [{ id, name: "main", status: "connected", lifecycle_state: "ready" }] }]
    }
  }

  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(`${request.method} ${new URL(request.url ?? "", url).pathname} ${request.headers.range ?? ""}`.trim())
      if (request.url?.includes("missing")) response.writeHead(404).end("{}")
      else if (request.url?.includes("/files")) response.end(request.headers.range === undefined ? "whole" : "w")
      else if (request.method === "GET") response.end(JSON.stringify(workspace))
      else if (request.url?.endsWith("/workspaces")) {
        creating = response
        server.emit("creating")
      } else {
        response.writeHead(201).end("{}")
        server.emit("deleting")
      }
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    url = typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : ""
  })
  afterAll(() => server.close())

  it("has no bytes, is refused as the file is, and has no negative ends", async () => {
    const { files } = await createClient({ baseUrl: url }).sandboxes.get(id)
    expect(await files.read("f", { start: 5, end: 5 })).toStrictEqual(new Uint8Array())
    expect(await files.text("f", { end: 0 })).toBe("")
    expect(await new Response(await files.stream("f", { start: 3, end: 1 })).text()).toBe("")
    await expect(files.text("missing", { end: 0 })).rejects.toMatchObject({ status: 404 })
    await expect(files.text("f", { start: -5 })).rejects.toThrow(RangeError)
    expect(await files.text("f")).toBe("whole")
  })

  it("fails at once while a workspace is created, which is deleted when its id is known", async () => {
    const aborting = new AbortController()
    const created = createClient({ baseUrl: url }).sandboxes.create({ template: id }, { signal: aborting.signal })
    await once(server, "creating")
    aborting.abort(new Error("enough"))
    await expect(created).rejects.toThrow("enough")
    const deletion = once(server, "deleting")
    creating?.writeHead(201).end(JSON.stringify(workspace))
    await deletion
    expect(asked.at(-1)).toBe(`POST /api/v2/workspaces/${id}/builds`)
  })
})
