/** The processes that serve the deployment. deployment.md §8. */
import { Clock, Context, Duration, Effect, type Scope } from "effect"
import { Access, AccessObjects, type CurrentActor } from "../access/index.js"
import * as Background from "../platform/background/Background.js"
import { startSigns } from "../platform/background/BackgroundWork.js"
import type { NotFound } from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import { Locks } from "../platform/store/Locks.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { DeploymentOptions } from "./options/DeploymentOptions.js"
import { service } from "../platform/wiring/Standing.js"
import * as StoreClock from "../platform/time/StoreClock.js"
import { unlessFull } from "../platform/store/StoreUnavailable.js"
import * as Worker from "../platform/background/Worker.js"
import { replicaLock } from "./ReplicaLock.js"
import { type Replica, ReplicaRepository, type SilentReplica } from "./ReplicaRepository.js"

/** The name of the machine that the process runs on. */
export class Hostname extends Context.Reference<Hostname>()("@atelier/core/Hostname", { defaultValue: () => "localhost" }) {}

/**
 * Where other processes of this machine reach this one, such as `unix:/run/atelier/1.sock`; empty for nowhere. The option `derpServerRelayUrl` goes
 * before it.
 */
export class LocalAddress extends Context.Reference<LocalAddress>()("@atelier/core/LocalAddress", { defaultValue: () => "" }) {}

const period = Duration.seconds(2)

/** How often the clock of the process is set by the store's. */
const alignedEvery = Duration.seconds(10)

/** How long the connections of a process that tells nothing of itself count as there: three beats. agents-and-apps.md §16. */
const missingAfter = Duration.times(period, 3)

/** How long a process whose lock is free has to be silent to count as dead: it may only have lost the connection that holds the lock. */
const silentFor = Duration.times(period, 1.5)

/** How long a process counts as alive after it has told of itself. */
export const replicaAliveFor = Duration.seconds(15)

/** How long the row of a process that died is kept. */
const keptFor = Duration.minutes(30)

/** The methods of {@link Replicas}. */
export interface ReplicasService {
  /** This process. */
  readonly id: Uuid

  /** Since when a process has to have told of itself to count as there. */
  readonly aliveSince: Effect.Effect<Timestamp.Timestamp>

  /** The processes that have told of themselves lately, without this one. After the store was away, those from before count for a while. */
  readonly others: Effect.Effect<ReadonlyArray<Replica>>

  /** Sets the clock in force by the store's, if it is a `StoreClock`: before anything compares its time with that of other processes. */
  readonly align: Effect.Effect<void>

  /**
   * Processes that count as dead, each until it is told to be `missed`: they are silent and hold their locks no more, or are silent for long. Those that
   * ended by themselves are not among them, and after a jump of the store's clock none is until all have followed it.
   */
  readonly dead: Effect.Effect<ReadonlyArray<SilentReplica>>

  /**
   * Has a dead process, with the connections of agents that it had, count as missing at once. What it stored is kept: one that lives after all is back with
   * the next that it tells of itself.
   */
  readonly missed: (dead: SilentReplica) => Effect.Effect<void>

  /** Tells of this process until the scope closes, and keeps its clock with the store's. A store that is away is tried again. */
  readonly announce: Effect.Effect<void, never, Scope.Scope>

  /** The processes that are alive. Fails with `NotFound` unless the actor may read them. */
  readonly list: Effect.Effect<ReadonlyArray<Replica>, NotFound, CurrentActor>
}

const heartbeat = "replica_heartbeat"

const make = Effect.gen(function* () {
  const repository = yield* ReplicaRepository
  const locks = yield* Locks
  const ids = yield* Ids
  const hostname = yield* Hostname
  const { derpServerRegionId, derpServerRelayUrl } = yield* DeploymentOptions
  const localAddress = yield* LocalAddress
  const id = yield* ids.next
  const created_at = yield* Timestamp.now
  let database_latency = 0
  let beatAt = yield* Clock.currentTimeMillis
  /**
   * Until when processes that had told of themselves before the store was away are taken for alive: they may not have come back yet. A store that answers
   * slowly adds one with each beat, and none of them lasts longer for it.
   */
  let gaps: ReadonlyArray<{ readonly until: number; readonly before: number }> = []

  const beat = Effect.gen(function* () {
    const now = yield* Timestamp.now
    const begun = yield* Clock.currentTimeNanos
    yield* repository.put({
      id,
      hostname,
      created_at,
      relay_address: derpServerRelayUrl || localAddress,
      region_id: derpServerRegionId,
      error: "",
      database_latency,
      updated_at: now
    })
    database_latency = Number(((yield* Clock.currentTimeNanos) - begun) / 1000n)
    const ended = yield* Clock.currentTimeMillis
    // A store that answers late keeps the others from telling of themselves as well
    gaps = gaps.filter(({ until }) => ended < until)
    if (ended - beatAt > Duration.toMillis(silentFor)) gaps = [...gaps, { until: ended + Duration.toMillis(missingAfter), before: beatAt }]
    beatAt = Timestamp.toMillis(now)
    yield* repository.removeBefore(Timestamp.minus(now, keptFor))
  })

  const lock = replicaLock({ id, locks, comesBackWithin: missingAfter })

  let isAligned = false
  /** Until when others may not have followed a jump of the store's clock, in milliseconds since 1970: their silence says nothing. */
  let settledAt = Number.NEGATIVE_INFINITY

  const align = Effect.gen(function* () {
    const correction = yield* StoreClock.align(repository.time)
    // The first correction is the difference of this machine's clock
    if (isAligned && Math.abs(correction) >= Duration.toMillis(silentFor)) {
      settledAt = (yield* Clock.currentTimeMillis) + Duration.toMillis(Duration.sum(alignedEvery, missingAfter))
    }
    isAligned = true
  })

  /** The times to which this process has set back others, by their ids. */
  let setBackTo: ReadonlyMap<Uuid, Timestamp.Timestamp> = new Map()

  const aliveSince = Effect.map(Timestamp.now, (now) => {
    const at = Timestamp.toMillis(now)
    const isAway = at - beatAt > Duration.toMillis(silentFor)
    const since = Math.min(isAway ? beatAt : at, ...gaps.map(({ before, until }) => (at < until ? before : at)))
    return Timestamp.minus(Timestamp.fromMillis(since), missingAfter)
  })

  return {
    id,

    aliveSince,

    others: Effect.map(Effect.flatMap(aliveSince, repository.since), (known) => known.filter((replica) => replica.id !== id)),

    align,

    dead: Effect.gen(function* () {
      yield* align
      if ((yield* Clock.currentTimeMillis) < settledAt) return []
      const silent = yield* repository.silentSince(Timestamp.minus(yield* Timestamp.now, silentFor))
      setBackTo = new Map(
        [...setBackTo].filter(([other, time]) => silent.some((replica) => replica.id === other && replica.updated_at === time))
      )
      const since = yield* aliveSince
      const isDead = (replica: SilentReplica) => {
        if (replica.id === id || setBackTo.has(replica.id)) return Effect.succeed(false)
        return replica.updated_at < since ? Effect.succeed(true) : lock.isDead(replica.id)
      }
      return yield* Effect.filter(silent, isDead)
    }),

    missed: (dead: SilentReplica): Effect.Effect<void> =>
      Effect.gen(function* () {
        const gone = Timestamp.minus(yield* Timestamp.now, replicaAliveFor)
        const time = dead.updated_at < gone ? dead.updated_at : gone
        yield* repository.setBack(dead, time)
        setBackTo = new Map(setBackTo).set(dead.id, time)
      }),

    announce: Effect.gen(function* () {
      yield* align
      yield* Background.repeat("replica_lock", Effect.zipRight(lock.keep, Effect.sleep(period)))
      yield* Background.repeat("store_clock", Effect.delay(align, alignedEvery))
      // Others learn of this process when a full store has room again: reads need no heartbeat
      yield* unlessFull(beat)
      yield* Effect.addFinalizer(() => Background.lastly(repository.remove(id)))
      const beating = Background.repeat(heartbeat, Effect.zipRight(Worker.begun, Effect.zipRight(beat, Effect.sleep(period))))
      yield* startSigns(heartbeat, beat, beating)
    }) satisfies Effect.Effect<void, never, Scope.Scope>,

    list: Effect.gen(function* () {
      yield* Access.authorizeOrHide("read", AccessObjects.bare("replicas"))
      return yield* repository.since(Timestamp.minus(yield* Timestamp.now, replicaAliveFor))
    }) satisfies Effect.Effect<ReadonlyArray<Replica>, NotFound, CurrentActor>
  }
})

export class Replicas extends Context.Tag("@atelier/core/Replicas")<Replicas, ReplicasService>() {
  static readonly layer = service(Replicas, make)
}
