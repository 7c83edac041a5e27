/** Recorded sessions of terminals: what the client sent, what it was shown, and how the socket ended. agents-and-apps.md §18. */
import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { type AgentServer, describeAgentInterface } from "../agents/AgentServer.js"
import { link } from "../network/linkedAgents.js"

/** A message of the client, as JSON unless it is bytes or a text message, and what the terminal shows then. */
type Step = readonly [message: object | Buffer | string, shown?: RegExp]

interface Session {
  readonly query?: Readonly<Record<string, string>>
  readonly origin?: string
  /** What the terminal shows before the first message is sent. */
  readonly begins?: RegExp
  readonly steps?: ReadonlyArray<Step>
  readonly shows?: RegExp
  /** The code and the reason of the close, the client's own if it closes. */
  readonly close?: readonly [code: number, reason: string]
  readonly end: number
}

/** Milliseconds that a terminal may take to show something: it runs beside all other tests. */
const patience = 60_000

const bytes = (text: string): Buffer => Buffer.from(text)

const sessions: Readonly<Record<string, Session>> = {
  interactive: {
    query: { height: "24", width: "80" },
    begins: /[#$] $/,
    steps: [
      // A prompt that comes late would stand amid what is typed
      [{ data: "PS1=; printf 'rea''dy\\n'\r" }, /ready\r\n/],
      [{ data: "echo hel" }],
      [{ data: "lo\r" }, /hello\r\n[^]*hello\r\n/],
      [{ height: 40, width: 120 }],
      [{ data: "stty size\r" }, /40 120/],
      [{ data: "printf '\\377\\376\\n'; echo \u00e9\r", height: 30, width: 100 }, /\u00ff\u00fe\r\n\u00c3\u00a9\r\n/],
      // A height without a width changes nothing
      [{ height: 10 }],
      [{ data: "stty size\r" }, /30 100/],
      [bytes('{"data":"echo two"}{"data":"-objects\\r"}'), /two-objects\r\n[^]*two-objects\r\n/],
      [bytes('{"data":"echo spl')],
      [bytes('it\\r"}'), /split\r\n[^]*split\r\n/]
    ],
    close: [1000, "bye"],
    end: 1000
  },
  command: { query: { command: "echo one; echo two; exit 3" }, shows: /one\r\ntwo\r\n/, end: 1000 },
  "bad JSON": { steps: [[bytes("no JSON")]], end: 1000 },
  "a text message": { steps: [['{"data":"x"}']], end: 1003 },
  "the size unless given": { steps: [[{ data: "stty size; exit\r" }]], shows: /80 80/, end: 1000 },
  "a height beyond those of terminals": { query: { height: "70000", command: "stty size" }, shows: /65535 80/, end: 1000 },
  "the origin of the access URL": { query: { command: "true" }, origin: "http://atelier.test", end: 1000 }
}

const play = async (server: AgentServer, id: string, { begins, close, end, origin, query = {}, shows, steps = [] }: Session) => {
  const url = `${server.url.replace("http", "ws")}/api/v2/workspaceagents/${id}/pty?${new URLSearchParams({ reconnect: randomUUID(), ...query })}`
  const headers = { "service-session-token": server.owner().token, ...(origin === undefined ? {} : { origin }) }
  const socket = new WebSocket(url, { headers })
  let shown = ""
  let cookies: ReadonlyArray<string> = []
  socket.on("upgrade", (response) => (cookies = response.headers["set-cookie"] ?? []))
  socket.on("message", (data: Buffer) => (shown += data.toString("latin1")))
  const ended = new Promise<number>((resolve) => socket.once("close", resolve))
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject))
  // No compression, although the client offers it
  expect(socket.extensions).toBe("")
  // A shell that is still starting would show its prompt amid what is typed
  if (begins !== undefined) await expect.poll(() => shown, { timeout: patience }).toMatch(begins)
  for (const [message, pattern] of steps) {
    socket.send(typeof message === "string" || Buffer.isBuffer(message) ? message : bytes(JSON.stringify(message)))
    if (pattern === undefined) continue
    await expect.poll(() => shown, { timeout: patience }).toMatch(pattern)
    shown = ""
  }
  if (close !== undefined) socket.close(...close)
  expect(await ended).toBe(end)
  if (shows !== undefined) expect(shown).toMatch(shows)
  return cookies
}

describeAgentInterface("a recorded terminal", (server) => {
  it.each(Object.entries(sessions))("%s", async (_, session) => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const cookies = await play(server(), agent.id, session)
    expect(cookies.map((cookie) => cookie.split("=", 1)[0])).toContain("service_signed_app_token")
  })

  it("is refused", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const [owner, other] = [server().owner().token, (await server().aMember()).token]
    const reconnect = randomUUID()
    const status = async (query: string, token?: string, id: string = agent.id) => {
      const headers = { connection: "Upgrade", upgrade: "websocket", ...(token === undefined ? {} : { "service-session-token": token }) }
      return new Promise((resolve) =>
        new WebSocket(`${server().url.replace("http", "ws")}/api/v2/workspaceagents/${id}/pty?${query}`, { headers })
          .once("unexpected-response", (_, response) => resolve(response.statusCode))
          .on("error", () => undefined)
      )
    }
    expect([
      await status("", owner),
      await status("reconnect=zzz", owner),
      await status(`reconnect=${reconnect}&height=-1&width=x`, owner),
      await status("reconnect=", owner),
      await status(`reconnect=${reconnect}`),
      await status(`reconnect=${reconnect}`, other),
      await status(`reconnect=${reconnect}`, owner, "00000000-0000-4000-8000-000000000000"),
      await status(`reconnect=${reconnect}&service_signed_app_token_23db1dde=bogus`)
    ]).toStrictEqual([400, 400, 400, 400, 404, 404, 404, 404])
  })
})
