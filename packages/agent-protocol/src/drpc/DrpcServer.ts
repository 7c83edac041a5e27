import { Effect, Runtime, RuntimeFlags } from "effect"
import type { Session } from "../yamux/Session.js"
import { SessionEnded } from "../yamux/YamuxError.js"
import type { YamuxStream } from "../yamux/YamuxStream.js"
import type { Router } from "./Router.js"
import type { RunCall } from "./ServedCall.js"
import { ServedStream, type Serving } from "./ServedStream.js"
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

/** Runs the calls of all sessions that one runtime serves. */
export const callsBy = <R>(runtime: Runtime.Runtime<R>): RunCall<R> =>
  Runtime.runFork(Runtime.make({ ...runtime, runtimeFlags: RuntimeFlags.enable(runtime.runtimeFlags, RuntimeFlags.Interruption) }))

/** The calls of one session. It is no closure: each connected agent has one. */
class ServedSession<R> implements Served, Serving<R> {
  readonly waiting: Waiting
  /** Made with the first call. */
  private open: Set<ServedStream<R>> | undefined = undefined
  private isAccepting = false
  private isStopped = false
  private over: SessionEnded | undefined = undefined
  private onEmpty: (() => void) | undefined = undefined

  constructor(
    private readonly session: Session,
    readonly router: Router<R>,
    private readonly options: Options,
    readonly run: RunCall<R>,
    private readonly ended: (why: SessionEnded) => void
  ) {
    this.waiting = new Waiting(options.maxWaitingBytes ?? defaults.maxWaitingBytes)
    this.accept()
  }

  private get running(): number {
    return this.open?.size ?? 0
  }

  private get mayAccept(): boolean {
    return !this.isStopped && this.over === undefined && this.running < (this.options.concurrency ?? defaults.concurrency)
  }

  private readonly accept = (): void => {
    // A stream that ends at once has the next one accepted
    if (this.isAccepting) return
    this.isAccepting = true
    while (this.mayAccept) {
      const stream = this.session.take(this.accept)
      if (stream === undefined) break
      if (stream instanceof SessionEnded) {
        this.over = stream
        break
      }
      this.serve(stream)
    }
    this.isAccepting = false
    this.closed()
  }

  private serve(stream: YamuxStream): void {
    const open = (this.open ??= new Set())
    const served = new ServedStream(stream, this, () => {
      stream.abandon()
      open.delete(served)
      this.accept()
    })
    open.add(served)
    served.pump()
  }

  private closed(): void {
    if (this.running > 0) return
    this.onEmpty?.()
    if (this.over === undefined || this.isStopped) return
    this.isStopped = true
    this.ended(this.over)
  }

  get stop(): Effect.Effect<void> {
    return Effect.async((resume) => {
      this.isStopped = true
      this.onEmpty = () => resume(Effect.void)
      for (const served of this.open ?? []) served.end()
      this.closed()
    })
  }
}

/**
 * Serves all streams the peer of a session opens, at the same time, until the session is over or `stop`. Calls `ended` with why the session is over, when
 * no call runs any more. It takes no fiber while no call runs.
 */
export const begin = <R>(
  session: Session,
  router: Router<R>,
  options: Options,
  run: RunCall<R>,
  ended: (why: SessionEnded) => void
): Served => new ServedSession(session, router, options, run, ended)

/**
 * Serves all streams the peer of a session opens, at the same time, until the session is over. Fails with why, unless it ended normally; calls that
 * run then are interrupted.
 */
export const serveSession = <R>(session: Session, router: Router<R>, options: Options = {}): Effect.Effect<void, SessionEnded, R> =>
  Effect.flatMap(Effect.runtime<R>(), (runtime) => {
    let stop: Effect.Effect<void> = Effect.void
    const served = Effect.async<void, SessionEnded>((resume) => {
      const over = (why: SessionEnded): void => resume(why.reason === "closed" ? Effect.void : Effect.fail(why))
      stop = begin(session, router, options, callsBy(runtime), over).stop
    })
    return Effect.ensuring(
      served,
      Effect.suspend(() => stop)
    )
  })
