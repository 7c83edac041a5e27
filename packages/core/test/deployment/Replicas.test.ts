import { type Replica, ReplicaRepository, Replicas } from "@atelier/core/deployment"
import { Cryptography, Ids, Locks, StoreClock, Timestamp, Uuid } from "@atelier/core/platform"
import { expect, it } from "@effect/vitest"
import { type Clock, Context, Deferred, Duration, Effect, Layer, Option, TestClock } from "effect"

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

const other = Uuid.Uuid.make("c0000000-0000-4000-8000-000000000001")

const alone = Layer.mock(Locks, { tryWith: (_name, effect) => Effect.map(effect, Option.some) })
const held = Layer.mock(Locks, { tryWith: () => Effect.succeedNone })

/** A process that has told of itself in a store, on a clock, and which others it takes for dead and alive. */
const announced = (layer: Layer.Layer<ReplicaRepository>, locks: Layer.Layer<Locks>, clock?: Clock.Clock) =>
  Effect.gen(function* () {
    const onClock: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = (effect) =>
      clock === undefined ? effect : Effect.withClock(effect, clock)
    const services = Layer.mergeAll(layer, locks, Ids.layer.pipe(Layer.provide(Cryptography.layerWeb)))
    const replicas = yield* onClock(Effect.provide(Replicas, Layer.provide(Replicas.layer, services)))
    yield* onClock(replicas.announce)
    const idsOf = (rows: Effect.Effect<ReadonlyArray<Pick<Replica, "id">>>) => onClock(Effect.map(rows, (each) => each.map(({ id }) => id)))
    return { replicas, dead: idsOf(replicas.dead), alive: idsOf(replicas.others) }
  })

/** Has another process tell of itself as the first one did, at an instant. */
const beats = ({ rows }: { readonly rows: Map<Uuid.Uuid, Replica> }, at: Effect.Effect<Timestamp.Timestamp> = Timestamp.now, id = other) =>
  Effect.map(at, (updated_at) => {
    for (const row of [...rows.values()].slice(0, 1)) rows.set(id, { ...row, id, updated_at })
  })

const silent = Effect.map(Timestamp.now, (now) => Timestamp.minus(now, "4 seconds"))

it.scoped("counts processes as alive for six seconds after the store was away", () =>
  Effect.gen(function* () {
    const { layer, store } = aStore()
    const { alive } = yield* announced(layer, alone)
    const beat = beats(store)
    yield* beat
    yield* TestClock.adjust("4 seconds")
    expect(yield* alive).toStrictEqual([other])

    yield* beat
    store.isAway = true
    yield* TestClock.adjust("10 minutes")
    store.isAway = false
    expect(yield* alive).toStrictEqual([other])
    yield* TestClock.adjust("3 seconds")
    expect(yield* alive).toStrictEqual([other])
    yield* TestClock.adjust("6 seconds")
    expect(yield* alive).toStrictEqual([])
    yield* beat
    expect(yield* alive).toStrictEqual([other])
  })
)

it.scoped("takes no process for dead while a store that was away answers late", () =>
  Effect.gen(function* () {
    const { layer, store } = aStore()
    const { dead } = yield* announced(layer, held)
    yield* TestClock.adjust("10 seconds")
    yield* beats(store)
    store.isAway = true
    yield* TestClock.adjust("14 seconds")
    store.isAway = false
    store.answersAfter = Duration.seconds(4)
    // Ten seconds hold the next attempt, and what it waits for
    for (let seconds = 0; seconds < 10; seconds++) {
      yield* TestClock.adjust("1 second")
      expect(yield* dead).toStrictEqual([])
    }
    store.answersAfter = Duration.zero
    yield* TestClock.adjust("20 seconds")
    expect(yield* dead).toStrictEqual([other])
  })
)

it.scoped("takes a silent process for dead while the store answers slowly all the time", () =>
  Effect.gen(function* () {
    const { layer, store } = aStore()
    const { alive, dead } = yield* announced(layer, held)
    yield* beats(store)
    store.answersAfter = Duration.seconds(2)
    yield* TestClock.adjust("1 minute")
    expect(yield* alive).toStrictEqual([])
    expect(yield* dead).toStrictEqual([other])
  })
)

it.scoped("takes free locks for those of dead processes only while the store keeps its own", () =>
  Effect.gen(function* () {
    const { layer, store } = aStore()
    let lost = yield* Deferred.make<never>()
    const locks = Layer.mock(Locks, { tryWith: (_name, effect) => Effect.asSome(Effect.raceFirst(effect, Deferred.await(lost))) })
    const { dead } = yield* announced(layer, locks)
    yield* TestClock.adjust("10 seconds")
    yield* beats(store, silent)
    expect(yield* dead).toStrictEqual([other])

    const former = lost
    lost = yield* Deferred.make<never>()
    yield* Deferred.die(former, "the store was restarted")
    yield* TestClock.adjust("1 second")
    const waiting = Uuid.Uuid.make("c0000000-0000-4000-8000-000000000002")
    yield* beats(store, silent, waiting)
    expect(yield* dead).toStrictEqual([])
    yield* TestClock.adjust("7 seconds")
    expect(yield* dead).toContain(waiting)
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
    yield* TestClock.setTime(Duration.toMillis("1 day"))
    const clock = StoreClock.make(machine, { isOfHost: false })
    const { dead } = yield* announced(following, alone, clock)
    yield* TestClock.adjust("10 seconds")
    const beat = beats(store, Effect.map(time, Option.getOrThrow))
    yield* beat
    expect(yield* dead).toStrictEqual([])

    setBack = Duration.toMillis("1 hour")
    yield* beat
    expect(yield* dead).toStrictEqual([])
    // Another process may follow ten seconds later, and tells of itself then
    yield* TestClock.adjust("12 seconds")
    expect(yield* dead).toStrictEqual([])
    yield* beat
    yield* TestClock.adjust("8 seconds")
    expect(yield* dead).toStrictEqual([other])
  })
)

it.scoped("has a process that was taken for dead back when it tells of itself", () =>
  Effect.gen(function* () {
    const { layer, store } = aStore()
    const { alive, dead, replicas } = yield* announced(layer, alone)
    yield* TestClock.adjust("10 seconds")
    yield* beats(store, silent)
    const [row] = yield* replicas.dead
    if (row === undefined) return expect.fail("A silent process counts as alive")
    yield* replicas.missed(row)
    expect(yield* alive).toStrictEqual([])
    expect(yield* dead).toStrictEqual([])
    yield* beats(store)
    expect(yield* alive).toStrictEqual([other])
    yield* replicas.missed(row)
    expect(yield* alive).toStrictEqual([other])
    yield* beats(store, silent)
    expect(yield* dead).toStrictEqual([other])
  })
)
