import { type Replica, ReplicaRepository, Replicas } from "@atelier/core/deployment"
import { Cryptography, Ids, Locks, Timestamp, Uuid } from "@atelier/core/platform"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Option, TestClock } from "effect"

/** A store that can be away, and the rows in it. */
const aStore = () => {
  const rows = new Map<Uuid.Uuid, Replica>()
  const store = { rows, isAway: false }
  const asked = <A>(answer: () => A): Effect.Effect<A> => Effect.suspend(() => (store.isAway ? Effect.die("away") : Effect.sync(answer)))
  const repository = ReplicaRepository.of({
    time: Effect.succeedNone,
    put: (replica) => asked(() => void rows.set(replica.id, replica)),
    remove: (id) => asked(() => void rows.delete(id)),
    removeBefore: () => Effect.void,
    silentSince: () => Effect.succeed([]),
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
