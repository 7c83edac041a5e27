/** Agents that lead streams to this machine, and programs there. */
import type { ByteStream } from "@atelier/agent-protocol"
import { BuildResourceRepository } from "@atelier/core/agents"
import { AgentDialer } from "@atelier/core/network"
import { Deferred, Effect, Logger, LogLevel } from "effect"
import { createServer as createHttpServer, type RequestListener, type Server as HttpServer } from "node:http"
import { createServer, type Server, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { expect, onTestFinished } from "vitest"
import * as Api from "../../../agent/src/streams/Api.js"
import * as Brand from "../../../agent/src/Brand.js"
import * as Files from "../../../agent/src/machine/files/Files.js"
import * as Machine from "../../../agent/src/machine/Machine.js"
import * as Processes from "../../../agent/src/machine/processes/Processes.js"
import * as Marks from "../../../agent/src/scripts/Marks.js"
import * as Ssh from "../../../agent/src/ssh/Ssh.js"
import * as OwnPorts from "../../../agent/src/streams/OwnPorts.js"
import type { Place } from "../../../agent/src/environment/Place.js"
import { serve as serveStreams } from "../../../agent/src/streams/ReverseStreams.js"
import * as Terminals from "../../../agent/src/streams/Terminals.js"
import { readAll } from "../../../../test/http/streams.js"
import type { AgentConnection, AgentServer, RunningAgent } from "../agents/AgentServer.js"

/** The port that a server listens on, for the time of the test. */
export const listening = async (server: Server | HttpServer): Promise<number> => {
  const sockets = new Set<Socket>()
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.on("error", () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

/** A program that listens on the loopback interface. */
export const program = (onConnection: (socket: Socket) => void): Promise<number> =>
  listening(createServer({ allowHalfOpen: true }, onConnection))

/** A web app on the loopback interface. */
export const webApp = (listener: RequestListener): Promise<number> => listening(createHttpServer(listener))

/** Whether the store has an agent as connected: an agent may get its first answer before that is written. */
const isConnected = (server: AgentServer, { id }: RunningAgent): Promise<boolean> =>
  server.run(
    Effect.map(
      Effect.flatMap(BuildResourceRepository, ({ ofAgent }) => ofAgent(id)),
      ({ agents: [agent] }) =>
        agent !== undefined &&
        agent.last_connected_at !== null &&
        (agent.disconnected_at === null || agent.disconnected_at < agent.last_connected_at)
    )
  )

/** Connects an agent that leads streams to its machine, as the agent's own program does, for the time of the test. */
export const link = async (
  server: AgentServer,
  agent: RunningAgent,
  query = "?role=agent&streams=3",
  engine = "/nonexistent",
  log: Logger.Logger<unknown, void> = Logger.none,
  /** Whether the end of the connection is the end of the agent, or the agent only lost it. */
  isLast = true
): Promise<AgentConnection> => {
  const connection = await server.connect(agent.token, query)
  await Effect.runPromise(connection.agent.GetManifest({}))
  const serving = Effect.gen(function* () {
    const place = yield* Deferred.make<Place>()
    const environment = { PATH: process.env["PATH"] ?? "", PS1: "$ " }
    yield* Deferred.succeed(place, { directory: tmpdir(), variables: environment, shell: "/bin/sh", resolve: (path) => path })
    const marks = Marks.make(Brand.make("Service"))
    const terminals = yield* Terminals.make(place, marks)
    const processes = yield* Processes.make(place, marks)
    const machine = yield* Machine.make([processes, Files.make(Effect.succeed(tmpdir()))])
    const ssh = yield* Ssh.make({ place, marks, brand: Brand.make("Service"), home: tmpdir(), greeting: Effect.succeed("Welcome.\n") })
    const token = (stream: ByteStream) => stream.reset
    const services = { terminals, api: Api.make(place, OwnPorts.all, engine), machine, ssh, ports: OwnPorts.all, token }
    yield* Effect.ensuring(serveStreams(connection.session, services), isLast ? Effect.all([processes.end, ssh.end]) : Effect.void)
  }).pipe(
    Effect.scoped,
    Effect.ignore,
    Logger.withMinimumLogLevel(LogLevel.Debug),
    Effect.provide(Logger.replace(Logger.defaultLogger, log)),
    Effect.runPromise
  )
  const close = async (): Promise<void> => {
    await connection.close()
    await serving
  }
  onTestFinished(close)
  await expect.poll(() => isConnected(server, agent), { interval: 10 }).toBe(true)
  return { ...connection, close }
}

/** Opens a stream to a port beside an agent, as a server does for its users. */
export const dialing = (server: AgentServer, agent: RunningAgent, port: number) =>
  Effect.flatMap(AgentDialer, ({ dial }) => dial({ agent_id: agent.id, workspace_id: agent.workspace.id, port })).pipe((dialed) =>
    Effect.flatMap(
      Effect.promise(() => server.atelier.runtime.runtime()),
      ({ context }) => Effect.provide(dialed, context)
    )
  )

/** What a program beside an agent sends back of these bytes, until it ends. */
export const echoed = (server: AgentServer, agent: RunningAgent, port: number, bytes: Uint8Array): Promise<Buffer> =>
  Effect.gen(function* () {
    const stream = yield* dialing(server, agent, port)
    const answer = yield* Effect.fork(readAll(stream))
    yield* stream.write(bytes)
    yield* stream.finish
    return yield* answer
  }).pipe(Effect.scoped, Effect.runPromise)
