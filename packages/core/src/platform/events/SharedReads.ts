/** Reads for followers of one thing, made once for all of them. */
import { Clock, Context, Deferred, type Duration, Effect, RcMap, Scope, type Stream } from "effect"
import { acquired } from "../background/acquired.js"
import { type Alarms, makeAlarms } from "../background/Alarms.js"
import * as Feed from "./Feed.js"
import { afterwards } from "../store/Transactor.js"

/** The reads of one thing that its followers in this process share. */
export interface SharedReads {
  /** How often the thing has changed since its first follower came. */
  readonly version: () => number
  /** Calls back once it has changed more often than that, which may be at once. Returns how to wait no longer. */
  readonly whenChangedSince: (version: number, changed: () => void) => () => void
  /** Runs a read, unless one of this name has begun since the last change and within the last second: then answers as that one does. */
  readonly once: <A, E, R>(name: string, read: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Reads that are kept until the next change: followers that are behind read pages of their own. */
const maximumReads = 4

/** Milliseconds for which a read is kept: what a follower that comes later is answered first must not be older than that. */
const keptFor = 1_000

interface Read {
  readonly answer: Deferred.Deferred<unknown, unknown>
  /** Milliseconds since 1970. */
  readonly begunAt: number
}

const makeReads = (alarms: Alarms) =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    let waiting = new Set<() => void>()
    let version = 0
    /** There while there are any: they are kept for a moment, and an empty map would be kept for each thing. */
    let reads: Map<string, Read> | undefined

    const changed = (): void => {
      version++
      reads = undefined
      const told = waiting
      // Others wait for the next change
      waiting = new Set()
      for (const tell of told) tell()
    }

    const shared: SharedReads = {
      version: () => version,
      whenChangedSince: (seen, tell) => {
        if (version > seen) {
          tell()
          return () => undefined
        }
        let isWaiting = true
        const own = (): void => {
          // One that is told may have another one wait no longer
          if (isWaiting) tell()
        }
        waiting.add(own)
        return () => {
          isWaiting = false
          waiting.delete(own)
        }
      },
      once: <A, E, R>(name: string, read: Effect.Effect<A, E, R>) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const known = reads?.get(name)
          // A name stands for one read, so what it answers is of that read's types
          if (known !== undefined && now - known.begunAt < keptFor) return Deferred.await(known.answer as Deferred.Deferred<A, E>)
          // No interruption comes between the entry and the start of its read: others would wait for a read that never begins
          return Effect.uninterruptibleMask((restore) =>
            Effect.flatMap(Deferred.make<A, E>(), (answer) => {
              const entry: Read = { answer: answer as Deferred.Deferred<unknown, unknown>, begunAt: now }
              const kept = (reads ??= new Map())
              const [oldest] = kept.keys()
              if (kept.size >= maximumReads && !kept.has(name) && oldest !== undefined) kept.delete(oldest)
              kept.set(name, entry)
              const forget = (): void => {
                if (kept.get(name) === entry) kept.delete(name)
                if (reads === kept && kept.size === 0) reads = undefined
              }
              alarms.set(keptFor, forget)
              // Others wait for it when its first reader has gone, and what failed is tried again by those who come later
              const reading = Effect.intoDeferred(
                Effect.onError(Effect.interruptible(read), () => Effect.sync(forget)),
                answer
              )
              return Effect.zipRight(Effect.forkIn(afterwards(reading), scope), restore(Deferred.await(answer)))
            })
          )
        })
    }
    return { changed, shared }
  })

/** Without services. Each thing of an `RcMap` has a copy of those that the map and its first user have: the application's take 14 KB. */
const bare = <A>(effect: Effect.Effect<A, never, Scope.Scope>): Effect.Effect<A, never, Scope.Scope> =>
  Effect.mapInputContext(effect, (context: Context.Context<Scope.Scope>) => Context.make(Scope.Scope, Context.get(context, Scope.Scope)))

/** Repeats something until a thing has no more followers. */
export type Every = (period: Duration.DurationInput, act: () => void) => Effect.Effect<void, never, Scope.Scope>

/**
 * Makes the reads of things by their keys. `follow` begins with a thing's first follower and ends with its last one; it has `changed` called
 * after each change of the thing, and from time to time without one, since events may be lost: `every` does so.
 */
export const makeSharedReads = <K>(
  follow: (key: K, changed: () => void, every: Every) => Effect.Effect<void, never, Scope.Scope>
): Effect.Effect<(key: K) => Effect.Effect<SharedReads, never, Scope.Scope>, never, Scope.Scope> =>
  bare(
    Effect.gen(function* () {
      const alarms = yield* makeAlarms
      const every: Every = (period, act) => acquired(() => alarms.repeat(period, act))
      const things = yield* RcMap.make({
        lookup: (key: K) =>
          Effect.gen(function* () {
            const { changed, shared } = yield* makeReads(alarms)
            yield* follow(key, changed, every)
            return shared
          })
      })
      return (key) => Effect.suspend(() => bare(RcMap.get(things, key)))
    })
  )

/**
 * Streams what a follower of a thing pulls: at once, and then after each change of the thing; changes that follow each other faster than it pulls count as one.
 * `hasMore` says whether there is more to pull without a change.
 */
export const following = <A, E, R>(
  reads: Effect.Effect<SharedReads, never, Scope.Scope>,
  follow: (shared: SharedReads) => { readonly pull: Feed.Pull<A, E, R>; readonly hasMore?: () => boolean }
): Stream.Stream<A, E, R> =>
  Feed.make((scope) =>
    Effect.map(Scope.extend(reads, scope), (shared) => {
      let seen = -1
      const { hasMore = () => false, pull } = follow(shared)
      return {
        wait: (ready) => shared.whenChangedSince(hasMore() ? -1 : seen, ready),
        pull: Effect.suspend(() => {
          if (!hasMore()) seen = shared.version()
          return pull
        })
      }
    })
  )
