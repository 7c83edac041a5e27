import { Effect, Runtime, RuntimeFlags } from "effect"
import type { Session } from "../yamux/Session.js"
import { SessionEnded } from "../yamux/YamuxError.js"
import type { Router } from "./Router.js"
import { ServedStream } from "./ServedStream.js"
import { Waiting } from "./Waiting.js"

export interface Options {
  /** Streams served at a time; further ones wait to be accepted. 256 by default. */
  readonly concurrency?: number
  /** Bytes of requests and unfinished packets that may wait, over all streams; the stream that exceeds it is reset. 64 MiB by default. */
  readonly maxWaitingBytes?: number
}

const defaults = { concurrency: 256, maxWaitingBytes: 64 * 1024 * 1024 } as const

/** The calls of a session, as long as they are served. */
export interface Served {
  /** Serves no more calls: those that run are interrupted, and their streams closed. */
  readonly stop: Effect.Effect<void>
}

/**
 * Serves all streams the peer of a session opens, at the same time, until the session is over or `stop`. Calls `ended` with why the session is over, when
 * no call runs any more. It takes no fiber while no call runs.
 */
export const begin = <R>(
  session: Session,
  router: Router<R>,
  { concurrency = defaults.concurrency, maxWaitingBytes = defaults.maxWaitingBytes }: Options,
  runtime: Runtime.Runtime<R>,
  ended: (why: SessionEnded) => void
): Served => {
  const interruptible = Runtime.make({ ...runtime, runtimeFlags: RuntimeFlags.enable(runtime.runtimeFlags, RuntimeFlags.Interruption) })
  const serving = { router, run: Runtime.runFork(interruptible), waiting: new Waiting(maxWaitingBytes) }
  const open = new Set<ServedStream<R>>()
  let isAccepting = false
  let isStopped = false
  let over: SessionEnded | undefined
  let onEmpty: (() => void) | undefined

  const closed = (): void => {
    if (open.size > 0) return
    onEmpty?.()
    if (over === undefined || isStopped) return
    isStopped = true
    ended(over)
  }

  const mayAccept = (): boolean => !isStopped && over === undefined && open.size < concurrency

  const accept = (): void => {
    // A stream that ends at once has the next one accepted
    if (isAccepting) return
    isAccepting = true
    while (mayAccept()) {
      const stream = session.take(accept)
      if (stream === undefined) break
      if (stream instanceof SessionEnded) {
        over = stream
        break
      }
      const served = new ServedStream(stream, serving, () => {
        stream.abandon()
        open.delete(served)
        accept()
      })
      open.add(served)
      served.pump()
    }
    isAccepting = false
    closed()
  }

  accept()
  return {
    stop: Effect.async<void>((resume) => {
      isStopped = true
      onEmpty = () => resume(Effect.void)
      for (const served of open) served.end()
      closed()
    })
  }
}

/**
 * Serves all streams the peer of a session opens, at the same time, until the session is over. Fails with why, unless it ended normally; calls that
 * run then are interrupted.
 */
export const serveSession = <R>(session: Session, router: Router<R>, options: Options = {}): Effect.Effect<void, SessionEnded, R> =>
  Effect.flatMap(Effect.runtime<R>(), (runtime) => {
    let stop: Effect.Effect<void> = Effect.void
    const served = Effect.async<void, SessionEnded>((resume) => {
      const over = (why: SessionEnded): void => resume(why.reason === "closed" ? Effect.void : Effect.fail(why))
      stop = begin(session, router, options, runtime, over).stop
    })
    return Effect.ensuring(
      served,
      Effect.suspend(() => stop)
    )
  })
