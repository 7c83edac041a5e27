/** The processes that serve the deployment. deployment.md §8. */
import { Clock, Context, Duration, Effect, Option, type Scope } from "effect"
import { Access, AccessObjects, type CurrentActor } from "../access/index.js"
import * as Background from "../platform/Background.js"
import type { NotFound } from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import { Locks } from "../platform/Locks.js"
import * as Timestamp from "../platform/Timestamp.js"
import type { Uuid } from "../platform/Uuid.js"
import { DeploymentOptions } from "./DeploymentOptions.js"
import { service } from "../platform/Standing.js"
import * as StoreClock from "../platform/StoreClock.js"
import { unlessFull } from "../platform/StoreUnavailable.js"
import * as Worker from "../platform/Worker.js"

/** A process with its last report of itself. */
export interface Replica {
  readonly id: Uuid
  readonly hostname: string
  readonly created_at: Timestamp.Timestamp
  /** Where other processes reach the relay of this one; empty without a relay. */
  readonly relay_address: string
  readonly region_id: number
  /** Why other replicas cannot be reached; empty while they can. */
  readonly error: string
  /** Microseconds that a statement took. */
  readonly database_latency: number
  readonly updated_at: Timestamp.Timestamp
}

export class ReplicaRepository extends Context.Tag("@atelier/core/ReplicaRepository")<
  ReplicaRepository,
  {
    /** Stores what a process tells of itself, in place of what it told before. */
    readonly put: (replica: Replica) => Effect.Effect<void>
    /** The clock of the store; None where no other process shares the store. */
    readonly time: Effect.Effect<Option.Option<Timestamp.Timestamp>>
    readonly remove: (id: Uuid) => Effect.Effect<void>
    readonly removeBefore: (time: Timestamp.Timestamp) => Effect.Effect<void>
    /** Processes that have told of themselves since a time, the oldest first. */
    /** Processes that are stored and have not told of themselves since a time. */
    readonly silentSince: (time: Timestamp.Timestamp) => Effect.Effect<ReadonlyArray<Pick<Replica, "id" | "updated_at">>>
    readonly since: (time: Timestamp.Timestamp) => Effect.Effect<ReadonlyArray<Replica>>
  }
>() {}

/** The name of the machine that the process runs on. */
export class Hostname extends Context.Reference<Hostname>()("@atelier/core/Hostname", { defaultValue: () => "localhost" }) {}

const period = Duration.seconds(2)

/** How often the clock of the process is set by the store's. */
const alignedEvery = "10 seconds"

/** How long the connections of a process that tells nothing of itself count as there: three beats. agents-and-apps.md §16. */
const missingAfter = Duration.times(period, 3)

/** How long a process whose lock is free has to be silent to count as dead: it may only have lost the connection that holds the lock. */
const silentFor = Duration.times(period, 1.5)

/** The lock that a process holds for as long as it lives. A store gives it back as soon as the process is gone. */
const lockOf = (id: Uuid): string => `replica:${id}`

/** How long a process counts as alive after it has told of itself. */
export const replicaAliveFor = Duration.seconds(15)

/** How long the row of a process that died is kept. */
const keptFor = Duration.minutes(30)

const make = Effect.gen(function* () {
  const repository = yield* ReplicaRepository
  const locks = yield* Locks
  const ids = yield* Ids
  const hostname = yield* Hostname
  const { derpServerRegionId, derpServerRelayUrl } = yield* DeploymentOptions
  const id = yield* ids.next
  const created_at = yield* Timestamp.now
  let database_latency = 0
  let beatAt = yield* Clock.currentTimeMillis
  /** Until when processes that had told of themselves before the store was away are taken for alive: they may not have come back yet. */
  let gap = { until: 0, before: 0 }

  const beat = Effect.gen(function* () {
    const now = yield* Timestamp.now
    const begun = yield* Clock.currentTimeNanos
    yield* repository.put({
      id,
      hostname,
      created_at,
      relay_address: derpServerRelayUrl,
      region_id: derpServerRegionId,
      error: "",
      database_latency,
      updated_at: now
    })
    database_latency = Number(((yield* Clock.currentTimeNanos) - begun) / 1000n)
    const stored = Timestamp.toMillis(now)
    if (stored - beatAt > Duration.toMillis(missingAfter)) gap = { until: stored + Duration.toMillis(missingAfter), before: beatAt }
    beatAt = stored
    yield* repository.removeBefore(Timestamp.minus(now, keptFor))
  })

  const aliveSince = Effect.map(Timestamp.now, (now) => {
    const at = Timestamp.toMillis(now)
    const isAway = at - beatAt > Duration.toMillis(missingAfter)
    const since = isAway ? beatAt : at < gap.until ? gap.before : at
    return Timestamp.minus(Timestamp.fromMillis(since), missingAfter)
  })

  return {
    /** This process. */
    id,

    /** Since when a process has to have told of itself to count as there. */
    aliveSince,

    /** The processes that have told of themselves lately, without this one. After the store was away, those from before count for a while. */
    others: Effect.map(Effect.flatMap(aliveSince, repository.since), (known) => known.filter((replica) => replica.id !== id)),

    /** Sets the clock in force by the store's, if it is a `StoreClock`: before anything compares its time with that of other processes. */
    align: StoreClock.align(repository.time),

    /** Processes that have died: they are silent, and hold their locks no more. Those that ended by themselves are not among them. */
    dead: Effect.gen(function* () {
      const silent = yield* repository.silentSince(Timestamp.minus(yield* Timestamp.now, silentFor))
      const since = yield* aliveSince
      const isDead = ({ id: other, updated_at }: Pick<Replica, "id" | "updated_at">) =>
        other === id
          ? Effect.succeed(false)
          : updated_at < since
            ? Effect.succeed(true)
            : Effect.map(locks.tryWith(lockOf(other), Effect.void), Option.isSome)
      return (yield* Effect.filter(silent, isDead)).map((replica) => replica.id)
    }),

    /** Forgets a process that has died, with the connections of agents that it had. */
    forget: (dead: Uuid) => repository.remove(dead),

    /** Tells of this process until the scope closes, and keeps its clock with the store's. A store that is away is tried again. */
    announce: Effect.gen(function* () {
      yield* StoreClock.align(repository.time)
      yield* Background.repeat("replica_lock", Effect.zipRight(locks.tryWith(lockOf(id), Effect.never), Effect.sleep(period)))
      yield* Background.repeat("store_clock", Effect.delay(StoreClock.align(repository.time), alignedEvery))
      // Others learn of this process when a full store has room again: reads need no heartbeat
      yield* unlessFull(beat)
      yield* Effect.addFinalizer(() => Effect.ignoreLogged(Effect.exit(repository.remove(id))))
      yield* Background.repeat("replica_heartbeat", Effect.zipRight(Worker.begun, Effect.zipRight(beat, Effect.sleep(period))))
    }) satisfies Effect.Effect<void, never, Scope.Scope>,

    /** The processes that are alive. Fails with `NotFound` unless the actor may read them. */
    list: Effect.gen(function* () {
      yield* Access.authorizeOrHide("read", AccessObjects.bare("replicas"))
      return yield* repository.since(Timestamp.minus(yield* Timestamp.now, replicaAliveFor))
    }) satisfies Effect.Effect<ReadonlyArray<Replica>, NotFound, CurrentActor>
  }
})

export class Replicas extends Context.Tag("@atelier/core/Replicas")<Replicas, Effect.Effect.Success<typeof make>>() {
  static readonly layer = service(Replicas, make)
}
