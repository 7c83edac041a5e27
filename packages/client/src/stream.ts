/** Streams that outlive their connections: what was interrupted is connected again, and goes on where it was. */
import { AtelierError } from "./AtelierError.js"
import type { CallOptions, Input } from "./call.js"

export interface StreamOptions extends CallOptions {
  /**
   * How long to wait before each attempt to connect again, in milliseconds; the first attempt is number 0. False ends the iteration with an error
   * instead. Default: half a second, then a second, and then one and a half seconds up to attempt 40, after about 45 seconds; from there doubled with each attempt up to
   * 30 seconds. A random part of at most one half is taken away.
   */
  readonly reconnect?: false | ((attempt: number) => number) | undefined
  /** Milliseconds after which silent server-sent events count as interrupted; the service sends something every 15 seconds. Default 45,000. */
  readonly idleTimeout?: number | undefined
}

/** Where a stream goes on after a value: what changes in its input. */
export type Resume = (last: unknown) => Input

/** The stream begins again: its first value is the whole. */
export const again: Resume = () => ({})

/** The stream goes on behind the row, or behind the last row of the batch. */
export const behind: Resume = (last) => {
  const row: unknown = Array.isArray(last) ? last.at(-1) : last
  return typeof row === "object" && row !== null && "id" in row ? { after: row.id } : {}
}

/** How a connection ended that was not refused: the stream is over, or it was cut and goes on. */
export interface End {
  readonly isOver: boolean
  readonly reason?: string | undefined
}

/** The progress that a connection reports, and what ends it. */
export interface Progress {
  readonly opened: () => void
  readonly received: (value: unknown) => void
  readonly signal: AbortSignal | undefined
}

/** The longest time that timers take, in milliseconds: they end at once for a longer one. */
export const maximumTimer = 2 ** 31 - 1

const initialDelay = 500

/** The longest delay of the first attempts: a server that was killed starts again within seconds, and its clients are to notice within two. */
const maximumQuickDelay = 1_500
const quickAttempts = 40
const maximumDelay = 30_000

const longestDelay = (attempt: number): number =>
  attempt < quickAttempts
    ? Math.min(maximumQuickDelay, initialDelay * 2 ** attempt)
    : Math.min(maximumDelay, maximumQuickDelay * 2 ** (attempt - quickAttempts + 1))

/** Milliseconds in which a later attempt to connect has to be answered: a network or a service that has fallen silent would keep the stream for ever. */
const answerTimeout = 30_000

/** A signal that ends with another one, or after a time unless it is kept from that. */
const endingAfter = (milliseconds: number, other: AbortSignal | undefined) => {
  const controller = new AbortController()
  const follow = (): void => controller.abort(other?.reason)
  const timer = setTimeout(() => controller.abort(new AtelierError({ status: 0, message: "The service did not answer." })), milliseconds)
  other?.addEventListener("abort", follow)
  if (other?.aborted === true) follow()
  return {
    signal: controller.signal,
    keep: () => clearTimeout(timer),
    leave: () => {
      clearTimeout(timer)
      other?.removeEventListener("abort", follow)
    }
  }
}

/** Milliseconds to wait before an attempt. The random part keeps clients from coming back all at once. */
export const usualDelay = (attempt: number): number => longestDelay(attempt) * (1 - Math.random() / 2)

/** Whether the same request may succeed later: no answer came, the service asked to wait, or it failed. */
const isTransient = ({ status }: AtelierError): boolean => status === 0 || status === 408 || status === 429 || status >= 500

/** Ends after some milliseconds; fails with the reason of the signal. */
export const sleep = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", end)
      if (signal?.aborted === true) reject(signal.reason)
      else resolve()
    }
    const timer = setTimeout(end, Math.min(milliseconds, maximumTimer))
    signal?.addEventListener("abort", end)
    if (signal?.aborted === true) end()
  })

/**
 * The values of one connection after the other. Fails with the refusal of the first connection, whatever it is, and of a later one that would be
 * refused again.
 */
export async function* reconnecting<A>(
  connect: (input: Input, progress: Progress) => AsyncGenerator<A, End, undefined>,
  input: Input,
  resume: Resume,
  { reconnect = usualDelay, signal }: StreamOptions
): AsyncGenerator<A, void, undefined> {
  let position = input
  let attempt = 0
  let wasOpen = false
  const received = (value: unknown): void => {
    attempt = 0
    position = { ...position, ...resume(value) }
  }
  for (;;) {
    signal?.throwIfAborted()
    let wait = 0
    const later = wasOpen ? endingAfter(answerTimeout, signal) : undefined
    const opened = (): void => {
      wasOpen = true
      later?.keep()
    }
    try {
      const { isOver, reason } = yield* connect(position, { opened, received, signal: later?.signal ?? signal })
      if (isOver) return
      if (reconnect === false) throw new AtelierError({ status: 0, message: "The stream was interrupted.", detail: reason })
    } catch (error) {
      if (!(error instanceof AtelierError) || !isTransient(error) || !wasOpen || reconnect === false) throw error
      wait = (error.retryAfter ?? 0) * 1_000
    } finally {
      later?.leave()
    }
    await sleep(Math.max(wait, reconnect(attempt++)), signal)
  }
}
