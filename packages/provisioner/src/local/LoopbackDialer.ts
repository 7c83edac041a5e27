/** Reaches what listens beside the agents of this machine: their loopback interface is the server's own. */
import type { OwnPorts } from "@atelier/agent"
import { type AgentStream, AgentUnreachable, EngineDialer } from "@atelier/core/network"
import { Lru, service } from "@atelier/core/platform"
import { Effect, type Scope } from "effect"
import { connect, type Socket } from "node:net"
import { LocalWorkspaces } from "./LocalWorkspaces.js"

const unreachable = (message: string) => new AgentUnreachable({ message })

/** Reads the bytes that have arrived, and waits for more. */
const read = (socket: Socket): AgentStream["read"] =>
  Effect.async((resume) => {
    const look = (): void => {
      const chunk: Buffer | null = socket.read()
      if (chunk !== null) done(Effect.succeedSome(chunk))
      else if (socket.readableEnded) done(Effect.succeedNone)
      else if (socket.destroyed) done(Effect.fail(unreachable("The connection was broken off.")))
    }
    const events = ["readable", "end", "error", "close"] as const
    const release = (): void => events.forEach((event) => void socket.off(event, look))
    const done = (result: AgentStream["read"]): void => {
      release()
      resume(result)
    }
    for (const event of events) socket.on(event, look)
    look()
    return Effect.sync(release)
  })

const write =
  (socket: Socket): AgentStream["write"] =>
  (bytes) =>
    Effect.async((resume) => {
      socket.write(bytes, (error) => resume(error ? Effect.fail(unreachable("The connection was broken off.")) : Effect.void))
    })

/** Waits for the connection. */
const connected = (socket: Socket, port: number): Effect.Effect<void, AgentUnreachable> =>
  Effect.async((resume) => {
    // The listener stays: an error that no reader waits for ends the connection, not the process
    socket.on("error", () => resume(Effect.fail(unreachable(`No program listens on port ${port} of the workspace.`))))
    socket.once("connect", () => resume(Effect.void))
  })

/** A connection to a port of this machine's loopback interface. It ends with the scope. */
export const loopbackStream = (port: number): Effect.Effect<AgentStream, AgentUnreachable, Scope.Scope> =>
  Effect.gen(function* () {
    // Programs may listen on either family's loopback address
    const connecting = Effect.sync(() => connect({ host: "localhost", port, autoSelectFamily: true }))
    const socket = yield* Effect.acquireRelease(connecting, (socket) => Effect.sync(() => void socket.destroy()))
    yield* connected(socket, port)
    return { read: read(socket), write: write(socket), finish: Effect.sync(() => void socket.end()) }
  })

/** Workspaces whose sockets are kept known, so that not every connection reads the processes of the machine. */
const knownWorkspaces = 1_000

/** Leads to the workspaces that run in this server's directory, and to no others. */
export const layer = service(
  EngineDialer,
  Effect.map(LocalWorkspaces, ({ isRunning, markOf }) => {
    const known = Lru.make<string, OwnPorts.OwnPorts>(knownWorkspaces)
    return {
      dial: ({ port, workspace_id }) =>
        Effect.gen(function* () {
          if (!(yield* isRunning(workspace_id))) return yield* unreachable("The workspace does not run on this server.")
          // Loaded with the first connection: a start has no use for the agent
          const { OwnPorts } = yield* Effect.promise(() => import("@atelier/agent"))
          const own = known.get(workspace_id) ?? OwnPorts.ofWorkspace(markOf(workspace_id))
          known.set(workspace_id, own)
          if (yield* Effect.promise(() => own.isForeign(port))) return yield* unreachable(OwnPorts.foreign(port))
          return yield* loopbackStream(port)
        })
    }
  })
)
