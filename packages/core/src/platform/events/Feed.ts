/**
 * Streams that take little memory while they wait. A run of a stream of the library takes 10 to 30 KB, and followers of a thing wait almost
 * all the time. A feed is a stream like any other. Run by `runForEach` it waits in one small fiber, and by `attend` without any; it is changed by the functions of
 * this module.
 */
import { type Cause, Chunk, Effect, Exit, Option, Runtime, Scope, Stream } from "effect"
import type { RuntimeFiber } from "effect/Fiber"

/** Reads the values that are there, in their order; none is the end. It waits for no change. */
export type Pull<A, E = never, R = never> = Effect.Effect<Option.Option<ReadonlyArray<A>>, E, R>

/** A run of a feed. */
export interface Run<A, E = never, R = never> {
  /** Calls `ready` once when there may be values to pull, which may be at once. Returns how to wait no longer. */
  readonly wait: (ready: () => void) => () => void
  readonly pull: Pull<A, E, R>
}

/** Begins a run, which ends with the scope. */
type Open<A, E, R> = (scope: Scope.Scope) => Effect.Effect<Run<A, E, R>, never, R>

/** How each feed is opened. */
const opens = new WeakMap<object, unknown>()

// A feed is opened by what it was made with, which has its types
const openOf = <A, E, R>(stream: Stream.Stream<A, E, R>): Open<A, E, R> | undefined => opens.get(stream) as Open<A, E, R> | undefined

const ignore = (): void => undefined

/** Calls back at once. */
const atOnce: Run<never>["wait"] = (ready) => {
  ready()
  return ignore
}

const waiting = <A, E, R>({ wait }: Run<A, E, R>): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    const leave = wait(() => resume(Effect.void))
    return Effect.sync(leave)
  })

/** Waits for the next values. */
const next = <A, E, R>(run: Run<A, E, R>): Pull<A, E, R> => Effect.zipRight(waiting(run), run.pull)

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
  const stream = Stream.suspend(() => Stream.unwrapScopedWith((scope) => Effect.map(open(scope), streamed)))
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
  return open === undefined ? other() : make<A2, E2, R | R2>((scope) => Effect.map(open(scope), change))
}

// The changes of runs are made apart from their streams: a run would keep these, which take a third of a KB each

const mapping =
  <A, B>(change: (value: A) => B) =>
  <E, R>({ pull, wait }: Run<A, E, R>): Run<B, E, R> => ({
    wait,
    pull: Effect.map(
      pull,
      Option.map((values) => values.map(change))
    )
  })

export const map = <A, E, R, B>(stream: Stream.Stream<A, E, R>, change: (value: A) => B): Stream.Stream<B, E, R> =>
  changed<A, E, R, B, E, R>(stream, mapping(change), () => Stream.map(stream, change))

const mappingEffect =
  <A, B, E2, R2>(change: (value: A) => Effect.Effect<B, E2, R2>) =>
  <E, R>({ pull, wait }: Run<A, E, R>): Run<B, E | E2, R | R2> => {
    // The values before one whose change fails are handed on first
    let failure: Effect.Effect<never, E2> | undefined
    const each = (values: ReadonlyArray<A>): Pull<B, E2, R2> =>
      Effect.gen(function* () {
        const changed: Array<B> = []
        for (const value of values) {
          const exit = yield* Effect.exit(change(value))
          if (Exit.isFailure(exit)) {
            failure = Effect.failCause(exit.cause)
            if (changed.length === 0) return yield* failure
            break
          }
          changed.push(exit.value)
        }
        return Option.some(changed)
      })
    return {
      wait: (ready) => (failure === undefined ? wait(ready) : atOnce(ready)),
      pull: Effect.suspend(
        (): Pull<B, E | E2, R | R2> => failure ?? Effect.flatMap(pull, Option.match({ onNone: () => Effect.succeedNone, onSome: each }))
      )
    }
  }

export const mapEffect = <A, E, R, B, E2, R2>(
  stream: Stream.Stream<A, E, R>,
  change: (value: A) => Effect.Effect<B, E2, R2>
): Stream.Stream<B, E | E2, R | R2> =>
  changed<A, E, R, B, E | E2, R2>(stream, mappingEffect(change), () => Stream.mapEffect(stream, change))

const beginning =
  <A>(first: A) =>
  <E, R>({ pull, wait }: Run<A, E, R>): Run<A, E, R> => {
    let isFirst = true
    return {
      wait: (ready) => (isFirst ? atOnce(ready) : wait(ready)),
      pull: Effect.suspend(() => {
        if (!isFirst) return pull
        isFirst = false
        return Effect.succeedSome([first])
      })
    }
  }

/** The same values after a first one. */
export const startWith = <A, E, R>(stream: Stream.Stream<A, E, R>, first: A): Stream.Stream<A, E, R> =>
  changed<A, E, R, A, E, R>(stream, beginning(first), () => Stream.concat(Stream.succeed(first), stream))

const ending =
  <A, E, E2, R2>(last: (cause: Cause.Cause<E>) => Effect.Effect<A, E2, R2>) =>
  <R>({ pull, wait }: Run<A, E, R>): Run<A, E2, R | R2> => {
    let hasFailed = false
    const failed = (cause: Cause.Cause<E>) => {
      hasFailed = true
      return Effect.map(last(cause), (value) => Option.some([value]))
    }
    return {
      wait: (ready) => (hasFailed ? atOnce(ready) : wait(ready)),
      pull: Effect.suspend(() => (hasFailed ? Effect.succeedNone : Effect.catchAllCause(pull, failed)))
    }
  }

/** Ends a stream that fails with one more value, which its failure is turned into. */
export const endWith = <A, E, R, E2, R2>(
  stream: Stream.Stream<A, E, R>,
  last: (cause: Cause.Cause<E>) => Effect.Effect<A, E2, R2>
): Stream.Stream<A, E2, R | R2> =>
  changed<A, E, R, A, E2, R2>(stream, ending(last), () => Stream.catchAllCause(stream, (cause) => Stream.fromEffect(last(cause))))

/** Gives each value to a function, and waits until that has taken it. */
export const runForEach = <A, E, R, E2, R2>(
  stream: Stream.Stream<A, E, R>,
  take: (value: A) => Effect.Effect<unknown, E2, R2>
): Effect.Effect<void, E | E2, R | R2> => {
  const open = openOf(stream)
  if (open === undefined) return Stream.runForEach(stream, take)
  return Effect.acquireUseRelease(
    Scope.make(),
    (scope) =>
      Effect.flatMap(open(scope), (run) => {
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
        return loop
      }),
    (scope) => Scope.close(scope, Exit.void)
  )
}

/** A feed that is run without a fiber, except while it reads. */
class Attendance<A, E, R, E2> {
  private fiber: RuntimeFiber<unknown, E | E2> | undefined
  private scope: Scope.CloseableScope | undefined
  private leave = ignore
  private isOver = false

  constructor(
    private readonly runtime: Runtime.Runtime<R>,
    private readonly take: (value: A) => Effect.Effect<unknown, E2, R>,
    private readonly over: (exit: Exit.Exit<void, E | E2>) => void
  ) {}

  begin(open: Open<A, E, R>): void {
    this.fork(
      Effect.flatMap(Scope.make(), (scope) => {
        this.scope = scope
        return Effect.flatMap(open(scope), (run) => this.turns(run))
      })
    )
  }

  /** Ends the run. `exit` tells `over` why, unless it was asked for. */
  end(exit?: Exit.Exit<void, E | E2>): void {
    if (this.isOver) return
    this.isOver = true
    this.leave()
    const { fiber, scope } = this
    if (fiber !== undefined) fiber.unsafeInterruptAsFork(fiber.id())
    if (scope !== undefined) Runtime.runFork(this.runtime)(Scope.close(scope, Exit.void))
    if (exit !== undefined) this.over(exit)
  }

  /** Reads as long as there may be values. Returns whether the feed has ended. */
  private turns(run: Run<A, E, R>): Effect.Effect<boolean, E | E2, R> {
    return Effect.suspend(() => (this.isReady(run) ? this.turn(run) : Effect.succeed(false)))
  }

  private turn(run: Run<A, E, R>): Effect.Effect<boolean, E | E2, R> {
    return Effect.flatMap(
      run.pull,
      Option.match({
        onNone: () => Effect.succeed(true),
        onSome: (values) => Effect.zipRight(Effect.forEach(values, this.take, { discard: true }), this.turns(run))
      })
    )
  }

  /** Whether there may be values now. If not, they are waited for. */
  private isReady(run: Run<A, E, R>): boolean {
    let isReady = false
    let isWaiting = false
    const leave = run.wait(() => {
      isReady = true
      if (isWaiting) this.wake(run)
    })
    isWaiting = !isReady
    if (isWaiting) this.leave = leave
    return isReady
  }

  private wake(run: Run<A, E, R>): void {
    this.leave = ignore
    if (!this.isOver) this.fork(this.turn(run))
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
    const attendance = new Attendance(runtime, take, over)
    attendance.begin(open)
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
