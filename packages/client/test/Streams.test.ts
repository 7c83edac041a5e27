import { type AtelierError, builds, createClient, keys, ownAgent, templateVersions, workspaces } from "@atelier/client"
import { once } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { WebSocket, WebSocketServer } from "ws"
import { testEngines } from "../../../test/outside/engine.js"
import { aResource } from "../../../test/records/resources.js"
import { describeInterface } from "../../../test/http/server.js"
import { aTemplate } from "../../../test/http/templates.js"
import { aQueuedWorkspace, aWorkspace } from "../../../test/http/workspaceCalls.js"
import { spawn } from "../src/sandboxes/SandboxProcess.js"
import { usualDelay } from "../src/stream.js"

const all = async <A>(values: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const list: Array<A> = []
  for await (const value of values) list.push(value)
  return list
}

/** The next value of a stream. */
const next = async <A>(values: AsyncGenerator<A, void, undefined>): Promise<A> => {
  const { done, value } = await values.next()
  if (done === true) throw new Error("the stream is over")
  return value
}

/** Connects again at once. */
const reconnect = (): number => 0

describeInterface(
  "a stream",
  (server) => {
    const clientOf = (token: string) => createClient({ baseUrl: server().url, token, WebSocket })
    const owner = () => clientOf(server().owner().token)

    it("of a build's log has the stored lines, new lines, and an end", async () => {
      const template = await aTemplate(server(), { resources: [aResource()], logs: ["one", "two"] })
      const { latest_build: build } = await aQueuedWorkspace(server(), template, server().owner())
      const rows = await all(builds.followWorkspaceBuildLogs(owner(), { workspacebuild: build.id }))
      expect(rows.map(({ output }) => output)).toEqual(expect.arrayContaining(["one", "two"]))
      expect(await builds.getWorkspaceBuildLogs(owner(), { workspacebuild: build.id })).toStrictEqual(rows)
      expect(await builds.getWorkspaceBuildLogsText(owner(), { workspacebuild: build.id })).toContain("one\n")
      const after = rows.at(-2)?.id ?? 0
      expect(await all(builds.followWorkspaceBuildLogs(owner(), { workspacebuild: build.id, after }))).toStrictEqual(rows.slice(-1))
      const imported = await all(templateVersions.followTemplateVersionLogs(owner(), { templateversion: template.active_version_id }))
      expect(imported.length).toBeGreaterThan(0)
    })

    it.each(["watchWorkspace", "watchWorkspaceSocket"] as const)("of %s has the workspace, and again after a change", async (operation) => {
      const workspace = await aWorkspace(server(), await aTemplate(server(), { resources: [aResource()] }), server().owner())
      const values = workspaces[operation](owner(), { workspace: workspace.id })
      expect(await next(values)).toMatchObject({ id: workspace.id, latest_build: { build_number: 1 } })
      await builds.createWorkspaceBuild(owner(), { workspace: workspace.id, body: { transition: "stop" } })
      for await (const { latest_build } of values) if (latest_build.status === "stopped") break
      expect(await values.next()).toStrictEqual({ done: true, value: undefined })
    })

    it.each(["watchWorkspace", "watchWorkspaceSocket"] as const)("of %s ends with the right to it", async (operation) => {
      const workspace = await aWorkspace(server(), await aTemplate(server(), { resources: [aResource()] }), server().owner())
      const { key } = await keys.createToken(owner(), { user: "me", body: { token_name: operation } })
      const values = workspaces[operation](clientOf(key), { workspace: workspace.id }, { reconnect })
      await next(values)
      await keys.deleteKey(owner(), { user: "me", keyid: key.slice(0, 10) })
      const read = async (): Promise<never> => {
        for (;;) await next(values)
      }
      await expect(read()).rejects.toMatchObject({ name: "AtelierError", status: 401 })
    })

    it.each(["watchWorkspace", "watchWorkspaceSocket"] as const)("of %s that is refused fails with the refusal", async (operation) => {
      const workspace = "00000000-0000-4000-8000-000000000000"
      await expect(workspaces[operation](owner(), { workspace }).next()).rejects.toMatchObject({ status: 404 })
      await expect(workspaces[operation](clientOf("nobody"), { workspace }).next()).rejects.toMatchObject({ status: 401 })
    })

    it("of both directions is refused to a user where agents belong", async () => {
      await expect(ownAgent.connectAgent(owner())).rejects.toMatchObject({ status: 401 })
    })
  },
  { provisioner: testEngines }
)

/** Has a server listen, and returns its address. */
const listening = async (server: Server, port = 0): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  return `http://127.0.0.1:${address.port}`
}

/** Ends a server and its connections. */
const closed = async (server: Server): Promise<void> => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

/** Runs with a server of a test's own. */
const serving = async (server: Server, run: (url: string) => Promise<void>): Promise<void> => {
  const url = await listening(server)
  try {
    await run(url)
  } finally {
    await closed(server)
  }
}

const input = { workspace: "w" }

it("a stream waits longer before each attempt, up to half a minute", () => {
  const waits = (attempt: number) => Array.from({ length: 50 }, () => usualDelay(attempt))
  const longest = [500, 1_000, ...Array.from({ length: 38 }, () => 1_500), 3_000, 6_000, 12_000, 24_000, 30_000, 30_000]
  for (const [attempt, most] of longest.entries()) {
    const all = waits(attempt)
    expect(Math.max(...all)).toBeLessThanOrEqual(most)
    expect(Math.min(...all)).toBeGreaterThanOrEqual(most / 2)
    expect(new Set(all).size).toBeGreaterThan(1)
  }
  expect(Math.max(...waits(5_000))).toBeLessThanOrEqual(30_000)
})

it("a stream goes on within two seconds once a killed server is back after twenty", async () => {
  let requests = 0
  const serve = () =>
    createServer((_, response) => {
      requests += 1
      response.writeHead(200, { "content-type": "text/event-stream" }).write(`data: {"name":"${requests}"}\n\n`)
    })
  const killed = serve()
  const url = await listening(killed)
  const values = workspaces.watchWorkspace(createClient({ baseUrl: url }), input)
  await next(values)
  // The sockets of Node do not wait by these timers
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  onTestFinished(() => void vi.useRealTimers())
  const passing = async (milliseconds: number, until: () => boolean): Promise<void> => {
    for (let passed = 0; passed < milliseconds && !until(); passed += 100) {
      vi.advanceTimersByTime(100)
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const second = next(values)
  await closed(killed)
  await passing(20_000, () => false)
  const revived = serve()
  await listening(revived, Number(new URL(url).port))
  await passing(2_000, () => requests === 2)
  expect(requests).toBe(2)
  expect(await second).toMatchObject({ name: "2" })
  await values.return()
  await closed(revived)
})

describe("server-sent events", () => {
  type Answer = (response: ServerResponse, request: IncomingMessage) => void

  const events =
    (...chunks: ReadonlyArray<string>): Answer =>
    async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      // Each in a packet of its own
      for (const chunk of chunks) await new Promise((resolve) => response.write(chunk, () => setImmediate(resolve)))
      response.end()
    }
  const refuse =
    (status: number, headers: Readonly<Record<string, string>> = {}): Answer =>
    (response) =>
      void response.writeHead(status, headers).end(JSON.stringify({ message: `refused with ${status}` }))
  const event = (name: string): string => `event: data\ndata: {"name":"${name}"}\n\n`

  /** The names that a client reads from one answer after the other, and how it fails. */
  const read = async (
    answers: ReadonlyArray<Answer>,
    options: { readonly idleTimeout?: number; readonly reconnect?: false | ((attempt: number) => number) } = {}
  ) => {
    const names: Array<string> = []
    const waits: Array<number> = []
    const left = [...answers]
    let error: AtelierError | undefined
    const server = createServer((request, response) => (left.shift() ?? refuse(410))(response, request))
    await serving(server, async (url) => {
      const values = workspaces.watchWorkspace(createClient({ baseUrl: url }), input, {
        reconnect: (attempt) => {
          waits.push(attempt)
          return 0
        },
        ...options
      })
      try {
        for await (const { name } of values) names.push(name)
      } catch (thrown) {
        error = thrown as AtelierError
      }
    })
    return { names, status: error?.status, message: error?.message, detail: error?.detail, waits, left: left.length }
  }

  it("are parsed in every form of the standard, in any chunks", async () => {
    const written = [
      ": a comment\r\n\r\nevent: ping\n\n",
      "event:data\r",
      '\ndata:{"na',
      'me":\r\ndata: "é"}\r\n',
      "\r\nid: 7\nretry: 5\n",
      'data: {"name":"plain"}\n\n',
      'event: data\ndata: {"name":"incomplete"}\n'
    ]
    expect(await read([events(...written)])).toMatchObject({ names: ["é", "plain"], status: 410 })
  })

  it("continue after each interruption", async () => {
    const cut: Answer = (response) => {
      response.writeHead(200)
      response.write(event("cut"), () => response.destroy())
    }
    const answers = [events(event("first")), cut, refuse(503), refuse(429, { "retry-after": "0" }), events(event("last"))]
    // The first attempt after a value has the shortest wait
    expect(await read(answers)).toMatchObject({ names: ["first", "cut", "last"], status: 410, waits: [0, 0, 1, 2, 0], left: 0 })
  })

  it("continue after an error of the service", async () => {
    const error = 'event: error\ndata: {"message":"The store is away."}\n\n'
    expect(await read([events(event("first"), error), events(event("second"))])).toMatchObject({ names: ["first", "second"], status: 410 })
    expect(await read([events(event("first"), error)], { reconnect: false })).toMatchObject({
      names: ["first"],
      status: 0,
      message: "The stream was interrupted.",
      detail: "The store is away."
    })
  })

  it.each([401, 403, 404])("end when a later connection is refused with %i", async (status) => {
    expect(await read([events(event("first")), refuse(status), events(event("second"))])).toMatchObject({
      names: ["first"],
      status,
      message: `refused with ${status}`,
      left: 1
    })
  })

  it("fail when the first connection is refused for any reason", async () => {
    expect(await read([refuse(503), events(event("first"))])).toMatchObject({ names: [], status: 503, waits: [], left: 1 })
  })

  it("count as interrupted when the service is silent for too long", async () => {
    let requests = 0
    const server = createServer((_, response) => {
      // Every one but the first, as a busy machine may be silent too
      if (++requests > 1) response.writeHead(200).end(event("later"))
      else response.writeHead(200).write(event("first"))
    })
    await serving(server, async (url) => {
      const names: Array<string> = []
      const values = workspaces.watchWorkspace(createClient({ baseUrl: url }), input, { idleTimeout: 50, reconnect })
      for await (const { name } of values) if (names.push(name) === 2) break
      expect(names).toStrictEqual(["first", "later"])
    })
  })

  it("may be silent for ever", async () => {
    // Timers end at once for times that they cannot hold
    const whole = events(event("first"), event("second"))
    expect(await read([whole], { idleTimeout: Infinity })).toMatchObject({ names: ["first", "second"], waits: [0], left: 0 })
  })

  it("stop when the iteration is left or aborted", async () => {
    const server = createServer((_, response) => void response.writeHead(200).write(event("first")))
    await serving(server, async (url) => {
      const client = createClient({ baseUrl: url })
      const opened = once(server, "request")
      for await (const { name } of workspaces.watchWorkspace(client, input)) {
        expect(name).toBe("first")
        break
      }
      const [request]: Array<IncomingMessage> = await opened
      if (request?.socket.destroyed === false) await once(request.socket, "close")

      const controller = new AbortController()
      const values = workspaces.watchWorkspace(client, input, { signal: controller.signal })
      await next(values)
      const waiting = values.next()
      const reason = new Error("enough")
      controller.abort(reason)
      await expect(waiting).rejects.toBe(reason)
    })
  })

  it("wait no longer for the next attempt when they are aborted", async () => {
    const server = createServer((_, response) => void response.writeHead(200).end(event("first")))
    await serving(server, async (url) => {
      const controller = new AbortController()
      const reason = new Error("enough")
      const values = workspaces.watchWorkspace(createClient({ baseUrl: url }), input, {
        signal: controller.signal,
        reconnect: () => {
          queueMicrotask(() => controller.abort(reason))
          return 3_600_000
        }
      })
      await next(values)
      await expect(values.next()).rejects.toBe(reason)
    })
  })
})

describe("sockets", () => {
  type Serve = (socket: WebSocket, url: URL) => void

  /** Runs with a server that serves one socket after the other, and answers requests that are no sockets with a status. */
  const withSockets = async (
    sockets: ReadonlyArray<Serve | number>,
    run: (url: string, requests: ReadonlyArray<IncomingMessage>) => Promise<void>,
    plain = 426
  ): Promise<void> => {
    const left = [...sockets]
    const requests: Array<IncomingMessage> = []
    const upgrades = new WebSocketServer({ noServer: true })
    const server = createServer((_, response) => void response.writeHead(plain).end(JSON.stringify({ message: `refused with ${plain}` })))
    server.on("upgrade", (request, socket, head) => {
      requests.push(request)
      const serve = left.shift() ?? 500
      if (typeof serve === "number") return void socket.end(`HTTP/1.1 ${serve} Refused\r\nConnection: close\r\n\r\n`)
      upgrades.handleUpgrade(request, socket, head, (webSocket) => serve(webSocket, new URL(request.url ?? "", "http://atelier.test")))
    })
    await serving(server, async (url) => {
      await run(url, requests)
      for (const client of upgrades.clients) client.terminate()
    })
  }

  const rows =
    (ids: ReadonlyArray<number>, code: number): Serve =>
    (socket) => {
      for (const id of ids) socket.send(JSON.stringify({ id }))
      socket.close(code)
    }

  const follow = (url: string, options = {}, after?: number) =>
    builds.followWorkspaceBuildLogs(createClient({ baseUrl: url, token: "secret", WebSocket }), { workspacebuild: "b", after }, options)

  const afterOf = (request: IncomingMessage): string | null => new URL(request.url ?? "", "http://atelier.test").searchParams.get("after")

  it("continue behind the last row after an interruption, and end when the service is done", async () => {
    await withSockets([rows([3, 4], 1012), rows([], 1001), 503, (socket) => socket.terminate(), rows([5], 1000)], async (url, requests) => {
      const ids = (await all(follow(url, { reconnect }, 2))).map(({ id }) => id)
      expect(ids).toStrictEqual([3, 4, 5])
      expect(requests.map(afterOf)).toStrictEqual(["2", "4", "4", "4", "4"])
    })
  })

  it("carry the token in a header where the platform can set one", async () => {
    await withSockets([rows([], 1000)], async (url, requests) => {
      await all(follow(url))
      expect(requests[0]?.headers["service-session-token"]).toBe("secret")
    })
  })

  it("carry the token in the address in browsers", async () => {
    /** Refuses, as browsers do, what is neither the name of a subprotocol nor a list of names. */
    class BrowserSocket extends WebSocket {
      constructor(url: string, protocols?: unknown) {
        if (protocols !== undefined) throw new DOMException(`The subprotocol '${String(protocols)}' is invalid.`, "SyntaxError")
        super(url)
      }
    }
    await withSockets([rows([1], 1000)], async (url, requests) => {
      const client = createClient({ baseUrl: url, token: "se&cret", WebSocket: BrowserSocket })
      expect(await all(builds.followWorkspaceBuildLogs(client, { workspacebuild: "b" }))).toStrictEqual([{ id: 1 }])
      expect(requests[0]?.url).toBe("/api/v2/workspacebuilds/b/logs?follow=&service_session_token=se%26cret")
    })
  })

  it.each([401, 404])("end with the refusal when the right to them has ended (%i)", async (status) => {
    await withSockets(
      [rows([1], 1008), rows([2], 1000)],
      async (url, requests) => {
        const values = follow(url, { reconnect })
        expect(await next(values)).toStrictEqual({ id: 1 })
        await expect(values.next()).rejects.toMatchObject({ status, message: `refused with ${status}` })
        expect(requests).toHaveLength(1)
      },
      status
    )
  })

  it("fail with the reason of the close when the service says no more about it", async () => {
    await withSockets([(socket) => socket.close(1008, "The session has expired.")], async (url) => {
      await expect(follow(url, { reconnect }).next()).rejects.toMatchObject({ status: 403, message: "The session has expired." })
    })
  })

  it("fail when the first connection is refused, with the service's reason", async () => {
    await withSockets(
      [404],
      async (url) => {
        await expect(follow(url, { reconnect }).next()).rejects.toMatchObject({ status: 404, message: "refused with 404" })
      },
      404
    )
    await withSockets([502], async (url) => {
      await expect(follow(url, { reconnect }).next()).rejects.toMatchObject({ status: 0, message: "The WebSocket cannot be opened." })
    })
  })

  it("lose no row when the program reads more slowly than the service sends", async () => {
    const total = 24
    const padding = "x".repeat(1024 * 1024)
    let closed: Promise<unknown> = Promise.resolve()
    const flood: Serve = (socket, url) => {
      closed = once(socket, "close")
      const after = Number(url.searchParams.get("after") ?? 0)
      for (let id = after + 1; id <= total; id++) socket.send(JSON.stringify({ id, output: padding }))
      socket.close(1000)
    }
    // A client that does not answer the close in time; the usual time is half a minute
    const impatient: Serve = (socket, url) => {
      flood(socket, url)
      setTimeout(() => socket.terminate(), 500)
    }
    await withSockets([impatient, flood], async (url, requests) => {
      const values = follow(url, { reconnect })
      const ids = [(await next(values)).id]
      // The program reads nothing until the service gives the connection up
      await closed
      for await (const { id } of values) ids.push(id)
      expect(ids).toStrictEqual(Array.from({ length: total }, (_, index) => index + 1))
      expect(requests).toHaveLength(2)
    })
  })

  it("fail with the signal's reason when they are aborted", async () => {
    await withSockets([(socket) => socket.send('{"id":1}'), () => {}], async (url) => {
      const reason = new Error("enough")
      const controller = new AbortController()
      const values = follow(url, { signal: controller.signal })
      await next(values)
      const waiting = values.next()
      controller.abort(reason)
      await expect(waiting).rejects.toBe(reason)
      await expect(follow(url, { signal: AbortSignal.abort(reason) }).next()).rejects.toBe(reason)
    })
  })

  it("of both directions send and receive messages", async () => {
    const echo: Serve = (socket) => {
      socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }))
    }
    await withSockets([echo], async (url) => {
      const socket = await ownAgent.connectAgent(createClient({ baseUrl: url, WebSocket }), { version: "2.0" })
      socket.send("text")
      socket.send(Uint8Array.of(1, 2))
      const messages: Array<unknown> = []
      for await (const message of socket) {
        messages.push(message)
        if (messages.length === 2) break
      }
      expect(messages).toStrictEqual(["text", Uint8Array.of(1, 2)])
      expect(await socket.closed).toMatchObject({ code: 1000 })
    })
  })

  it("of both directions end with how they were closed", async () => {
    await withSockets([(socket) => socket.close(1000), (socket) => socket.close(1011, "broken")], async (url) => {
      const client = createClient({ baseUrl: url, WebSocket })
      expect(await all(await ownAgent.connectAgent(client))).toStrictEqual([])
      await expect(all(await ownAgent.connectAgent(client))).rejects.toMatchObject({ status: 0, detail: "1011 broken" })
    })
  })

  it("need a class of WebSockets where the platform has none, before a process is started for them", async () => {
    const client = { ...createClient({ baseUrl: "http://127.0.0.1" }), WebSocket: undefined }
    await expect(builds.followWorkspaceBuildLogs(client, { workspacebuild: "b" }).next()).rejects.toThrow(
      'This platform has no WebSocket: give createClient the option `WebSocket`, such as the class of the package "ws".'
    )
    const fetch = () => Promise.reject(new Error("a process was started"))
    await expect(spawn({ ...client, fetch }, "agent", "true")).rejects.toThrow("This platform has no WebSocket")
  })
})
