/**
 * Keeps the Pods of running workspaces: one that was evicted, deleted by others or lost with its node is made again, with its volumes. The Secret of its start
 * says whether it is to run, so any number of servers may do this beside each other.
 */
import type { TellOutage } from "@atelier/core/provisioning"
import { Clock, Effect, Exit, Option, Redacted, Schedule, Scope } from "effect"
import type { Pod } from "../cluster/Objects.js"
import type { PodWatch } from "../cluster/PodWatch.js"
import type { Resources } from "../cluster/Resources.js"
import type { Change } from "../cluster/Watch.js"
import type { Settings } from "../Settings.js"
import { endOf, isOfLostNode, lossOf } from "./Progress.js"
import { restoring } from "./Restoration.js"

interface Needs {
  readonly resources: Resources
  readonly watch: PodWatch
  readonly settings: Settings
}

export interface Keeper {
  /** Looks after these Pods from now on: they are to run while their Secrets exist. Those that are missing are made. */
  readonly keep: (names: ReadonlyArray<string>) => Effect.Effect<void>
  readonly tellOutages: (tell: TellOutage) => Effect.Effect<void>
}

/** How often a Pod that cannot be made is tried again. */
const pauses = Schedule.union(Schedule.exponential("2 seconds", 2), Schedule.spaced("2 minutes"))

/** Milliseconds after which a Pod that was made again counts as one that stays. */
const steady = 10 * 60_000

/** Pods that are made again at once: the loss of a node is no flood of calls. */
const concurrency = 8

/** Reasons that wait to be told; older ones are left out. */
const maximumOutages = 1_000

/** Returns what holds the watch or lets go of it, as it is needed then. */
const holding = (watch: PodWatch, isNeeded: () => boolean) =>
  Effect.gen(function* () {
    let holder: Scope.CloseableScope | undefined
    const turn = (yield* Effect.makeSemaphore(1)).withPermits(1)
    const release = Effect.suspend(() => {
      const last = holder
      holder = undefined
      return last === undefined ? Effect.void : Scope.close(last, Exit.void)
    })
    yield* Effect.addFinalizer(() => release)
    return turn(
      Effect.suspend(() => {
        if (!isNeeded()) return release
        if (holder !== undefined) return Effect.void
        return Effect.flatMap(Scope.make(), (scope) => {
          holder = scope
          return Scope.extend(watch.hold, scope)
        })
      })
    )
  })

/** Outages that wait to be told, one of each Pod. */
const makeOutages = () => {
  const waiting = new Map<string, { readonly token: string; readonly message: string }>()
  return {
    add: (name: string, outage: { readonly token: string; readonly message: string }): void => {
      if (waiting.size < maximumOutages) waiting.set(name, outage)
    },
    tell: (tell: TellOutage): Effect.Effect<void> =>
      Effect.suspend(() =>
        Effect.forEach(
          [...waiting.entries()],
          ([name, { message, token }]) =>
            Effect.zipRight(
              tell({ token: Redacted.make(token), message }),
              Effect.sync(() => waiting.delete(name))
            ),
          { discard: true }
        )
      )
  }
}

export const makeKeeper = ({ resources, settings, watch }: Needs): Effect.Effect<Keeper, never, Scope.Scope> =>
  Effect.gen(function* () {
    const restore = restoring({ resources, settings })
    /** Names of Pods that exist, as the watch has told. */
    const present = new Set<string>()
    /** Names that the list in progress has told. */
    let listed: Set<string> | undefined
    /** Names of Pods that are to run and have not been seen yet. */
    const expected = new Set<string>()
    const outages = makeOutages()
    /** How often a Pod was made again, and when last. */
    const attempts = new Map<string, { readonly count: number; readonly at: number }>()
    /** Why Pods are looked at, by name, and those that are being looked at. */
    const reasons = new Map<string, string>()
    const busy = new Set<string>()
    const scope = yield* Effect.scope
    const permits = yield* Effect.makeSemaphore(concurrency)

    /** The watch runs while there are Pods to look after. */
    const holdOrRelease = yield* holding(watch, () => present.size > 0 || expected.size > 0)

    /** Makes a Pod again, and notes why, for the workspace's log. */
    const restored = (name: string, reason: string) =>
      restore(name).pipe(
        Effect.flatMap(
          Option.match({
            onNone: () => Effect.void,
            onSome: (token) =>
              Effect.gen(function* () {
                attempts.set(name, { count: (attempts.get(name)?.count ?? 0) + 1, at: yield* Clock.currentTimeMillis })
                outages.add(name, { token, message: `The Pod of the workspace is started again: ${reason}.` })
                yield* Effect.logInfo(`the Pod ${name} is started again: ${reason}`)
              })
          })
        ),
        permits.withPermits(1),
        Effect.tapError((error) => Effect.logWarning(`the Pod ${name} cannot be started again yet: ${error.message}`)),
        Effect.retry(pauses),
        Effect.ignore
      )

    /** A Pod that ends again and again is made after pauses that grow. */
    const pause = (name: string) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        for (const [other, { at }] of attempts) if (now - at > steady) attempts.delete(other)
        const count = attempts.get(name)?.count ?? 0
        if (count > 0) yield* Effect.sleep(Math.min(1_000 * 2 ** count, 2 * 60_000))
      })

    /** Looks at a Pod, and once more if the watch has told of it during that. */
    const lookAfter = (name: string): Effect.Effect<void> =>
      Effect.suspend(() => {
        const reason = reasons.get(name)
        reasons.delete(name)
        if (reason !== undefined)
          return pause(name).pipe(Effect.zipRight(restored(name, reason)), Effect.zipRight(Effect.suspend(() => lookAfter(name))))
        busy.delete(name)
        expected.delete(name)
        return holdOrRelease
      })

    /** One attempt for each Pod at a time. */
    const begin = (name: string, reason: string): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (!reasons.has(name)) reasons.set(name, reason)
        if (busy.has(name)) return Effect.void
        busy.add(name)
        return Effect.asVoid(Effect.forkIn(lookAfter(name), scope))
      })

    const onChange = (change: Change<Pod>): Effect.Effect<void> =>
      Effect.gen(function* () {
        switch (change._tag) {
          case "Listing":
            listed = new Set()
            return
          case "Present": {
            const { name } = change.object.metadata
            listed?.add(name)
            present.add(name)
            expected.delete(name)
            if (endOf(change.object) !== undefined) yield* begin(name, lossOf(change.object))
            else if (isOfLostNode(change.object)) yield* begin(name, "its node is lost")
            break
          }
          case "Gone":
            present.delete(change.object.metadata.name)
            yield* begin(change.object.metadata.name, lossOf(change.object))
            break
          case "Listed": {
            const gone = [...present, ...expected].filter((name) => listed?.has(name) !== true)
            listed = undefined
            for (const name of gone) {
              present.delete(name)
              expected.delete(name)
              yield* begin(name, "the Pod is gone")
            }
          }
        }
        yield* holdOrRelease
      })

    yield* watch.onChange(onChange)

    return {
      keep: (names) =>
        Effect.suspend(() => {
          const missing = names.filter((name) => !present.has(name))
          for (const name of missing) expected.add(name)
          // A list that is still to come tells which of them are gone
          const begun = watch.hasListed()
            ? Effect.forEach(missing, (name) => begin(name, "the Pod is gone"), { discard: true })
            : Effect.void
          return Effect.zipRight(holdOrRelease, begun)
        }),
      tellOutages: outages.tell
    }
  })
