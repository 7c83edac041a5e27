/** Recorded conversations with a relay, played against ours with the same keys. agents-and-apps.md §12. */
import { Relay } from "@atelier/agent-protocol"
import { Schema } from "effect"
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { describeInterface, type TestServer } from "../../../../../test/http/server.js"
import { bytesOf, clientInfo, framesUntilPong, type Incoming, rawPeer, type RelayPeer, webSocketPeer } from "./RelayPeer.js"

const { RelayFrame } = Relay
const { FrameType } = RelayFrame

const Hex = Schema.String

const Event = Schema.Struct({
  ms: Schema.Number,
  conn: Schema.optional(Schema.String),
  dir: Schema.optional(Schema.Literal("c2s", "s2c")),
  http: Schema.optional(Schema.Array(Schema.String)),
  body: Schema.optional(Schema.String),
  type: Schema.optional(Schema.Number),
  payload: Schema.optional(Hex),
  plaintext: Schema.optional(Schema.String),
  nonce: Schema.optional(Hex),
  ws_message_bytes: Schema.optional(Schema.Number),
  ws_opcode: Schema.optional(Schema.Number),
  code: Schema.optional(Schema.Number),
  note: Schema.optional(Schema.String),
  event: Schema.optional(Schema.Literal("client closes TCP", "server sent FIN", "closed", "connection is still open"))
})
type Event = typeof Event.Type

const Vector = Schema.Struct({
  keys: Schema.Record({ key: Schema.String, value: Schema.Struct({ secret_key: Hex, public_key: Hex }) }),
  scenarios: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      about: Schema.String,
      connections: Schema.Record({
        key: Schema.String,
        value: Schema.Struct({ key: Schema.String, transport: Schema.Literal("raw", "websocket") })
      }),
      events: Schema.Array(Event)
    })
  )
})

const { keys, scenarios } = Schema.decodeUnknownSync(Schema.parseJson(Vector))(
  readFileSync(new URL("./vector.json", import.meta.url), "utf8")
)

/** The bytes of a payload. The recording shortens long ones: their last byte repeats to the length in brackets. */
const expand = (payload: string): string => {
  const [, beginning, length] = /^([0-9a-f]+)…\((\d+) bytes\)$/.exec(payload) ?? []
  return beginning === undefined ? payload : beginning + beginning.slice(-2).repeat(Number(length) - beginning.length / 2)
}

/** One connection of a scenario while it is played. */
class Played {
  readonly #keys: Relay.Box.KeyPair
  peer: RelayPeer | undefined
  relayKey = new Uint8Array(32)
  isIn = false
  isOver = false

  constructor(name: string) {
    const known = keys[name]
    if (known === undefined) throw new Error(`${name} has no keys`)
    this.#keys = { publicKey: bytesOf(known.public_key), secretKey: bytesOf(known.secret_key) }
  }

  next(): Promise<Incoming> {
    return this.#opened.next()
  }

  get #opened(): RelayPeer {
    if (this.peer === undefined) throw new Error("the connection is not open")
    return this.peer
  }

  /** Sends what the client of the recording has sent. */
  send({ note, nonce, payload, plaintext, type }: Event): void {
    if (note === "text message 'hi'") return this.#opened.sendText("hi")
    if (note === "ws ping 'pp'") return this.#opened.ping("pp")
    if (note === "WebSocket close 1000") return this.#opened.close(1000)
    if (payload === undefined) throw new Error("nothing is sent")
    const bytes = bytesOf(expand(payload))
    if (type === undefined) {
      // A frame that is split over two messages
      this.#opened.send(bytes.subarray(0, 3))
      return this.#opened.send(bytes.subarray(3))
    }
    if (plaintext === undefined || nonce === undefined) return this.#opened.send(RelayFrame.make(type, bytes))
    this.#opened.send(clientInfo(plaintext, bytesOf(nonce), this.relayKey, this.#keys))
  }

  /** Compares the frames that arrive with those that the recorded relay sent. */
  async expectFrame({ payload = "", plaintext, type }: Event, messageBytes: number | undefined): Promise<void> {
    const frame = await this.next()
    if (frame._tag !== "frame") return expect(frame).toEqual({ type, payload })
    expect(frame.type).toBe(type)
    expect(frame.messageBytes).toBe(messageBytes)
    if (type === FrameType.ServerKey) {
      const bytes = bytesOf(frame.payload)
      this.relayKey = bytes.slice(8)
      expect(frame.payload.slice(0, 16)).toBe(payload.slice(0, 16))
      expect(bytes).toHaveLength(40)
    } else if (type === FrameType.ServerInfo) {
      this.isIn = true
      expect(Relay.Box.openServerInfo(bytesOf(frame.payload), this.relayKey, this.#keys.secretKey)).toBe(plaintext)
    } else expect(frame.payload).toBe(expand(payload))
  }
}

const expectHead = (head: Incoming, { body, http = [] }: Event): void => {
  if (head._tag !== "head") return expect(head).toEqual(http)
  const [status, ...headers] = http
  expect(head.lines[0]).toBe(status)
  const isRaw = headers.includes("Derp-Version: 2")
  if (isRaw) {
    expect(head.lines.slice(1, -1)).toEqual(headers.slice(0, -1))
    return expect(head.lines.at(-1)).toMatch(/^Derp-Public-Key: [0-9a-f]{64}$/)
  }
  const sent = head.lines.map((line) => line.toLowerCase())
  for (const header of headers.filter((line) => /^(Allow|Access-|Timing-|Sec-)/.test(line))) expect(sent).toContain(header.toLowerCase())
  if (status?.includes(" 200 ")) expect(head.body).toBe(body)
}

const open = (server: TestServer, transport: string, head: ReadonlyArray<string>): Promise<RelayPeer> =>
  transport === "websocket" ? webSocketPeer(server.url, { Host: "127.0.0.1:3600" }) : rawPeer(server.url, head)

/** Ends a connection, on which nothing may have come that the recording does not have. */
const leave = async (connection: Played): Promise<void> => {
  if (connection.isIn && !connection.isOver && connection.peer !== undefined) {
    // A client of the recording leaves without waiting for an answer to its ping
    const left = await framesUntilPong(connection.peer)
    expect(left.filter((item) => item._tag !== "frame" || item.type !== FrameType.Pong)).toEqual([])
  }
  connection.isOver = true
  await connection.peer?.leave()
}

/** Milliseconds of the recording that are a wait, and not the time that something took. */
const aWait = 1000

const play = async (server: TestServer, { connections, events }: (typeof scenarios)[number]): Promise<void> => {
  const played = new Map(Object.entries(connections).map(([name, { key }]) => [name, new Played(key)]))
  let before = 0
  let messageBytes: number | undefined
  for (const event of events) {
    if (event.ms - before >= aWait) server.advance(event.ms - before)
    before = event.ms
    const connection = played.get(event.conn ?? "")
    const transport = connections[event.conn ?? ""]?.transport
    if (connection === undefined || transport === undefined) continue
    if (event.event !== undefined) {
      if (event.event === "server sent FIN" && transport === "raw") {
        expect(await connection.next()).toEqual({ _tag: "end" })
        connection.isOver = true
      }
      if (event.event === "client closes TCP") await leave(connection)
    } else if (event.http !== undefined) {
      if (event.dir === "c2s") connection.peer = await open(server, transport, event.http)
      else expectHead(await connection.next(), event)
    } else if (event.dir === "c2s") connection.send(event)
    else if (event.ws_message_bytes !== undefined) messageBytes = event.ws_message_bytes
    else if (event.ws_opcode === 10) expect(await connection.next()).toEqual({ _tag: "pong", payload: event.payload })
    else if (event.ws_opcode === 8) {
      expect(await connection.next()).toEqual({ _tag: "closed", code: event.code })
      connection.isOver = true
    } else {
      // Keep-alives come at a random time within these seconds
      if (event.type === FrameType.KeepAlive) server.advance("5 seconds")
      await connection.expectFrame(event, transport === "websocket" ? messageBytes : undefined)
    }
  }
}

describeInterface(
  "recorded conversations with the relay",
  (server) => {
    it("are 37", () => expect(scenarios).toHaveLength(37))

    for (const scenario of scenarios) it(`${scenario.name}: ${scenario.about}`, () => play(server(), scenario))
  },
  { empty: true, accessUrl: "http://127.0.0.1:3600", options: { redirectToAccessUrl: true } }
)
