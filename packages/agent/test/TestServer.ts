import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage } from "node:http"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Agent, AgentConfig, Brand } from "@atelier/agent"
import {
  AgentService,
  DrpcServer,
  Router,
  RpcError,
  Session,
  unimplementedCode,
  type AgentHandlers,
  type AgentMessages
} from "@atelier/agent-protocol"
import { Deferred, Effect, Exit, Fiber, Logger, LogLevel, Redacted, Scope } from "effect"
import { WebSocketServer, type WebSocket } from "ws"
import { emptyTraffic, overSocket } from "../src/connection/WebSocketTransport.js"

/** What the server was asked, in order. */
export type Call =
  | { readonly method: "UpdateLifecycle"; readonly request: AgentMessages.UpdateLifecycleRequest }
  | { readonly method: "UpdateStartup"; readonly request: AgentMessages.UpdateStartupRequest }
  | { readonly method: "UpdateStats"; readonly request: AgentMessages.UpdateStatsRequest }
  | { readonly method: "BatchCreateLogs"; readonly request: AgentMessages.BatchCreateLogsRequest }
  | { readonly method: "BatchUpdateMetadata"; readonly request: AgentMessages.BatchUpdateMetadataRequest }
  | { readonly method: "BatchUpdateAppHealths"; readonly request: AgentMessages.BatchUpdateAppHealthRequest }
  | { readonly method: "ScriptCompleted"; readonly request: AgentMessages.WorkspaceAgentScriptCompletedRequest }
  | { readonly method: "GetManifest" }

type Requests = { readonly [M in Call["method"]]: Extract<Call, { readonly method: M }> }

export interface TestServer {
  readonly url: URL
  readonly calls: ReadonlyArray<Call>
  /** The session of the agent that connected last. */
  readonly session: () => Session.Session | undefined
  /** The upgrade requests, the refused ones included. */
  readonly upgrades: ReadonlyArray<IncomingMessage>
  readonly of: <M extends Call["method"]>(method: M) => ReadonlyArray<Requests[M]>
  /** Lines of a log source as they arrived. */
  readonly lines: (source: Uint8Array) => ReadonlyArray<{ readonly output: string; readonly level: AgentMessages.LogLevel }>
  readonly states: () => ReadonlyArray<AgentMessages.LifecycleState | undefined>
  /** Waits until something holds; looked at again after every call. */
  readonly until: (holds: () => boolean) => Effect.Effect<void>
  /** Cuts all connections as a killed server does, and refuses new ones until `resume`. */
  readonly crash: Effect.Effect<void>
  readonly resume: Effect.Effect<void>
  /** Cuts all connections, and refuses the token from then on. */
  readonly refuse: Effect.Effect<void>
}

const unsupported = () => Effect.fail(new RpcError({ code: unimplementedCode, message: "not part of the test" }))

/** A server with real sockets, which answers agents with `manifest` unless `handlers` says otherwise. `refusals` handshakes are answered with 401 first. */
export const serve = (options: {
  readonly manifest?: AgentMessages.ManifestInit
  readonly handlers?: Partial<AgentHandlers>
  readonly refusals?: number
  /** Whether a token is accepted; each one is unless given. */
  readonly accepts?: (token: string) => boolean
}): Effect.Effect<TestServer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const calls: Array<Call> = []
    const upgrades: Array<IncomingMessage> = []
    const sockets = new Set<WebSocket>()
    const waiting = new Set<{ readonly holds: () => boolean; readonly done: Deferred.Deferred<void> }>()
    let refusals = options.refusals ?? 0
    let isDown = false
    let latest: Session.Session | undefined

    const look = () => {
      for (const entry of waiting) {
        if (!entry.holds()) continue
        waiting.delete(entry)
        Deferred.unsafeDone(entry.done, Exit.void)
      }
    }

    const record = <A>(call: Call, answer: A) =>
      Effect.sync(() => {
        calls.push(call)
        look()
        return answer
      })

    const router = Router.make(AgentService, {
      GetManifest: () => record({ method: "GetManifest" }, options.manifest ?? {}),
      UpdateLifecycle: (request) => record({ method: "UpdateLifecycle", request }, request.lifecycle ?? {}),
      UpdateStartup: (request) => record({ method: "UpdateStartup", request }, request.startup ?? {}),
      UpdateStats: (request) => record({ method: "UpdateStats", request }, { report_interval: { seconds: 1 } }),
      BatchCreateLogs: (request) => record({ method: "BatchCreateLogs", request }, {}),
      BatchUpdateMetadata: (request) => record({ method: "BatchUpdateMetadata", request }, {}),
      BatchUpdateAppHealths: (request) => record({ method: "BatchUpdateAppHealths", request }, {}),
      ScriptCompleted: (request) => record({ method: "ScriptCompleted", request }, {}),
      GetServiceBanner: unsupported,
      GetAnnouncementBanners: unsupported,
      GetResourcesMonitoringConfiguration: unsupported,
      PushResourcesMonitoringUsage: unsupported,
      ReportConnection: unsupported,
      CreateSubAgent: unsupported,
      DeleteSubAgent: unsupported,
      ListSubAgents: unsupported,
      ReportBoundaryLogs: unsupported,
      UpdateAppStatus: unsupported,
      PushContextState: unsupported,
      ...options.handlers
    } satisfies AgentHandlers)

    // Made here, closed here: agents that are ended after the test's body still find the server alive.
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope, exit) => Scope.close(scope, exit))
    const answer = (socket: WebSocket) =>
      Effect.gen(function* () {
        const transport = yield* overSocket(socket, emptyTraffic())
        const session = yield* Session.make(transport, { role: "server" })
        latest = session
        yield* DrpcServer.serveSession(session, router)
      }).pipe(Effect.scoped, Effect.ignore, Effect.forkIn(scope))

    const http = createServer((_, response) => response.writeHead(404).end())
    const webSockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
    http.on("upgrade", (request, socket, head) => {
      upgrades.push(request)
      look()
      const isRefused = options.accepts?.(String(request.headers["service-session-token"])) === false
      if (isDown || refusals > 0 || isRefused) {
        refusals -= isDown || isRefused ? 0 : 1
        socket.end(isDown ? "" : 'HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\n\r\n{"message":"Sign in first."}')
        return
      }
      webSockets.handleUpgrade(request, socket, head, (webSocket) => {
        webSocket.pause()
        sockets.add(webSocket)
        webSocket.once("close", () => sockets.delete(webSocket))
        webSocket.on("error", () => undefined)
        Effect.runFork(answer(webSocket))
      })
    })
    yield* Effect.async<void>((resume) => {
      http.listen(0, "127.0.0.1", () => resume(Effect.void))
    })
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const socket of sockets) socket.terminate()
        http.close()
      })
    )
    const address = http.address()
    const port = typeof address === "object" && address !== null ? address.port : 0

    const of = <M extends Call["method"]>(method: M) => calls.filter((call): call is Requests[M] => call.method === method)

    return {
      url: new URL(`http://127.0.0.1:${port}/base/`),
      calls,
      session: () => latest,
      upgrades,
      of,
      lines: (source) =>
        of("BatchCreateLogs").flatMap(({ request }) =>
          Buffer.compare(request.log_source_id, source) === 0 ? request.logs.map(({ level, output }) => ({ level, output })) : []
        ),
      states: () => of("UpdateLifecycle").map(({ request }) => request.lifecycle?.state),
      until: (holds) =>
        Effect.gen(function* () {
          const done = yield* Deferred.make<void>()
          if (holds()) return
          waiting.add({ holds, done })
          yield* Deferred.await(done)
        }),
      crash: Effect.sync(() => {
        isDown = true
        for (const socket of sockets) socket.terminate()
      }),
      resume: Effect.sync(() => {
        isDown = false
      }),
      refuse: Effect.sync(() => {
        refusals = Number.POSITIVE_INFINITY
        for (const socket of sockets) socket.terminate()
      })
    }
  })

export const id = (): Uint8Array => Buffer.from(randomUUID().replaceAll("-", ""), "hex")

/** A script that runs when the workspace starts. */
export const aScript = (script: string, more: Partial<AgentMessages.WorkspaceAgentScript> = {}): AgentMessages.WorkspaceAgentScript => ({
  id: id(),
  log_source_id: id(),
  log_path: "",
  script,
  cron: "",
  run_on_start: true,
  run_on_stop: false,
  start_blocks_login: false,
  display_name: "script",
  ...more
})

/** A folder that is gone after the test. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "agent-test-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

export const aConfig = (url: URL, home: string, more: Partial<AgentConfig.AgentConfig> = {}): AgentConfig.AgentConfig => ({
  url,
  token: Redacted.make("the-token"),
  brand: Brand.make("Service"),
  environment: { PATH: process.env["PATH"] ?? "", SERVICE_AGENT_TOKEN: "the-token" },
  homeDirectory: home,
  shell: "/bin/sh",
  logDirectory: home,
  shareToken: false,
  tellsStart: false,
  isVerbose: false,
  ...more
})

/** Runs an agent, whose shutdown `stop` awaits. It is ended with the test at the latest. */
export const runAgent = (server: Pick<TestServer, "url">, more: Partial<AgentConfig.AgentConfig> = {}, offered?: () => void) =>
  Effect.gen(function* () {
    const home = yield* folder
    const agent = Agent.run(aConfig(server.url, home, more), undefined, offered).pipe(Logger.withMinimumLogLevel(LogLevel.None))
    const fiber = yield* Effect.forkScoped(agent)
    return { home, stop: Fiber.interrupt(fiber) }
  })
