/** Listening to channels whose events concern many things: once to each channel, for as long as a thing needs it. */
import { Context, Deferred, Effect, ExecutionStrategy, Exit, FiberId, Runtime, Scope } from "effect"
import { afterwards } from "../store/Transactor.js"
import { type Channel, type Delivery, EventBus } from "./EventBus.js"

/** Tells which things a delivery concerns, by their keys. */
type Concerned<K> = (delivery: Delivery<string>) => (key: K) => boolean

/** A channel whose events concern things. */
export interface Source<K> {
  readonly name: string
  readonly concerned: Concerned<K>
}

const always = (): boolean => true

/** A channel whose events concern the things that a condition answers; all without one. What is lost concerns all. */
export const source = <K, A>({ name, read }: Channel<A>, concerns: (event: A, key: K) => boolean = always): Source<K> => ({
  name,
  concerned: (delivery) => {
    const told = read(delivery)
    return told._tag === "Lost" ? always : (key) => concerns(told.event, key)
  }
})

/** What hears of the events that concern it. */
export interface Hearer<K> {
  readonly key: K
  readonly hear: () => void
}

export interface Listenings<K> {
  /** Has a hearer hear a channel's events until it is removed; from before the effect succeeds. */
  readonly add: (source: Source<K>, hearer: Hearer<K>) => Effect.Effect<void>
  /** A hearer that waits for `add` is removed too. */
  readonly remove: (channel: string, hearer: Hearer<K>) => void
}

/** One channel that is listened to. */
class Listening<K> {
  readonly hearers = new Set<Hearer<K>>()
  readonly begun = Deferred.unsafeMake<void>(FiberId.none)
  private scope: Scope.CloseableScope | undefined = undefined

  begin(bus: EventBus["Type"], { concerned, name }: Source<K>, parent: Scope.Scope): Effect.Effect<void> {
    const heard = (delivery: Delivery<string>): void => {
      const concerns = concerned(delivery)
      for (const hearer of this.hearers) if (concerns(hearer.key)) hearer.hear()
    }
    return Effect.flatMap(Scope.fork(parent, ExecutionStrategy.sequential), (scope) =>
      // Without the services of the first who hears, which a bus may keep
      Effect.mapInputContext<void, never, Scope.Scope, never>(bus.listen(name, heard), () => Context.make(Scope.Scope, scope)).pipe(
        Effect.tap(() => {
          this.scope = scope
          return this.hearers.size === 0 ? this.end : Effect.void
        }),
        Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
      )
    )
  }

  /** Ends it, or has its beginning end it. */
  get end(): Effect.Effect<void> {
    return this.scope === undefined ? Effect.void : Scope.close(this.scope, Exit.void)
  }
}

/** Makes listenings, which end with the scope. */
export const makeListenings = <K>(): Effect.Effect<Listenings<K>, never, EventBus | Scope.Scope> =>
  Effect.gen(function* () {
    const bus = yield* EventBus
    const parent = yield* Effect.scope
    const { fiberRefs, runtimeFlags } = yield* Effect.runtime<never>()
    const run = Runtime.runFork(Runtime.make({ context: Context.empty(), fiberRefs, runtimeFlags }))
    const listenings = new Map<string, Listening<K>>()

    const begin = (source: Source<K>, hearer: Hearer<K>): Effect.Effect<void> => {
      const listening = new Listening<K>()
      listenings.set(source.name, listening)
      listening.hearers.add(hearer)
      const forget = Effect.sync(() => void (listenings.get(source.name) === listening && listenings.delete(source.name)))
      const beginning = Effect.onError(listening.begin(bus, source, parent), () => forget)
      const { begun } = listening
      return Effect.zipRight(Effect.forkIn(afterwards(Effect.intoDeferred(beginning, begun)), parent), Deferred.await(begun))
    }

    return {
      add: (source, hearer) =>
        Effect.suspend(() => {
          const known = listenings.get(source.name)
          if (known === undefined) return begin(source, hearer)
          known.hearers.add(hearer)
          return Deferred.await(known.begun)
        }),
      remove: (channel, hearer) => {
        const listening = listenings.get(channel)
        if (listening?.hearers.delete(hearer) !== true || listening.hearers.size > 0) return
        listenings.delete(channel)
        run(listening.end)
      }
    }
  })
