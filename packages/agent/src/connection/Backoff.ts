import { Duration, Effect, Random } from "effect"

const firstMillis = 100

/** Milliseconds between attempts to connect, at most. */
const maximumPause = 10_000

/**
 * The longest pause in the first minute before the first connection: the agent starts while its build is being completed, and its token is
 * refused until then. Also used when the agent ends, because its supervisor waits.
 */
const maximumShortPause = 1_000
const startUp = 60_000

/** The longest pause in the half minute after a connection was lost: a server that was killed starts again in less, and terminals and apps wait for it. */
const maximumQuickPause = 400
const restarting = 30_000

/** The longest pause in the ten minutes after a connection was lost: the server is being replaced. */
const maximumReturnPause = 1_000
const returning = 600_000

/** A connection that lasted this long, in milliseconds, was a good one: the next attempts begin quickly again. */
const goodConnection = 3_000

/** How often an agent has tried to connect since a good connection, from 0, and when it lost that one. */
export interface Tries {
  readonly attempt: number
  readonly lostAt: number | undefined
}

export const first: Tries = { attempt: 0, lostAt: undefined }

export const next = (tries: Tries): Tries => ({ ...tries, attempt: tries.attempt + 1 })

/**
 * Begins to count anew when a good connection ended at `now`. A short one was lost too, and several in a row were lost with the first. An attempt
 * that hung and never connected does not count as one.
 */
export const after = (tries: Tries, { connectedAt, now }: { connectedAt: number | undefined; now: number }): Tries => {
  if (connectedAt === undefined) return tries
  return now - connectedAt >= goodConnection ? { attempt: 0, lostAt: now } : { ...tries, lostAt: tries.lostAt ?? now }
}

/** What the pause between attempts to connect depends on; times in milliseconds since 1970. */
export interface Attempts {
  readonly now: number
  /** When the agent began to try; undefined once it has been connected. */
  readonly launchedAt: number | undefined
  /** When it lost a connection that had lasted. */
  readonly lostAt: number | undefined
  /** Whether the agent ends. */
  readonly isHurried: boolean
}

/** The longest pause before the next attempt to connect, in milliseconds, without what is added or taken by chance. */
export const longestPause = ({ isHurried, launchedAt, lostAt, now }: Attempts): number => {
  if (isHurried || (launchedAt !== undefined && now - launchedAt < startUp)) return maximumShortPause
  if (lostAt === undefined || now - lostAt >= returning) return maximumPause
  return now - lostAt < restarting ? maximumQuickPause : maximumReturnPause
}

/** The longest pause that a server or a proxy can ask for, in milliseconds. */
const maximumAskedPause = 60_000

/** The milliseconds that an answer asks to wait, by its field `Retry-After`: seconds or a date (RFC 9110 §10.2.3). */
export const askedPause = (retryAfter: string, now: number): number => {
  const asked = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - now
  return Number.isNaN(asked) ? 0 : Math.min(Math.max(asked, 0), maximumAskedPause)
}

/** How long to wait before attempt `attempt + 1`, counted from 0: twice as long each time, from 100 ms up to `limit` milliseconds. */
export const millis = (attempt: number, limit: number): number => Math.min(limit, firstMillis * 2 ** Math.min(attempt, 20))

/**
 * Waits before another attempt, as long as the server has asked for, and then between half and one and a half times as long as `millis` answers: many agents must not come
 * back at once.
 */
export const wait = (attempt: number, limit: number, asked = 0): Effect.Effect<void> =>
  Effect.flatMap(Random.nextRange(0.5, 1.5), (factor) => Effect.sleep(Duration.millis(asked + millis(attempt, limit) * factor)))
