/** Reads for followers of one thing, made once for all of them. */
import { Clock, Deferred, Duration, Effect, FiberId, type Scope, type Stream } from "effect"
import { type Alarm, type Alarms, makeAlarms } from "../background/Alarms.js"
import * as Background from "../background/Background.js"
import { turnAfterStarted } from "../background/Turns.js"
import { afterwards } from "../store/Transactor.js"
import type { EventBus } from "./EventBus.js"
import * as Feed from "./Feed.js"
import { type Hearer, type Listenings, makeListenings, type Source } from "./Listenings.js"

export { type Source, source } from "./Listenings.js"

/** The reads of one thing that its followers in this process share. */
export interface SharedReads {
  /** Runs a read, unless one of this name has begun since the last change and within the last second: then answers as that one does. */
  readonly once: <A, E, R>(name: string, read: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** How things change, by their keys. */
export interface Changes<K, N = never> {
  /** The name of a thing, which no other one has. One that is joined of several takes less memory than one that is a template literal. */
  readonly nameOf: (key: K) => string
  /** Different channels whose events may change the thing. */
  readonly sourcesOf: (key: K) => ReadonlyArray<Source<K>>
  /** How long a thing is unchanged at most: events may be lost. */
  readonly every: Duration.DurationInput
  /** Rounds of that time. With several, followers are told of changes together, at the end of a round. */
  readonly rounds?: number
  /**
   * Reads what things are now, at the end of that time, and together those whose time ends together. Followers that were told the same are not told again. Without it, or if it
   * fails, they all are.
   */
  readonly recheck?: (keys: ReadonlyArray<K>) => Effect.Effect<(key: K) => N>
}

/** Reads that are kept until the next change: followers that are behind read pages of their own. */
const maximumReads = 4

/** Things that are rechecked at once: on SQLite, other work of the process waits for as long. */
const recheckedAtOnce = 32

/** How long a recheck of these may take. */
const recheckedWithin = "5 seconds"

/** Milliseconds for which a read is kept: what a follower that comes later is answered first must not be older than that. */
const keptFor = 1_000

interface Read {
  readonly answer: Deferred.Deferred<unknown, unknown>
  /** Milliseconds since 1970. */
  readonly begunAt: number
}

/** What all things of one kind share. */
interface Kind<K, N> {
  readonly alarms: Alarms
  readonly changes: Changes<K, N>
  readonly listenings: Listenings<K>
  readonly scope: Scope.Scope
  readonly things: Map<string, Thing<K, N>>
  /** Has a thing rechecked whose time has ended. */
  readonly due: (thing: Thing<K, N>) => void
}

/** What is told of a change. */
interface Told<N> {
  readonly tell: () => void
  /** Whether it was told last what the thing is now. */
  readonly isCurrent: (now: N) => boolean
}

/** A thing with followers. It is no closure: each idle watcher may be the one follower of a thing. */
class Thing<K, N> implements SharedReads, Hearer<K> {
  /** How often the thing has changed since its first follower came. */
  version = 0
  private followers = 0
  /** Done, and no longer there, when the thing's events are heard. */
  private opening: Deferred.Deferred<void> | undefined = undefined
  private recheck: Alarm | undefined = undefined
  private round = 0
  private hasChanged = false
  /** A set where several wait: for one it would take a seventh of a KB. */
  private waiting: Told<N> | Set<Told<N>> | undefined = undefined
  /** There while there are any: they are kept for a moment, and an empty map would be kept for each thing. */
  private reads: Map<string, Read> | undefined = undefined

  constructor(
    private readonly kind: Kind<K, N>,
    readonly key: K
  ) {}

  /**
   * Takes a follower, in an effect that nothing interrupts but where `restore` lets it: others wait for what it begins. Completes when the thing's events are heard. The
   * follower has to leave, even where this was interrupted.
   */
  enter(restore: <A>(effect: Effect.Effect<A>) => Effect.Effect<A>): Effect.Effect<void> {
    this.followers++
    if (this.opening !== undefined) return restore(Deferred.await(this.opening))
    if (this.recheck !== undefined) return Effect.void
    const opening = Deferred.unsafeMake<void>(FiberId.none)
    this.opening = opening
    return Effect.zipRight(
      Effect.forkIn(afterwards(Effect.intoDeferred(Effect.interruptible(this.begin), opening)), this.kind.scope),
      restore(Deferred.await(opening))
    )
  }

  leave(): void {
    this.followers--
    if (this.followers === 0) this.end()
  }

  private get begin(): Effect.Effect<void> {
    const { changes, listenings } = this.kind
    const heard = Effect.forEach(changes.sourcesOf(this.key), (source) => listenings.add(source, this), { discard: true })
    const begun = Effect.sync(() => this.begun())
    return Effect.onError(Effect.zipRight(heard, begun), () => Effect.sync(() => this.end()))
  }

  private begun(): void {
    const { every } = this.kind.changes
    this.opening = undefined
    this.recheck = this.kind.alarms.repeat(Duration.toMillis(every) / this.rounds, () => this.endRound())
    // It has lost its last follower while it began
    if (this.followers === 0) this.end()
  }

  private get rounds(): number {
    return this.kind.changes.rounds ?? 1
  }

  private end(): void {
    const { changes, listenings, things } = this.kind
    const name = changes.nameOf(this.key)
    if (things.get(name) === this) things.delete(name)
    this.recheck?.cancel()
    for (const { name } of changes.sourcesOf(this.key)) listenings.remove(name, this)
  }

  hear(): void {
    if (this.rounds === 1) this.changed()
    else this.hasChanged = true
  }

  private endRound(): void {
    this.round = (this.round + 1) % this.rounds
    if (this.hasChanged) this.changed()
    else if (this.round === 0) this.kind.due(this)
  }

  /** Tells the followers what the thing is now, unless each of them was told so last. One that reads just now may have read what was before. */
  compare(now: N): void {
    const { waiting } = this
    const told = waiting instanceof Set ? [...waiting] : waiting === undefined ? [] : [waiting]
    if (told.length < this.followers || told.some((follower) => !follower.isCurrent(now))) this.changed()
  }

  changed(): void {
    this.version++
    this.hasChanged = false
    this.reads = undefined
    const told = this.waiting
    // Others wait for the next change
    this.waiting = undefined
    if (told instanceof Set) for (const follower of told) follower.tell()
    else told?.tell()
  }

  /** Tells a follower of the next change. */
  tellLater(follower: Told<N>): void {
    const { waiting } = this
    if (waiting instanceof Set) waiting.add(follower)
    else this.waiting = waiting === undefined ? follower : new Set([waiting, follower])
  }

  tellNoLonger(follower: Told<N>): void {
    const { waiting } = this
    if (waiting instanceof Set) waiting.delete(follower)
    else if (waiting === follower) this.waiting = undefined
  }

  once<A, E, R>(name: string, read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const known = this.reads?.get(name)
      // A name stands for one read, so what it answers is of that read's types
      if (known !== undefined && now - known.begunAt < keptFor) return Deferred.await(known.answer as Deferred.Deferred<A, E>)
      // No interruption comes between the entry and the start of its read: others would wait for a read that never begins
      return Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(Deferred.make<A, E>(), (answer) => {
          const forget = this.keep(name, { answer: answer as Deferred.Deferred<unknown, unknown>, begunAt: now })
          // Others wait for it when its first reader has gone, and what failed is tried again by those who come later
          const reading = Effect.intoDeferred(
            Effect.onError(Effect.interruptible(read), () => Effect.sync(forget)),
            answer
          )
          return Effect.zipRight(Effect.forkIn(afterwards(reading), this.kind.scope), restore(Deferred.await(answer)))
        })
      )
    })
  }

  /** Keeps a read for a while. Returns what forgets it before. */
  private keep(name: string, read: Read): () => void {
    const kept = (this.reads ??= new Map())
    const [oldest] = kept.keys()
    if (kept.size >= maximumReads && !kept.has(name) && oldest !== undefined) kept.delete(oldest)
    kept.set(name, read)
    const forget = (): void => {
      if (kept.get(name) === read) kept.delete(name)
      if (this.reads === kept && kept.size === 0) this.reads = undefined
    }
    this.kind.alarms.set(keptFor, forget)
    return forget
  }
}

/** What a follower does with a thing. */
export interface Followed<A, E, R, N = never> {
  readonly pull: () => Feed.Pull<A, E, R>
  /** Whether what was pulled last is what a recheck has found. Never, unless it is given. */
  readonly isCurrent?: (now: N) => boolean
  /** Whether there is more to pull without a change. */
  readonly hasMore?: () => boolean
}

/** Follows one thing, from its beginning until it leaves. */
class Following<K, N, A, E, R> implements Feed.Run<A, E, R>, Told<N> {
  private thing: Thing<K, N> | undefined = undefined
  private followed: Followed<A, E, R, N> | undefined = undefined
  private waiter: Feed.Waiter | undefined = undefined
  private seen = -1

  constructor(
    private readonly kind: Kind<K, N>,
    private readonly key: K,
    private readonly follow: (shared: SharedReads) => Followed<A, E, R, N>
  ) {}

  begin(): Effect.Effect<void> {
    return Effect.uninterruptibleMask((restore) => {
      const { key, kind } = this
      const name = kind.changes.nameOf(key)
      const thing = kind.things.get(name) ?? new Thing(kind, key)
      kind.things.set(name, thing)
      this.thing = thing
      this.followed = this.follow(thing)
      return thing.enter(restore)
    })
  }

  private get hasMore(): boolean {
    return this.followed?.hasMore?.() === true
  }

  wait(waiter: Feed.Waiter): boolean {
    const { thing } = this
    if (this.hasMore || (thing !== undefined && thing.version > this.seen)) return true
    this.waiter = waiter
    thing?.tellLater(this)
    return false
  }

  rest(): void {
    this.waiter = undefined
    this.thing?.tellNoLonger(this)
  }

  tell(): void {
    const { waiter } = this
    this.waiter = undefined
    // One that was told before may have had this one wait no longer
    waiter?.wake()
  }

  isCurrent(now: N): boolean {
    return this.followed?.isCurrent?.(now) === true
  }

  pull(): Feed.Pull<A, E, R> {
    const { followed, thing } = this
    if (followed === undefined || thing === undefined) return Effect.succeedNone
    if (!this.hasMore) this.seen = thing.version
    return followed.pull()
  }

  leave(): void {
    this.rest()
    this.thing?.leave()
    this.thing = undefined
  }
}

/** Returns what has things rechecked, in groups. If that fails, all followers are told, and find out by themselves. */
const rechecking = <K, N>(recheck: NonNullable<Changes<K, N>["recheck"]>): Effect.Effect<Kind<K, N>["due"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const due = new Set<Thing<K, N>>()
    const isAny = yield* Effect.makeLatch(false)

    /** Those that become due together come in several turns. */
    const gather = Effect.gen(function* () {
      for (let before = 0; due.size !== before && due.size < recheckedAtOnce;) {
        before = due.size
        yield* turnAfterStarted
      }
    })

    const recheckSome = Effect.gen(function* () {
      yield* gather
      const group = Array.from(due).slice(0, recheckedAtOnce)
      for (const thing of group) due.delete(thing)
      const tellAll = Effect.sync(() => {
        for (const thing of [...group, ...due]) thing.changed()
        due.clear()
      })
      const versions = group.map(({ version }) => version)
      const reading = Effect.timeout(Effect.disconnect(recheck(group.map(({ key }) => key))), recheckedWithin)
      const nowOf = yield* Effect.onError(reading, () => tellAll)
      for (const [index, thing] of group.entries()) {
        // Followers of one that has changed during the read were told
        if (thing.version === versions[index]) thing.compare(nowOf(thing.key))
      }
    })
    const wait = Effect.suspend(() => {
      if (due.size === 0) isAny.unsafeClose()
      return isAny.await
    })

    yield* Background.repeat("rechecks", Effect.zipRight(wait, recheckSome))
    return (thing) => {
      due.add(thing)
      isAny.unsafeOpen()
    }
  })

/** Makes what follows things, until the scope closes. */
export const makeSharedReads = <K, N = never>(changes: Changes<K, N>): Effect.Effect<Things<K, N>, never, EventBus | Scope.Scope> =>
  Effect.gen(function* () {
    const { recheck } = changes
    const kind: Kind<K, N> = {
      alarms: yield* makeAlarms,
      changes,
      listenings: yield* makeListenings<K>(),
      scope: yield* Effect.scope,
      things: new Map(),
      due: recheck === undefined ? (thing) => thing.changed() : yield* rechecking<K, N>(recheck)
    }
    return (key, follow) => Feed.make(() => new Following(kind, key, follow))
  })

/**
 * Streams what a follower of a thing pulls: at once, and then after each change of the thing; changes that follow each other faster than it pulls count as one.
 */
export type Things<K, N = never> = <A, E, R>(key: K, follow: (shared: SharedReads) => Followed<A, E, R, N>) => Stream.Stream<A, E, R>
