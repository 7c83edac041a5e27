/**
 * Streams that take little memory while they wait. A run of a stream of the library takes 10 to 30 KB, and followers of a thing wait almost
 * all the time. A feed is a stream like any other; it waits cheaply if it is run by `runForEach`, and changed by the functions of this module.
 */
import { type Cause, Effect, Exit, Option, Scope, Stream } from "effect"

/** Waits for the next value; none is the end. */
export type Pull<A, E = never, R = never> = Effect.Effect<Option.Option<A>, E, R>

/** Begins a run, which ends with the scope. */
type Open<A, E, R> = (scope: Scope.Scope) => Effect.Effect<Pull<A, E, R>, never, R>

/** How each feed is opened. */
const opens = new WeakMap<object, unknown>()

// A feed is opened by what it was made with, which has its types
const openOf = <A, E, R>(stream: Stream.Stream<A, E, R>): Open<A, E, R> | undefined => opens.get(stream) as Open<A, E, R> | undefined

const streamed = <A, E, R>(pull: Pull<A, E, R>): Stream.Stream<A, E, R> =>
  Stream.repeatEffectOption(
    Effect.matchEffect(pull, {
      onFailure: (error) => Effect.fail(Option.some(error)),
      onSuccess: Option.match({ onNone: () => Effect.fail(Option.none<E>()), onSome: (value: A) => Effect.succeed(value) })
    })
  )

/** Makes a feed. Each of its runs opens it, and pulls one value after the other until the pull answers none. */
export const make = <A, E, R>(open: Open<A, E, R>): Stream.Stream<A, E, R> => {
  // Made when it is run as a stream: the operators alone take 2 KB
  const stream = Stream.suspend(() => Stream.unwrapScopedWith((scope) => Effect.map(open(scope), streamed)))
  opens.set(stream, open)
  return stream
}

/** Changes the pulls of a feed; other streams are changed as streams. */
const changed = <A, E, R, A2, E2, R2>(
  stream: Stream.Stream<A, E, R>,
  pulls: (pull: Pull<A, E, R>) => Pull<A2, E2, R | R2>,
  other: () => Stream.Stream<A2, E2, R | R2>
): Stream.Stream<A2, E2, R | R2> => {
  const open = openOf(stream)
  return open === undefined ? other() : make<A2, E2, R | R2>((scope) => Effect.map(open(scope), pulls))
}

export const map = <A, E, R, B>(stream: Stream.Stream<A, E, R>, change: (value: A) => B): Stream.Stream<B, E, R> =>
  changed(stream, Effect.map(Option.map(change)), () => Stream.map(stream, change))

export const mapEffect = <A, E, R, B, E2, R2>(
  stream: Stream.Stream<A, E, R>,
  change: (value: A) => Effect.Effect<B, E2, R2>
): Stream.Stream<B, E | E2, R | R2> =>
  changed<A, E, R, B, E | E2, R2>(
    stream,
    Effect.flatMap(Option.match({ onNone: () => Effect.succeedNone, onSome: (value: A) => Effect.asSome(change(value)) })),
    () => Stream.mapEffect(stream, change)
  )

/** The same values after a first one. */
export const startWith = <A, E, R>(stream: Stream.Stream<A, E, R>, first: A): Stream.Stream<A, E, R> =>
  changed(
    stream,
    (pull) => {
      let isFirst = true
      return Effect.suspend(() => {
        if (!isFirst) return pull
        isFirst = false
        return Effect.succeedSome(first)
      })
    },
    () => Stream.concat(Stream.succeed(first), stream)
  )

/** Ends a stream that fails with one more value, which its failure is turned into. */
export const endWith = <A, E, R, E2, R2>(
  stream: Stream.Stream<A, E, R>,
  last: (cause: Cause.Cause<E>) => Effect.Effect<A, E2, R2>
): Stream.Stream<A, E2, R | R2> =>
  changed<A, E, R, A, E2, R2>(
    stream,
    (pull) => {
      let hasFailed = false
      const failed = (cause: Cause.Cause<E>) => {
        hasFailed = true
        return Effect.asSome(last(cause))
      }
      return Effect.suspend(() => (hasFailed ? Effect.succeedNone : Effect.catchAllCause(pull, failed)))
    },
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
    Scope.make(),
    (scope) =>
      Effect.flatMap(open(scope), (pull) => {
        const next: Effect.Effect<void, E | E2, R | R2> = Effect.flatMap(
          pull,
          Option.match({ onNone: () => Effect.void, onSome: (value) => Effect.flatMap(take(value), () => next) })
        )
        return next
      }),
    (scope) => Scope.close(scope, Exit.void)
  )
}
