/** A process that outlives the connections of its viewers: its output is kept within a bound, and read from any offset that is kept. */
import { Deferred, Effect, FiberId, type Scope } from "effect"
import { Refused } from "../Route.js"
import type { End } from "./Child.js"
import { type Piece, Ring } from "./Ring.js"
import type { Channel } from "./Ring.js"
import type { Source } from "./Source.js"

/** Bytes of output that are kept. */
const capacity = 4 * 1024 * 1024

/** Unread bytes of the fastest viewer above which the process has to wait. */
const pauseAbove = 1024 * 1024

/** Viewers of one process at a time. */
const maximumViewers = 32

/** One reader of the output. */
export interface Viewer {
  /** The offset of the next byte. */
  next: number
  /** Open when there may be more. */
  readonly more: Effect.Latch
}

/** What a viewer reads next: output, the offset at which it goes on where output was lost, or the end. */
export type Next =
  | { readonly _tag: "Piece"; readonly piece: Piece }
  | { readonly _tag: "Lost"; readonly offset: number }
  | { readonly _tag: "End"; readonly end: End }

/** A process as callers see it. */
export interface ProcessView {
  readonly id: string
  readonly pid: number
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  readonly status: "running" | "exited"
  readonly exit_code: number | null
  readonly signal: string | null
  readonly started_at: string
  readonly ended_at: string | null
  readonly pty: boolean
  readonly output_start: number
  readonly output_end: number
}

type Described = Pick<ProcessView, "id" | "program" | "args" | "cwd" | "started_at">

export class KeptProcess {
  private readonly ring = new Ring(capacity)
  private readonly viewers = new Set<Viewer>()
  private readonly completed = Deferred.unsafeMake<End>(FiberId.none)
  private end: End | undefined
  private endedAt: string | null = null
  private isOver = false
  private isPaused = false
  source: Source | undefined

  constructor(private readonly described: Described) {}

  /** Takes output of the process. */
  readonly output = (channel: Channel, bytes: Buffer): void => {
    // Of a process in the background, which viewers were told the end before
    if (this.isOver) return
    this.ring.add(channel, bytes)
    this.wake()
    this.balance()
  }

  /** The process has ended, at a time. Output may follow: what it has left in its pipes, which is kept whole and no longer waits for viewers. */
  exited(end: End, at: string): void {
    this.end = end
    this.endedAt = at
    this.balance()
  }

  /** No output follows. */
  over(end: End): void {
    this.isOver = true
    Deferred.unsafeDone(this.completed, Effect.succeed(end))
    this.wake()
  }

  get id(): string {
    return this.described.id
  }

  /** The process while it runs. */
  get running(): Source | undefined {
    return this.end === undefined ? this.source : undefined
  }

  get size(): number {
    return this.ring.size
  }

  /** The end of the process and of its output. */
  get whenOver(): Effect.Effect<End> {
    return Deferred.await(this.completed)
  }

  get view(): ProcessView {
    const { args, cwd, id, program, started_at } = this.described
    return {
      id,
      pid: this.source?.pid ?? 0,
      program,
      args,
      cwd,
      status: this.end === undefined ? "running" : "exited",
      exit_code: this.end?.exit_code ?? null,
      signal: this.end?.signal ?? null,
      started_at,
      ended_at: this.endedAt,
      pty: this.source?.isTerminal ?? false,
      output_start: this.ring.start,
      output_end: this.ring.end
    }
  }

  /** Begins to read at an offset, until the scope closes. */
  watch(offset: number): Effect.Effect<Viewer, Refused, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.suspend(() => {
        if (this.viewers.size >= maximumViewers) {
          return new Refused({ status: 429, message: `At most ${maximumViewers} streams of one process may be open.` })
        }
        const viewer: Viewer = { next: Math.min(Math.max(offset, this.ring.start), this.ring.end), more: Effect.unsafeMakeLatch() }
        this.viewers.add(viewer)
        return Effect.succeed(viewer)
      }),
      (viewer) =>
        Effect.sync(() => {
          this.viewers.delete(viewer)
          this.balance()
        })
    )
  }

  /** Waits for what a viewer reads next. */
  next(viewer: Viewer): Effect.Effect<Next> {
    return Effect.suspend((): Effect.Effect<Next> => {
      viewer.more.unsafeClose()
      if (viewer.next < this.ring.start) {
        viewer.next = this.ring.start
        return Effect.succeed({ _tag: "Lost", offset: viewer.next })
      }
      const piece = this.ring.from(viewer.next)
      if (piece !== undefined) return Effect.succeed({ _tag: "Piece", piece })
      if (this.isOver && this.end !== undefined) return Effect.succeed({ _tag: "End", end: this.end })
      return Effect.zipRight(viewer.more.await, this.next(viewer))
    })
  }

  /** Notes that a viewer has read a piece. */
  read(viewer: Viewer, { bytes, offset }: Piece): void {
    viewer.next = offset + bytes.length
    this.balance()
  }

  private wake(): void {
    for (const { more } of this.viewers) more.unsafeOpen()
  }

  /** Lets the process wait while no viewer keeps up with it. Without a viewer it goes on, and its oldest output is lost. */
  private balance(): void {
    const furthest = Math.max(...Array.from(this.viewers, ({ next }) => next))
    const shouldPause = this.end === undefined && this.viewers.size > 0 && this.ring.end - furthest > pauseAbove
    if (shouldPause === this.isPaused) return
    this.isPaused = shouldPause
    this.source?.pause(shouldPause)
  }
}
