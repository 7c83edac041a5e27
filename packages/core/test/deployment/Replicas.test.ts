import { type Replica, ReplicaRepository, Replicas } from "@atelier/core/deployment"
import { Cryptography, Ids, Locks, StoreClock, Timestamp, Uuid } from "@atelier/core/platform"
import { expect, it } from "@effect/vitest"
import { Context, Deferred, Duration, Effect, Layer, Option, TestClock } from "effect"

/** A store that can be away, and the rows in it. */
const aStore = () => {
  const rows = new Map<Uuid.Uuid, Replica>()
  const store = { rows, isAway: false, answersAfter: Duration.zero }
  const asked = <A>(answer: () => A): Effect.Effect<A> => Effect.suspend(() => (store.isAway ? Effect.die("away") : Effect.sync(answer)))
  const repository = ReplicaRepository.of({
    time: Effect.succeedNone,
    put: (replica) =>
      Effect.delay(
        asked(() => void rows.set(replica.id, replica)),
        store.answersAfter
      ),
    remove: (id) => asked(() => void rows.delete(id)),
    removeBefore: () => Effect.void,
    silentSince: (time) => asked(() => [...rows.values()].filter(({ updated_at }) => updated_at < time)),
    setBack: ({ id, updated_at }, time) =>
      asked(() => {
        const row = rows.get(id)
        if (row?.updated_at === updated_at) rows.set(id, { ...row, updated_at: time })
      }),
    since: (time) => asked(() => [...rows.values()].filter(({ updated_at }) => updated_at >= time))
  })
  return { store, layer: Layer.succeed(ReplicaRepository, repository) }
}

it.scoped("counts processes as alive for six seconds after the store was away", () =>
  Effect.gen(function* () {
    const { layer, store } = aStore()
    const alone = Layer.mock(Locks, { tryWith: (_name, effect) => Effect.map(effect, Option.some) })
    const services = Layer.mergeAll(layer, alone, Ids.layer.pipe(Layer.provide(Cryptography.layerWeb)))
    const replicas = yield* Effect.provide(Replicas, Layer.provide(Replicas.layer, services))
    yield* replicas.announce
    const other = Uuid.Uuid.make("c0000000-0000-4000-8000-000000000001")
    const beat = Effect.map(Timestamp.now, (now) => {
      for (const row of [...store.rows.values()].slice(0, 1)) store.rows.set(other, { ...row, id: other, updated_at: now })
    })
    const ids = Effect.map(replicas.others, (others) => others.map(({ id }) => id))
    yield* beat
    yield* TestClock.adjust("4 seconds")
    expect(yield* ids).toStrictEqual([other])

    yield* beat
    store.isAway = true
    yield* TestClock.adjust("10 minutes")
    store.isAway = false
    expect(yield* ids).toStrictEqual([other])
    yield* TestClock.adjust("3 seconds")
    expect(yield* ids).toStrictEqual([other])
    yield* TestClock.adjust("6 seconds")
    expect(yield* ids).toStrictEqual([])
    yield* beat
    expect(yield* ids).toStrictEqual([other])
  })
)

it.scoped("takes no process for dead while a store that was away answers late", () =>
  Effect.gen(function* () {
    const { layer, store } = aStore()
    const held = Layer.mock(Locks, { tryWith: () => Effect.succeedNone })
    const services = Layer.mergeAll(layer, held, Ids.layer.pipe(Layer.provide(Cryptography.layerWeb)))
    const replicas = yield* Effect.provide(Replicas, Layer.provide(Replicas.layer, services))
    yield* replicas.announce
    const other = Uuid.Uuid.make("c0000000-0000-4000-8000-000000000001")
    yield* TestClock.adjust("10 seconds")
    const now = yield* Timestamp.now
    for (const row of [...store.rows.values()].slice(0, 1)) store.rows.set(other, { ...row, id: other, updated_at: now })
    const ids = Effect.map(replicas.dead, (dead) => dead.map(({ id }) => id))
    store.isAway = true
    yield* TestClock.adjust("14 seconds")
    store.isAway = false
    store.answersAfter = Duration.seconds(4)
    // Ten seconds hold the next attempt, and what it waits for
    for (let seconds = 0; seconds < 10; seconds++) {
      yield* TestClock.adjust("1 second")
      expect(yield* ids).toStrictEqual([])
    }
    store.answersAfter = Duration.zero
    yield* TestClock.adjust("20 seconds")
    expect(yield* ids).toStrictEqual([other])
  })
)

it.scoped("takes a silent process for dead while the store answers slowly all the time", () =>
  Effect.gen(function* () {
    const { layer, store } = aStore()
    const held = Layer.mock(Locks, { tryWith: () => Effect.succeedNone })
    const services = Layer.mergeAll(layer, held, Ids.layer.pipe(Layer.provide(Cryptography.layerWeb)))
    const replicas = yield* Effect.provide(Replicas, Layer.provide(Replicas.layer, services))
    yield* replicas.announce
    const other = Uuid.Uuid.make("c0000000-0000-4000-8000-000000000001")
    const now = yield* Timestamp.now
    for (const row of [...store.rows.values()].slice(0, 1)) store.rows.set(other, { ...row, id: other, updated_at: now })
    store.answersAfter = Duration.seconds(2)
    yield* TestClock.adjust("1 minute")
    expect(yield* replicas.others).toStrictEqual([])
    expect((yield* replicas.dead).map(({ id }) => id)).toStrictEqual([other])
  })
)

it.scoped("takes free locks for those of dead processes only while the store keeps its own", () =>
  Effect.gen(function* () {
    const { layer, store } = aStore()
    let lost = yield* Deferred.make<never>()
    const locks = Layer.mock(Locks, { tryWith: (_name, effect) => Effect.asSome(Effect.raceFirst(effect, Deferred.await(lost))) })
    const services = Layer.mergeAll(layer, locks, Ids.layer.pipe(Layer.provide(Cryptography.layerWeb)))
    const replicas = yield* Effect.provide(Replicas, Layer.provide(Replicas.layer, services))
    yield* replicas.announce
    const ids = Effect.map(replicas.dead, (dead) => dead.map(({ id }) => id))
    const silent = (id: string) =>
      Effect.map(Timestamp.now, (now) => {
        const other = Uuid.Uuid.make(id)
        for (const row of [...store.rows.values()].slice(0, 1))
          store.rows.set(other, { ...row, id: other, updated_at: Timestamp.minus(now, "4 seconds") })
        return other
      })
    yield* TestClock.adjust("10 seconds")
    const dead = yield* silent("c0000000-0000-4000-8000-000000000001")
    expect(yield* ids).toStrictEqual([dead])

    const former = lost
    lost = yield* Deferred.make<never>()
    yield* Deferred.die(former, "the store was restarted")
    yield* TestClock.adjust("1 second")
    const waiting = yield* silent("c0000000-0000-4000-8000-000000000002")
    expect(yield* ids).toStrictEqual([])
    yield* TestClock.adjust("7 seconds")
    expect(yield* ids).toContain(waiting)
  })
)

it.scoped("takes no process for dead while the processes follow a store whose clock was set back", () =>
  Effect.gen(function* () {
    const { layer, store } = aStore()
    const machine = yield* Effect.clock
    let setBack = 0
    const time = Effect.sync(() => Option.some(Timestamp.fromMillis(machine.unsafeCurrentTimeMillis() - setBack)))
    const following = Layer.map(layer, (context) =>
      Context.add(context, ReplicaRepository, { ...Context.get(context, ReplicaRepository), time })
    )
    const alone = Layer.mock(Locks, { tryWith: (_name, effect) => Effect.map(effect, Option.some) })
    const services = Layer.mergeAll(following, alone, Ids.layer.pipe(Layer.provide(Cryptography.layerWeb)))
    yield* TestClock.setTime(Duration.toMillis("1 day"))
    const clock = StoreClock.make(machine, { isOfHost: false })
    const replicas = yield* Effect.provide(Replicas, Layer.provide(Replicas.layer, services)).pipe(Effect.withClock(clock))
    yield* Effect.withClock(replicas.announce, clock)
    const ids = Effect.map(replicas.dead, (dead) => dead.map(({ id }) => id)).pipe(Effect.withClock(clock))
    yield* TestClock.adjust("10 seconds")
    const other = Uuid.Uuid.make("c0000000-0000-4000-8000-000000000001")
    const beat = Effect.gen(function* () {
      const now = Option.getOrThrow(yield* time)
      for (const row of [...store.rows.values()].slice(0, 1)) store.rows.set(other, { ...row, id: other, updated_at: now })
    })
    yield* beat
    expect(yield* ids).toStrictEqual([])

    setBack = Duration.toMillis("1 hour")
    yield* beat
    expect(yield* ids).toStrictEqual([])
    // Another process may follow ten seconds later, and tells of itself then
    yield* TestClock.adjust("12 seconds")
    expect(yield* ids).toStrictEqual([])
    yield* beat
    yield* TestClock.adjust("8 seconds")
    expect(yield* ids).toStrictEqual([other])
  })
)

it.scoped("has a process that was taken for dead back when it tells of itself", () =>
  Effect.gen(function* () {
    const { layer, store } = aStore()
    const alone = Layer.mock(Locks, { tryWith: (_name, effect) => Effect.map(effect, Option.some) })
    const services = Layer.mergeAll(layer, alone, Ids.layer.pipe(Layer.provide(Cryptography.layerWeb)))
    const replicas = yield* Effect.provide(Replicas, Layer.provide(Replicas.layer, services))
    yield* replicas.announce
    yield* TestClock.adjust("10 seconds")
    const other = Uuid.Uuid.make("c0000000-0000-4000-8000-000000000001")
    const [own] = store.rows.values()
    if (own === undefined) return expect.fail("The process has told nothing of itself")
    const told = (ago: Duration.DurationInput) =>
      Effect.map(Timestamp.now, (now) => store.rows.set(other, { ...own, id: other, updated_at: Timestamp.minus(now, ago) }))
    yield* told("4 seconds")
    const [dead] = yield* replicas.dead
    if (dead === undefined) return expect.fail("A silent process counts as alive")
    yield* replicas.missed(dead)
    expect(yield* replicas.others).toStrictEqual([])
    expect(yield* replicas.dead).toStrictEqual([])
    yield* told("0 seconds")
    expect((yield* replicas.others).map(({ id }) => id)).toStrictEqual([other])
    yield* replicas.missed(dead)
    expect((yield* replicas.others).map(({ id }) => id)).toStrictEqual([other])
    yield* told("4 seconds")
    expect((yield* replicas.dead).map(({ id }) => id)).toStrictEqual([other])
  })
)
