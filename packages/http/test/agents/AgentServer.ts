/** The service with workspaces whose agents have connected, or may. */
import {
  type AgentClient,
  AgentService,
  DrpcClient,
  type SessionEnded,
  Session,
  type TailnetClient,
  TailnetService
} from "@atelier/agent-protocol"
import { BuildResources } from "@atelier/core/agents"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Uuid } from "@atelier/core/platform"
import type { ProvisionedAgent, ProvisionedResource } from "@atelier/core/provisioning"
import { NodeEncryption } from "@atelier/node"
import { type Context, Effect, Exit, Layer, ManagedRuntime, Scope } from "effect"
import { WebSocket } from "ws"
import { type Database, sqlite } from "../../../../test/store/databases.js"
import { anAgent, aResource } from "../../../../test/records/resources.js"
import { type Person, type ServerOptions, startServer, suitesOn, type TestServer } from "../../../../test/http/server.js"
import { runtime } from "../../../../test/store/services.js"
import { aBuild, aWorkspace, type StoredBuild, type StoredWorkspace } from "../../../../test/records/agentWorkspaces.js"
import { connect, emptyTraffic } from "../../../agent/src/connection/WebSocketTransport.js"

/** A workspace whose latest build has started one agent. */
export interface RunningAgent extends StoredWorkspace {
  readonly first: StoredBuild
  readonly id: Uuid.Uuid
  readonly token: string
}

/** An agent's connection, with the calls it can make. */
export interface AgentConnection {
  readonly agent: AgentClient
  readonly tailnet: TailnetClient
  readonly session: Session.Session
  /** Ends with why the connection ended, if it did not end properly. */
  readonly closed: Promise<SessionEnded | undefined>
  readonly close: () => Promise<void>
}

/** What a store and the services on it offer to tests that make their data themselves. */
type Store = Layer.Layer.Success<typeof sqlite> | Layer.Layer.Success<typeof runtime> | BuildResources

export interface AgentServer extends TestServer {
  /** Runs an effect on the server's store. */
  readonly store: <A, E>(effect: Effect.Effect<A, E, Store>) => Promise<A>
  /** A new running workspace of a person, or of the first user. */
  readonly anAgent: (agent?: Partial<ProvisionedAgent>, of?: Person, workspace?: Parameters<typeof aWorkspace>[0]) => Promise<RunningAgent>
  /** Connects an agent as the agent's own program does. */
  readonly connect: (token: string, query?: string) => Promise<AgentConnection>
  /** Connects a user's client to the private network. */
  readonly join: (path: string, token: string, headers?: Readonly<Record<string, string>>) => Promise<AgentConnection>
  /** A WebSocket that has been opened, or the status it was refused with. */
  readonly socket: (path: string, token: string) => TestSocket
}

export interface TestSocket {
  /** The next text message; fails when the socket closes before there is one. */
  readonly next: () => Promise<unknown>
  readonly closed: Promise<number>
  /** The status of the refusal; rejects when the socket opens. */
  readonly refused: Promise<{ readonly status: number; readonly body: unknown }>
  readonly send: (message: string | Uint8Array) => void
  readonly close: () => void
}

const openSocket = (url: string, header: string, token: string): TestSocket => {
  const socket = new WebSocket(url, { headers: { [header]: token } })
  const messages: Array<unknown> = []
  const waiting: Array<{ readonly resolve: (message: unknown) => void; readonly reject: (error: Error) => void }> = []
  let code: number | undefined
  socket.on("error", () => {})
  socket.on("message", (data, isBinary) => {
    if (isBinary) return
    const message: unknown = JSON.parse(String(data))
    const waiter = waiting.shift()
    if (waiter === undefined) messages.push(message)
    else waiter.resolve(message)
  })
  const closed = new Promise<number>((resolve) =>
    socket.on("close", (closeCode) => {
      code = closeCode
      for (const { reject } of waiting.splice(0)) reject(new Error(`closed with ${closeCode}`))
      resolve(closeCode)
    })
  )
  const refused = new Promise<{ readonly status: number; readonly body: unknown }>((resolve, reject) => {
    socket.on("open", () => reject(new Error("the socket was opened")))
    socket.on("unexpected-response", (_, response) => {
      let text = ""
      response.on("data", (chunk) => (text += String(chunk)))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text === "" ? undefined : JSON.parse(text) }))
    })
  })
  refused.catch(() => {})
  return {
    next: () => {
      if (messages.length > 0) return Promise.resolve(messages.shift())
      if (code !== undefined) return Promise.reject(new Error(`closed with ${code}`))
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
    },
    closed,
    refused,
    send: (message) => socket.send(message),
    close: () => socket.close(1000)
  }
}

const connectRpc = async (url: string, headers: Readonly<Record<string, string>>, path: string): Promise<AgentConnection> => {
  const scope = Effect.runSync(Scope.make())
  const session = await Effect.gen(function* () {
    const transport = yield* connect({
      url: new URL(`${url.replace("http", "ws")}/api/v2${path}`),
      headers,
      traffic: emptyTraffic()
    })
    return yield* Session.make(transport, { role: "client" })
  }).pipe(Scope.extend(scope), Effect.runPromise)
  return {
    agent: DrpcClient.make(AgentService, session),
    tailnet: DrpcClient.make(TailnetService, session),
    session,
    closed: Effect.runPromise(Effect.match(session.closed, { onFailure: (error) => error, onSuccess: () => undefined })),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

/** A server on a database; it goes with `close`. */
export const startAgentServer = async (database: Database[1], options: ServerOptions): Promise<AgentServer> => {
  const store = ManagedRuntime.make(
    BuildResources.layer.pipe(Layer.provide(NodeEncryption.layer()), Layer.provideMerge(database), Layer.provideMerge(runtime))
  )
  const context: Context.Context<Store> = await store.runtime().then((running) => running.context)
  const server = await startServer(Layer.succeedContext(context), options)
  const header = options.compatibility === "coder" ? "Coder-Session-Token" : "Service-Session-Token"
  const run = <A, E>(effect: Effect.Effect<A, E, Store>): Promise<A> => store.runPromise(effect)
  /** Connections that a failed test leaves open would keep the server from its end. */
  const connections: Array<AgentConnection> = []
  const connected = async (path: string, headers: Readonly<Record<string, string>>): Promise<AgentConnection> => {
    const connection = await connectRpc(server.url, headers, path)
    connections.push(connection)
    return connection
  }
  return {
    ...server,
    store: run,
    anAgent: (agent = {}, of = server.owner(), workspace = {}) =>
      run(
        Effect.gen(function* () {
          const organization = yield* Effect.flatten(Effect.flatMap(OrganizationRepository, (organizations) => organizations.default))
          const stored = yield* aWorkspace({ owner: of.user, organization, ...workspace })
          const token = Uuid.Uuid.make(globalThis.crypto.randomUUID())
          const provisioned = anAgent({ auth: { _tag: "Token", token }, ...agent })
          const first = yield* aBuild(stored, { resources: [aResource({ agents: [provisioned] })] })
          return { ...stored, first, id: first.agents[0]?.id ?? Uuid.nil, token }
        })
      ),
    connect: (token, query = "") => connected(`/workspaceagents/me/rpc${query}`, { [header]: token }),
    join: (path, token, headers) => connected(path, headers ?? { [header]: token }),
    socket: (path, token) => openSocket(`${server.url.replace("http", "ws")}/api/v2${path}`, header, token),
    close: async () => {
      await Promise.all(connections.map((connection) => connection.close()))
      await server.close()
      await store.dispose()
    }
  }
}

/** Suites against a server with agents. */
export const {
  ofInterface: describeAgentInterface,
  onEach: describeAgentsOnEach,
  onOne: describeAgents,
  onStores: describeAgentsOn
} = suitesOn(startAgentServer)

/** A resource with one agent whose token is known. */
export const withToken = (token: string, agent: Partial<ProvisionedAgent> = {}): ReadonlyArray<ProvisionedResource> => [
  aResource({ agents: [anAgent({ auth: { _tag: "Token", token: Uuid.Uuid.make(token) }, ...agent })] })
]
