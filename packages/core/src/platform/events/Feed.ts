/**
 * Streams that take little memory while they wait. A run of a stream of the library takes 10 to 30 KB, and followers of a thing wait almost
 * all the time. A feed is a stream like any other. Run by `runForEach` it waits in one small fiber, and by `attend` without any; it is changed by the functions of
 * this module.
 */
import { type Cause, Chunk, Effect, Exit, Option, Runtime, Scope, Stream } from "effect"
import type { RuntimeFiber } from "effect/Fiber"

/** Reads the values that are there, in their order; none is the end. It waits for no change. */
export type Pull<A, E = never, R = never> = Effect.Effect<Option.Option<ReadonlyArray<A>>, E, R>

/** What waits for a feed. */
export interface Waiter {
  /** Called once when there may be values to pull. */
  readonly wake: () => void
}

/** A run of a feed. Runs are no closures: an idle follower has one for each change of its feed. */
export interface Run<A, E = never, R = never> {
  /** Begins the run, which lasts until `leave` is called, also if the beginning was interrupted. */
  readonly begin: () => Effect.Effect<void, never, R>
  /** Returns whether there may be values to pull now. If not, the waiter is woken later. */
  readonly wait: (waiter: Waiter) => boolean
  /** Waits no longer. */
  readonly rest: () => void
  readonly pull: () => Pull<A, E, R>
  /** Ends the run. It may be called several times. */
  readonly leave: () => void
}

/** Makes a run, which has not begun. */
type Open<A, E, R> = () => Run<A, E, R>

/** How each feed is opened. */
const opens = new WeakMap<object, unknown>()

// A feed is opened by what it was made with, which has its types
const openOf = <A, E, R>(stream: Stream.Stream<A, E, R>): Open<A, E, R> | undefined => opens.get(stream) as Open<A, E, R> | undefined

const waiting = <A, E, R>(run: Run<A, E, R>): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    if (run.wait({ wake: () => resume(Effect.void) })) return resume(Effect.void)
    return Effect.sync(() => run.rest())
  })

/** Waits for the next values. */
const next = <A, E, R>(run: Run<A, E, R>): Pull<A, E, R> => Effect.flatMap(waiting(run), () => run.pull())

const streamed = <A, E, R>(run: Run<A, E, R>): Stream.Stream<A, E, R> =>
  Stream.repeatEffectChunkOption(
    Effect.matchEffect(next(run), {
      onFailure: (error) => Effect.fail(Option.some(error)),
      onSuccess: Option.match({
        onNone: () => Effect.fail(Option.none<E>()),
        onSome: (values: ReadonlyArray<A>) => Effect.succeed(Chunk.unsafeFromArray(values))
      })
    })
  )

/** Makes a feed. Each of its runs opens it, and pulls in turns until a pull answers none. */
export const make = <A, E, R>(open: Open<A, E, R>): Stream.Stream<A, E, R> => {
  // Made when it is run as a stream: the operators alone take 2 KB
  const stream = Stream.suspend(() =>
    Stream.unwrapScopedWith((scope) => {
      const run = open()
      const ended = Effect.sync(() => run.leave())
      return Effect.as(Effect.zipRight(Scope.addFinalizer(scope, ended), run.begin()), streamed(run))
    })
  )
  opens.set(stream, open)
  return stream
}

/** Changes the runs of a feed; other streams are changed as streams. */
const changed = <A, E, R, A2, E2, R2>(
  stream: Stream.Stream<A, E, R>,
  change: (run: Run<A, E, R>) => Run<A2, E2, R | R2>,
  other: () => Stream.Stream<A2, E2, R | R2>
): Stream.Stream<A2, E2, R | R2> => {
  const open = openOf(stream)
  return open === undefined ? other() : make<A2, E2, R | R2>(() => change(open()))
}

/** A run that changes what another one pulls. */
abstract class Changed<A, E, R, A2, E2, R2> implements Run<A2, E2, R | R2> {
  constructor(protected readonly run: Run<A, E, R>) {}

  begin(): Effect.Effect<void, never, R> {
    return this.run.begin()
  }

  wait(waiter: Waiter): boolean {
    return this.run.wait(waiter)
  }

  rest(): void {
    this.run.rest()
  }

  abstract pull(): Pull<A2, E2, R | R2>

  leave(): void {
    this.run.leave()
  }
}

class Mapped<A, E, R, B> extends Changed<A, E, R, B, E, never> {
  constructor(
    run: Run<A, E, R>,
    private readonly change: (value: A) => B
  ) {
    super(run)
  }

  pull(): Pull<B, E, R> {
    return Effect.map(
      this.run.pull(),
      Option.map((values) => values.map((value) => this.change(value)))
    )
  }
}

export const map = <A, E, R, B>(stream: Stream.Stream<A, E, R>, change: (value: A) => B): Stream.Stream<B, E, R> =>
  changed<A, E, R, B, E, R>(
    stream,
    (run) => new Mapped(run, change),
    () => Stream.map(stream, change)
  )

class MappedEffect<A, E, R, B, E2, R2> extends Changed<A, E, R, B, E | E2, R2> {
  /** The values before one whose change fails are handed on first. */
  private failure: Effect.Effect<never, E2> | undefined = undefined

  constructor(
    run: Run<A, E, R>,
    private readonly change: (value: A) => Effect.Effect<B, E2, R2>
  ) {
    super(run)
  }

  override wait(waiter: Waiter): boolean {
    return this.failure !== undefined || super.wait(waiter)
  }

  pull(): Pull<B, E | E2, R | R2> {
    return this.failure ?? Effect.flatMap(this.run.pull(), Option.match({ onNone: () => Effect.succeedNone, onSome: this.each }))
  }

  private get each(): (values: ReadonlyArray<A>) => Pull<B, E2, R2> {
    return (values) =>
      Effect.gen(this, function* () {
        const changed: Array<B> = []
        for (const value of values) {
          const exit = yield* Effect.exit(this.change(value))
          if (Exit.isFailure(exit)) {
            this.failure = Effect.failCause(exit.cause)
            if (changed.length === 0) return yield* this.failure
            break
          }
          changed.push(exit.value)
        }
        return Option.some(changed)
      })
  }
}

export const mapEffect = <A, E, R, B, E2, R2>(
  stream: Stream.Stream<A, E, R>,
  change: (value: A) => Effect.Effect<B, E2, R2>
): Stream.Stream<B, E | E2, R | R2> =>
  changed<A, E, R, B, E | E2, R2>(
    stream,
    (run) => new MappedEffect(run, change),
    () => Stream.mapEffect(stream, change)
  )

class Begun<A, E, R> extends Changed<A, E, R, A, E, never> {
  private isFirst = true

  constructor(
    run: Run<A, E, R>,
    private readonly first: A
  ) {
    super(run)
  }

  override wait(waiter: Waiter): boolean {
    return this.isFirst || super.wait(waiter)
  }

  pull(): Pull<A, E, R> {
    if (!this.isFirst) return this.run.pull()
    this.isFirst = false
    return Effect.succeedSome([this.first])
  }
}

/** The same values after a first one. */
export const startWith = <A, E, R>(stream: Stream.Stream<A, E, R>, first: A): Stream.Stream<A, E, R> =>
  changed<A, E, R, A, E, R>(
    stream,
    (run) => new Begun(run, first),
    () => Stream.concat(Stream.succeed(first), stream)
  )

class Ended<A, E, R, E2, R2> extends Changed<A, E, R, A, E2, R2> {
  private hasFailed = false

  constructor(
    run: Run<A, E, R>,
    private readonly last: (cause: Cause.Cause<E>) => Effect.Effect<A, E2, R2>
  ) {
    super(run)
  }

  override wait(waiter: Waiter): boolean {
    return this.hasFailed || super.wait(waiter)
  }

  pull(): Pull<A, E2, R | R2> {
    if (this.hasFailed) return Effect.succeedNone
    return Effect.catchAllCause(
      Effect.suspend(() => this.run.pull()),
      (cause) => {
        this.hasFailed = true
        return Effect.map(this.last(cause), (value) => Option.some([value]))
      }
    )
  }
}

/** Ends a stream that fails with one more value, which its failure is turned into. */
export const endWith = <A, E, R, E2, R2>(
  stream: Stream.Stream<A, E, R>,
  last: (cause: Cause.Cause<E>) => Effect.Effect<A, E2, R2>
): Stream.Stream<A, E2, R | R2> =>
  changed<A, E, R, A, E2, R2>(
    stream,
    (run) => new Ended(run, last),
    () => Stream.catchAllCause(stream, (cause) => Stream.fromEffect(last(cause)))
  )

/** Gives each value to a function, and waits until that has taken it. */
export const runForEach = <A, E, R, E2, R2>(
  stream: Stream.Stream<A, E, R>,
  take: (value: A) => Effect.Effect<unknown, E2, R2>
): Effect.Effect<void, E | E2, R | R2> => {
  const open = openOf(stream)
  if (open === undefined) return Stream.runForEach(stream, take)
  return Effect.acquireUseRelease(
    Effect.sync(open),
    (run) => {
      const loop: Effect.Effect<void, E | E2, R | R2> = Effect.flatMap(
        next(run),
        Option.match({
          onNone: () => Effect.void,
          onSome: (values) =>
            Effect.zipRight(
              Effect.forEach(values, take, { discard: true }),
              Effect.suspend(() => loop)
            )
        })
      )
      return Effect.zipRight(run.begin(), loop)
    },
    (run) => Effect.sync(() => run.leave())
  )
}

/** A feed that is run without a fiber, except while it reads. */
class Attendance<A, E, R, E2> implements Waiter {
  private fiber: RuntimeFiber<unknown, E | E2> | undefined = undefined
  private isOver = false

  constructor(
    private readonly run: Run<A, E, R>,
    private readonly runtime: Runtime.Runtime<R>,
    private readonly take: (value: A) => Effect.Effect<unknown, E2, R>,
    private readonly over: (exit: Exit.Exit<void, E | E2>) => void
  ) {
    this.fork(Effect.suspend(() => (this.isOver ? Effect.succeed(false) : Effect.zipRight(run.begin(), this.turns))))
  }

  /** Ends the run. `exit` tells `over` why, unless it was asked for. */
  end(exit?: Exit.Exit<void, E | E2>): void {
    if (this.isOver) return
    this.isOver = true
    const { fiber, run } = this
    run.rest()
    if (fiber !== undefined) fiber.unsafeInterruptAsFork(fiber.id())
    run.leave()
    if (exit !== undefined) this.over(exit)
  }

  /** Reads what is there now. */
  wake(): void {
    if (!this.isOver) this.fork(this.turn)
  }

  /** Reads as long as there may be values. Returns whether the feed has ended. */
  private get turns(): Effect.Effect<boolean, E | E2, R> {
    return Effect.suspend(() => (this.run.wait(this) ? this.turn : Effect.succeed(false)))
  }

  private get turn(): Effect.Effect<boolean, E | E2, R> {
    return Effect.suspend(() =>
      Effect.flatMap(
        this.run.pull(),
        Option.match({
          onNone: () => Effect.succeed(true),
          onSome: (values) => Effect.zipRight(Effect.forEach(values, this.take, { discard: true }), this.turns)
        })
      )
    )
  }

  private fork(reading: Effect.Effect<boolean, E | E2, R>): void {
    // Not within the call that tells of a change: many may wait for the same one
    const fiber = Runtime.runFork(this.runtime)(Effect.interruptible(reading), { immediate: false })
    this.fiber = fiber
    fiber.addObserver((exit) => {
      if (this.fiber === fiber) this.fiber = undefined
      if (Exit.isFailure(exit)) this.end(Exit.failCause(exit.cause))
      else if (exit.value) this.end(Exit.void)
    })
  }
}

/**
 * Runs a stream as `runForEach` does, but without a fiber while a feed waits. `over` is called when the stream has ended or failed, or `take` has. Returns how to
 * end it before, after which `over` is not called.
 */
export const attend = <A, E, R, E2>(
  stream: Stream.Stream<A, E, R>,
  runtime: Runtime.Runtime<R>,
  take: (value: A) => Effect.Effect<unknown, E2, R>,
  over: (exit: Exit.Exit<void, E | E2>) => void
): (() => void) => {
  const open = openOf(stream)
  if (open !== undefined) {
    const attendance = new Attendance(open(), runtime, take, over)
    return () => attendance.end()
  }
  const fiber = Runtime.runFork(runtime)(Effect.interruptible(Stream.runForEach(stream, take)), { immediate: false })
  let isStopped = false
  fiber.addObserver((exit) => {
    if (!isStopped) over(exit)
  })
  return () => {
    isStopped = true
    fiber.unsafeInterruptAsFork(fiber.id())
  }
}
