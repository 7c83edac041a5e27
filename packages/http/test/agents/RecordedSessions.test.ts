/**
 * What existing agents and clients sent over RPC sockets, byte for byte, and what they were told. wire.md §5. Left out of the
 * recordings: an agent that deletes itself, which is refused here, and transfers of megabytes.
 */
import { AgentService, Frame, Packet, type Service, TailnetService, Uuid as ProtocolUuid } from "@atelier/agent-protocol"
import type { ProvisionedAgent } from "@atelier/core/provisioning"
import { Either, Option, Schema } from "effect"
import { EventEmitter, once } from "node:events"
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { anApp } from "../../../../test/records/resources.js"
import { agentNode, coordinate } from "../network/peers.js"
import { type AgentServer, describeAgentInterface, type RunningAgent } from "./AgentServer.js"

const RecordedSession = Schema.parseJson(
  Schema.Struct({
    name: Schema.String,
    path: Schema.String,
    as: Schema.Literal("owner", "member", "agent"),
    /** WebSocket messages: who sent it, and its bytes. */
    frames: Schema.Array(Schema.Tuple(Schema.Literal("client", "client text", "server"), Schema.Uint8ArrayFromBase64)),
    close: Schema.Struct({ by: Schema.Literal("client", "server"), code: Schema.Number, reason: Schema.String })
  })
)
type RecordedSession = typeof RecordedSession.Type

const sessions = readFileSync(new URL("recordedSessions.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => Schema.decodeSync(RecordedSession)(line))

const methods = new Map<string, Service.AnyMethod>(
  [AgentService, TailnetService].flatMap((service) =>
    Object.entries(service.methods).map(([name, method]) => [`/${service.name}/${name}`, method] as const)
  )
)
const kinds = new Map(Object.entries(Packet.Kind).map(([name, kind]) => [kind, name]))

interface Said {
  readonly stream: number
  readonly kind: string
  readonly method?: string | undefined
  readonly value?: unknown
}

/** Reads the packets of both sides of a socket, so that an answer is read as its call's. */
class Listener {
  readonly said: Array<Said> = []
  private readonly sides = { client: this.side(false), server: this.side(true) }
  private readonly called = new Map<number, string>()

  private side(isServer: boolean) {
    const frames = new Frame.Decoder()
    const packets = new Map<number, Packet.Decoder>()
    let stream = 0
    return (bytes: Uint8Array): void => {
      for (const event of frames.decode(bytes)) {
        if (event._tag === "Invalid") return
        if (event._tag === "Header") {
          stream = event.header.streamId
          if (isServer && (event.header.flags & Frame.Flag.RST) !== 0) this.said.push({ stream, kind: "RST" })
          continue
        }
        const decoder = packets.get(stream) ?? new Packet.Decoder()
        packets.set(stream, decoder)
        for (const packet of decoder.decode(event.bytes)) this.receive(stream, packet, isServer)
      }
    }
  }

  private receive(stream: number, packet: Packet.Packet | Packet.Violation, isServer: boolean): void {
    if (packet.kind === "Violation") return void this.said.push({ stream, kind: packet.message })
    const { data, kind } = packet
    if (kind === Packet.Kind.Invoke) return void this.called.set(stream, Buffer.from(data).toString())
    if (!isServer) return
    const method = this.called.get(stream)
    const found = methods.get(method ?? "")
    // The texts of errors are our own
    const value = kind === Packet.Kind.Message && found !== undefined ? Either.getOrThrow(found.response.decode(data)) : undefined
    this.said.push({ stream, kind: kinds.get(kind) ?? "", method, value })
  }

  hear(by: "client" | "server", bytes: Uint8Array): void {
    this.sides[by](bytes)
  }
}

/** Members whose values are a server's own: their presence counts. */
const own = new Set([
  "reason",
  "token",
  "auth_token",
  "expires_at",
  "node",
  "regions",
  "vs_code_port_proxy_uri",
  "owner_username",
  "subdomain_name",
  "display_name",
  "git_auth_configs",
  "health"
])

const uuidLength = 36

const bytesOf = (uuid: string): Buffer => Buffer.from(uuid.replaceAll("-", ""), "hex")

/** The ids of a recording and those of this server. An answer teaches an id where the recorded answer has the old one. */
class Ids {
  private readonly known = new Map<string, string>()

  learn(recorded: unknown, here: unknown): void {
    if (recorded instanceof Uint8Array && here instanceof Uint8Array) {
      const [from, to] = [recorded, here].map((bytes) => Option.getOrUndefined(ProtocolUuid.fromBytes(bytes)))
      if (from !== undefined && to !== undefined && !this.known.has(from)) this.known.set(from, to)
    } else if (typeof recorded === "object" && recorded !== null && typeof here === "object" && here !== null) {
      for (const [key, value] of Object.entries(recorded)) this.learn(value, Object.entries(here).find(([name]) => name === key)?.[1])
    }
  }

  set(recorded: string, here: string): void {
    this.known.set(recorded, here)
  }

  inBytes(bytes: Uint8Array): Uint8Array {
    const copy = Buffer.from(bytes)
    for (const [from, to] of this.known) {
      if (from.length !== uuidLength) continue
      for (let at = copy.indexOf(bytesOf(from)); at >= 0; at = copy.indexOf(bytesOf(from), at + 16)) bytesOf(to).copy(copy, at)
    }
    return new Uint8Array(copy)
  }

  /** A recorded value as what the value here is compared with. */
  expected(value: unknown): unknown {
    if (typeof value === "string") return [...this.known].reduce((text, [from, to]) => text.replaceAll(from, to), value)
    if (value instanceof Uint8Array) return this.inBytes(value)
    if (Array.isArray(value)) return value.map((item) => this.expected(item))
    if (typeof value !== "object" || value === null || value instanceof Map) return value
    // A refusal that names a field says why in words of its own
    const isOwn = (key: string): boolean => own.has(key) || (key === "error" && "field" in value)
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, isOwn(key) && item !== undefined ? expect.anything() : this.expected(item)])
    )
  }
}

/** What each call was answered: calls at the same time may be answered in another order. */
const byStream = (said: ReadonlyArray<Said>): Readonly<Record<string, ReadonlyArray<Said>>> =>
  Object.fromEntries(
    [...new Set(said.map(({ stream }) => stream))].map((stream) => [stream, said.filter((item) => item.stream === stream)])
  )

/** Milliseconds that an answer may take. */
const patience = 60_000

/** Sends what the recorded client sent, each message once all that preceded it has been heard; then waits for the end. */
const play = async (session: RecordedSession, url: string, token: string, ids: Ids) => {
  const socket = new WebSocket(url, { headers: { "Coder-Session-Token": token } })
  const [recorded, here] = [new Listener(), new Listener()]
  const hearing = new EventEmitter()
  socket.on("message", (data: Buffer) => {
    here.hear("server", new Uint8Array(data))
    hearing.emit("heard")
  })
  const end = new Promise<{ readonly code: number; readonly reason: string }>((resolve, reject) => {
    socket.on("close", (code, reason) => resolve({ code, reason: String(reason) }))
    socket.on("error", reject)
  })
  end.catch(() => {})
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject))
  const heard = async () => {
    const isHeard = () => here.said.length >= recorded.said.length
    const signal = AbortSignal.timeout(patience)
    try {
      while (!isHeard()) await once(hearing, "heard", { signal })
    } catch (error) {
      // The answers until then are compared, which shows the missing ones
      if (!signal.aborted) throw error
    }
    const ours = byStream(here.said)
    for (const [stream, said] of Object.entries(byStream(recorded.said))) {
      said.forEach(({ value }, index) => ids.learn(value, ours[stream]?.[index]?.value))
    }
    return isHeard()
  }
  try {
    for (const [by, bytes] of session.frames) {
      if (by === "server") {
        recorded.hear("server", bytes)
        continue
      }
      if (!(await heard())) break
      if (by === "client text") socket.send(Buffer.from(bytes).toString())
      else {
        recorded.hear("client", bytes)
        const message = ids.inBytes(bytes)
        here.hear("client", message)
        socket.send(message)
      }
    }
    const isWhole = await heard()
    if (session.close.by === "client" || !isWhole)
      socket.close(session.close.code === 1005 ? undefined : session.close.code, session.close.reason)
    return { recorded: recorded.said, here: here.said, end: await end }
  } finally {
    socket.terminate()
  }
}

const recordedAgents = ["28c0229c-ee2e-40b2-a6c4-1a75ff73686c", "aa06c2f3-f398-4fbd-ba55-868918de0ac1"]
const recordedWorkspace = { id: "3e9eb647-a705-43d5-bbe9-86452e34ee6c", name: "dev" }
const recordedOwner = "701ba038-9f18-45c7-be9b-144edf13c9d1"
const recordedMember = "7c22ee16-204a-4d37-9ff3-52935f60477f"

const healthcheck = { url: "http://127.0.0.1:18080/healthz", interval: 2, threshold: 2 }
const aScript = {
  display_name: "",
  icon: "",
  log_path: "",
  cron: "",
  run_on_start: false,
  run_on_stop: false,
  start_blocks_login: false,
  timeout_seconds: 0
}

/** The agent that the recorded ones were, as far as answers tell of it. */
const likeRecorded: Partial<ProvisionedAgent> = {
  directory: "/home/coder",
  motd_file: "/etc/motd",
  environment_variables: { DEMO: "one", OTHER: "two words" },
  apps: [
    anApp({ slug: "based", display_name: "based", url: "http://127.0.0.1:18080/base/?x=1", subdomain: true }),
    anApp({ slug: "basedpath", display_name: "basedpath", url: "http://127.0.0.1:18080/base?x=1" }),
    anApp({
      slug: "down",
      display_name: "down",
      url: "http://127.0.0.1:18099",
      subdomain: true,
      healthcheck: { ...healthcheck, url: "http://127.0.0.1:18099/healthz" }
    }),
    anApp({ slug: "ext", display_name: "ext", url: "https://example.com/x", external: true }),
    anApp({ slug: "pathapp", display_name: "pathapp", url: "http://127.0.0.1:18080", icon: "/icon/code.svg", healthcheck }),
    anApp({ slug: "sub", display_name: "sub", url: "http://127.0.0.1:18080", subdomain: true }),
    anApp({ slug: "subauth", display_name: "subauth", url: "http://127.0.0.1:18080", subdomain: true, sharing_level: "authenticated" }),
    anApp({ slug: "subpub", display_name: "subpub", url: "http://127.0.0.1:18080", subdomain: true, sharing_level: "public" })
  ],
  scripts: [
    {
      ...aScript,
      script: "#!/bin/sh\necho starting up\necho warn on stderr >&2\nsleep 1\necho done\n",
      run_on_start: true,
      start_blocks_login: true,
      timeout_seconds: 30
    },
    { ...aScript, script: "echo cron; exit 0", cron: "0 0 4 * * *" },
    { ...aScript, script: "echo shutting down; exit 1", run_on_stop: true, timeout_seconds: 10 }
  ],
  monitors: [
    { path: "", enabled: true, threshold: 80 },
    { path: "/home/coder", enabled: true, threshold: 80 }
  ],
  metadata: [
    { key: "broken", display_name: "Broken", script: "echo oops >&2; exit 3", interval: 10, timeout: 1, order: 0 },
    { key: "load", display_name: "Load", script: "echo 0.5", interval: 5, timeout: 2, order: 0 }
  ]
}

/** An agent that is ready for every client that it hears of. */
const join = async (server: AgentServer, { id, token }: RunningAgent) => {
  const connection = await server.connect(token)
  const peer = coordinate(connection)
  peer.send(agentNode(id))
  const answer = async (): Promise<void> => {
    for (const [client, kind] of await peer.next()) {
      if (kind === "NODE") peer.send({ ready_for_handshake: [{ id: bytesOf(String(client)) }] })
    }
    return answer()
  }
  answer().catch(() => {})
  return connection
}

describeAgentInterface(
  "a recorded session",
  (server) => {
    it.each(sessions)("$name", async (session) => {
      const owner = await server().aMember()
      const member = await server().aMember()
      const agent = await server().anAgent(likeRecorded, owner)
      const ids = new Ids()
      for (const id of recordedAgents) ids.set(id, agent.id)
      ids.set(recordedWorkspace.id, agent.workspace.id)
      ids.set(recordedWorkspace.name, agent.workspace.name)
      ids.set(recordedOwner, owner.user.id)
      ids.set(recordedMember, member.user.id)
      const tokens = { owner: owner.token, member: member.token, agent: agent.token }
      const url = `${server().url.replace("http", "ws")}/api/v2${session.path.replace("{agent}", agent.id)}`
      const joined = session.as === "agent" ? undefined : await join(server(), agent)
      const { end, here, recorded } = await play(session, url, tokens[session.as], ids).finally(() => joined?.close())
      expect(byStream(here)).toEqual(byStream(recorded.map((said) => ({ ...said, value: ids.expected(said.value) }))))
      expect(end.code).toBe(session.close.code)
    })
  },
  { compatibility: "coder", options: { agentStatsRefreshInterval: "10 seconds", derpForceWebsockets: true } }
)
