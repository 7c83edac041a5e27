import { Effect } from "effect"
import type pg from "pg"

/** Milliseconds that closing may take; statements still running after it are lost with their connection. */
const within = 1000

/**
 * Closes connections as their scope ends. A server that does not answer is not waited for: its connections are given up by `giveUp`, because open
 * sockets keep a process from its end.
 */
export const closing = (end: () => Promise<unknown>, giveUp: () => void): Effect.Effect<void> =>
  Effect.promise(() => end().catch(() => undefined)).pipe(
    Effect.interruptible,
    Effect.timeoutOption(within),
    Effect.zipRight(Effect.sync(giveUp))
  )

/** Gives up the connection of a client. */
export const destroy = (client: pg.Client | pg.PoolClient): void => void client.connection.stream.destroy()

/** Closes the connection of a client as its scope ends. */
export const closingClient = (client: pg.Client): Effect.Effect<void> =>
  closing(
    () => client.end(),
    () => destroy(client)
  )
