/** WebSockets that outlive their request: what they carry lives in a scope, and takes no fiber while it waits. */
import type { Runtime as EffectRuntime } from "effect"
import { Effect, Exit, Runtime, Scope } from "effect"
import { CloseSocket, closeWith } from "./closing.js"
import { type Connection, open } from "./Connection.js"
import type { House, Options as Heartbeat } from "./feedSocket.js"
import { heartbeat } from "./heartbeat.js"
import type { Upgraded } from "./WebSockets.js"

export interface Options extends Heartbeat {
  readonly isStream?: boolean
}

/** A socket that is attached to what it carries. */
export interface Attached {
  /** Ends what the socket carries, and closes it as if a handler had ended so. */
  readonly end: (exit: Exit.Exit<void, unknown>) => void
}

/** An upgraded request. */
interface Taken extends Upgraded {
  /** Tells that the connection is over. */
  readonly release: () => void
}

/**
 * Begins what a socket carries in a scope, which closes when the socket ends: by `end`, by a failure of the beginning, with the client, or with the service. Then the socket
 * is closed with the reason, and released.
 */
export const attach = <E>(
  { release, socket, webSocket }: Taken,
  scope: Scope.CloseableScope,
  begin: (connection: Connection) => Effect.Effect<void, E, Scope.Scope>,
  { draining, faults, heartbeats }: House,
  runtime: EffectRuntime.Runtime<never>,
  options: Options
): Attached => {
  const fork = Runtime.runFork(runtime)
  let isOver = false
  let leave = (): void => undefined
  let rest = leave
  const end = (exit: Exit.Exit<void, unknown>): void => {
    if (isOver) return
    isOver = true
    leave()
    rest()
    const failed = (cause: unknown) => Effect.logError("what a WebSocket carried did not end properly", cause)
    const ended = Effect.zipRight(Effect.catchAllCause(Scope.close(scope, exit), failed), closeWith(webSocket, exit, faults))
    fork(Effect.uninterruptible(Effect.ensuring(ended, Effect.sync(release))))
  }
  const connection = open(webSocket, options, end, socket)
  rest = heartbeat(heartbeats, webSocket, options, () => end(Exit.fail(new CloseSocket({ code: 1001, reason: "liveness probe failed" }))))
  leave = draining.onBegin(() => end(Exit.fail(new CloseSocket({ code: 1012, reason: "The service is restarting." }))))
  const beginning = Effect.catchAllCause(Scope.extend(begin(connection), scope), (cause) => Effect.sync(() => end(Exit.failCause(cause))))
  // The scope's end interrupts the beginning, whatever the runtime was made in
  if (!isOver) fork(Effect.forkIn(Effect.interruptible(beginning), scope))
  return { end }
}
