/** Connections to apps that are kept for further requests: opening one takes a way to the agent and back, and a stream of its own. */
import { Cause, Effect, Exit, Option, Runtime, Scope } from "effect"
import { Agent, type ClientRequest, type ClientRequestArgs } from "node:http"
import { Duplex } from "node:stream"

/** Milliseconds for which an unused connection is kept. Common servers close theirs after five seconds. */
const keptFor = 4_000

/** Unused connections that are kept for each app. All apps of an agent share its streams. */
const maximumKept = 8

/** The options of a request that uses a kept connection. */
export interface Kept extends ClientRequestArgs {
  /** The same for requests that may share a connection. */
  readonly key: string
  /** Opens a connection, which ends with its scope. */
  readonly open: Effect.Effect<Duplex, Error, Scope.Scope>
}

/** Opens a connection whose scope is its own, and closes with it. */
const openOwn = (open: Kept["open"]): Effect.Effect<Duplex, Error> =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const runtime = yield* Effect.runtime()
    const socket = yield* Effect.onError(Scope.extend(open, scope), (cause) => Scope.close(scope, Exit.failCause(cause)))
    socket.once("close", () => Runtime.runFork(runtime)(Scope.close(scope, Exit.void)))
    // Node refs the sockets of its own agents that it uses again
    return Object.assign(socket, { ref: () => socket })
  })

/** An agent of `node:http` for connections to apps. */
export class AppConnections extends Agent {
  private readonly unused = new WeakMap<Duplex, { readonly timer: NodeJS.Timeout; readonly end: () => void }>()

  constructor() {
    super({ keepAlive: true, maxFreeSockets: maximumKept })
  }

  override getName(options?: Kept): string {
    return options?.key ?? ""
  }

  override createConnection({ open }: Kept, done: (error: Error | null, socket: Duplex) => void): undefined {
    Effect.runCallback(openOwn(open), {
      onExit: (exit) => {
        if (Exit.isSuccess(exit)) return done(null, exit.value)
        const error = Option.getOrElse(Cause.failureOption(exit.cause), () => new Error("the connection cannot be made"))
        // Node reads no socket beside an error
        done(error, new Duplex().destroy())
      }
    })
  }

  override keepSocketAlive(socket: Duplex): boolean {
    const end = (): void => void socket.destroy()
    this.unused.set(socket, { timer: setTimeout(end, keptFor).unref(), end })
    // Without a request there is no answer: the next request would take it for its own
    socket.on("data", end).on("end", end)
    return true
  }

  override reuseSocket(socket: Duplex, request: ClientRequest): void {
    const kept = this.unused.get(socket)
    if (kept !== undefined) {
      clearTimeout(kept.timer)
      // A stream that loses its last reader stops to flow
      socket.off("data", kept.end).off("end", kept.end).resume()
    }
    super.reuseSocket(socket, request)
  }
}
