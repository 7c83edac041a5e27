/** Connections to apps that are kept for further requests: opening one takes a way to the agent and back, and a stream of its own. */
import { Cause, Effect, Exit, Option, Runtime, Scope } from "effect"
import { Agent, type ClientRequest, type ClientRequestArgs } from "node:http"
import { Duplex } from "node:stream"

/** Milliseconds for which an unused connection is kept. Common servers close theirs after five seconds. */
const keptFor = 4_000

/**
 * Unused connections that are kept for an agent by apps with TLS, and as many by requests to its machine. With those of other apps (`PlainConnections`), a quarter of the
 * agent's 256 streams is left for other uses.
 */
const maximumKept = 32

/** The options of a request that uses a kept connection. */
export interface Kept extends ClientRequestArgs {
  /** The workspace's agent beside which the app is. */
  readonly agent_id: string
  /** The same for requests that may share a connection. */
  readonly key: string
  /** Opens a connection, which ends with its scope. */
  readonly open: Effect.Effect<Duplex, Error, Scope.Scope>
}

/** Opens a connection whose scope is its own, and closes with it. */
export const openOwn = (open: Kept["open"]): Effect.Effect<Duplex, Error> =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const runtime = yield* Effect.runtime()
    const socket = yield* Effect.onError(Scope.extend(open, scope), (cause) => Scope.close(scope, Exit.failCause(cause)))
    socket.once("close", () => Runtime.runFork(runtime)(Scope.close(scope, Exit.void)))
    // Node refs the sockets of its own agents that it uses again
    return Object.assign(socket, { ref: () => socket })
  })

/** Why a connection could not be opened. */
export const failureOf = (cause: Cause.Cause<Error>): Error =>
  Option.getOrElse(Cause.failureOption(cause), () => new Error("the connection cannot be made"))

/** A connection, as its agent's connections know it. */
interface Connection {
  readonly agent_id: string
  /** Ends its time without a request; undefined while it has one. */
  resume: (() => void) | undefined
}

/** An agent of `node:http` for connections to apps. */
export class AppConnections extends Agent {
  private readonly connections = new WeakMap<Duplex, Connection>()
  /** How many unused connections each agent has. */
  private readonly unused = new Map<string, number>()

  constructor() {
    super({ keepAlive: true, maxFreeSockets: maximumKept })
  }

  override getName(options?: Kept): string {
    return options?.key ?? ""
  }

  override createConnection({ agent_id, open }: Kept, done: (error: Error | null, socket: Duplex) => void): undefined {
    Effect.runCallback(openOwn(open), {
      onExit: (exit) => {
        if (Exit.isSuccess(exit)) {
          this.connections.set(exit.value, { agent_id, resume: undefined })
          return done(null, exit.value)
        }
        // Node reads no socket beside an error
        done(failureOf(exit.cause), new Duplex().destroy())
      }
    })
  }

  override keepSocketAlive(socket: Duplex): boolean {
    const connection = this.connections.get(socket)
    if (connection === undefined) return false
    const { agent_id } = connection
    const others = this.unused.get(agent_id) ?? 0
    if (others >= maximumKept) return false
    this.unused.set(agent_id, others + 1)
    const end = (): void => void socket.destroy()
    const timer = setTimeout(end, keptFor).unref()
    const resume = (): void => {
      connection.resume = undefined
      clearTimeout(timer)
      socket.off("data", end).off("end", end).off("close", resume)
      const left = (this.unused.get(agent_id) ?? 1) - 1
      if (left === 0) this.unused.delete(agent_id)
      else this.unused.set(agent_id, left)
    }
    connection.resume = resume
    // Without a request there is no answer: the next request would take it for its own
    socket.on("data", end).on("end", end).on("close", resume)
    return true
  }

  override reuseSocket(socket: Duplex, request: ClientRequest): void {
    this.connections.get(socket)?.resume?.()
    // A stream that loses its last reader stops to flow
    socket.resume()
    super.reuseSocket(socket, request)
  }
}
