import { ReplicaRepository } from "@atelier/core/deployment"
import { AgentLinkRepository, AgentLinks, AgentUnreachable } from "@atelier/core/network"
import { Cryptography, Ids, Locks, Uuid } from "@atelier/core/platform"
import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope, TestClock } from "effect"

const agent = Uuid.Uuid.make("a0000000-0000-4000-8000-000000000001")
const deleted = Uuid.Uuid.make("a0000000-0000-4000-8000-000000000002")
const another = Uuid.Uuid.make("a0000000-0000-4000-8000-000000000003")

interface Store {
  readonly told: Set<Uuid.Uuid>
  isAway: boolean
  /** Agents that have no row: a link to one fails its statement. */
  readonly gone: Set<Uuid.Uuid>
  /** Run before it notes links, and before it removes one. */
  answer: Effect.Effect<void>
  answerOfRemoval: Effect.Effect<void>
}

/** A store of links that can be away, or not answer. */
const aStore = () => {
  const told = new Set<Uuid.Uuid>()
  const store: Store = { told, isAway: false, gone: new Set(), answer: Effect.void, answerOfRemoval: Effect.void }
  const unlessAway = (change: () => void) => Effect.suspend(() => (store.isAway ? Effect.die("away") : Effect.sync(change)))
  const layer = Layer.succeed(AgentLinkRepository, {
    put: (links) =>
      Effect.zipRight(
        Effect.suspend(() => store.answer),
        Effect.suspend(() =>
          links.some(({ agent_id }) => store.gone.has(agent_id))
            ? Effect.die("no such agent")
            : unlessAway(() => links.forEach(({ agent_id }) => told.add(agent_id)))
        )
      ),
    remove: (id) =>
      Effect.zipRight(
        Effect.suspend(() => store.answerOfRemoval),
        unlessAway(() => void told.delete(id))
      ),
    holders: () => Effect.succeed([])
  })
  return { store, layer }
}

const links = (repository: Layer.Layer<AgentLinkRepository>) =>
  Effect.map(
    Layer.build(
      AgentLinks.layer.pipe(
        Layer.provide(repository),
        Layer.provide(Layer.mock(ReplicaRepository, {})),
        Layer.provide(Layer.mock(Locks, {})),
        Layer.provide(Ids.layer.pipe(Layer.provide(Cryptography.layerWeb)))
      )
    ),
    (context) => Effect.provide(AgentLinks, context)
  ).pipe(Effect.flatten)

/** The links of a process on such a store, and the scope of an agent's connection. */
const aConnection = Effect.gen(function* () {
  const { layer, store } = aStore()
  const { offer } = yield* links(layer)
  return { store, offer, connection: yield* Scope.make() }
})

const link = { open: () => new AgentUnreachable({ message: "It opens nothing." }) }

it.scoped("tells of an agent soon after a store that was away when the agent connected", () =>
  Effect.gen(function* () {
    const { connection, offer, store } = yield* aConnection
    store.isAway = true
    yield* Scope.extend(offer(agent, link), connection)
    yield* TestClock.adjust("20 seconds")
    store.isAway = false
    yield* TestClock.adjust("10 seconds")
    expect([...store.told]).toStrictEqual([agent])
    yield* Scope.close(connection, Exit.void)
    expect(store.told.size).toBe(0)
  })
)

it.scoped("tells no more of an agent that has left before it was told of", () =>
  Effect.gen(function* () {
    const { connection, offer, store } = yield* aConnection
    store.isAway = true
    yield* Scope.extend(offer(agent, link), connection)
    yield* Scope.close(connection, Exit.void)
    store.isAway = false
    yield* TestClock.adjust("10 minutes")
    expect(store.told.size).toBe(0)
  })
)

it.scoped("has the end of a connection not wait for a store that does not answer, and forgets what that stores late", () =>
  Effect.gen(function* () {
    const { connection, offer, store } = yield* aConnection
    const asked = yield* Deferred.make<void>()
    const answers = yield* Deferred.make<void>()
    store.answer = Effect.zipRight(Deferred.succeed(asked, undefined), Deferred.await(answers))
    const offering = yield* Effect.forkIn(Scope.extend(offer(agent, link), connection), connection)
    yield* Deferred.await(asked)
    yield* Scope.close(connection, Exit.void)
    expect(yield* Fiber.await(offering)).toSatisfy(Exit.isInterrupted)
    yield* Deferred.succeed(answers, undefined)
    yield* TestClock.adjust("1 second")
    expect(store.told.size).toBe(0)
  })
)

it.scoped("tells of an agent that came back while its former link was removed", () =>
  Effect.gen(function* () {
    const { connection: former, offer, store } = yield* aConnection
    yield* Scope.extend(offer(agent, link), former)
    const answers = yield* Deferred.make<void>()
    store.answerOfRemoval = Deferred.await(answers)
    const closing = yield* Effect.fork(Scope.close(former, Exit.void))
    yield* Effect.yieldNow()
    yield* Scope.extend(offer(agent, link), yield* Scope.make())
    yield* Deferred.succeed(answers, undefined)
    yield* Fiber.join(closing)
    yield* TestClock.adjust("10 seconds")
    expect([...store.told]).toStrictEqual([agent])
  })
)

it.scoped("has the end of a link wait no longer than a second, and forgets it once the store is back", () =>
  Effect.gen(function* () {
    const { connection, offer, store } = yield* aConnection
    yield* Scope.extend(offer(agent, link), connection)
    const answers = yield* Deferred.make<void>()
    store.answerOfRemoval = Deferred.await(answers)
    const closing = yield* Effect.fork(Scope.close(connection, Exit.void))
    yield* TestClock.adjust("2 seconds")
    yield* Fiber.join(closing)
    store.isAway = true
    yield* Deferred.succeed(answers, undefined)
    yield* TestClock.adjust("20 seconds")
    expect([...store.told]).toStrictEqual([agent])
    store.isAway = false
    yield* TestClock.adjust("10 seconds")
    expect(store.told.size).toBe(0)
  })
)

it.scoped("tells of the other agents of a batch where one is deleted, and of that one no more once it has left", () =>
  Effect.gen(function* () {
    const { connection, offer, store } = yield* aConnection
    const connectionOfDeleted = yield* Scope.make()
    store.isAway = true
    yield* Scope.extend(offer(agent, link), connection)
    yield* Scope.extend(offer(deleted, link), connectionOfDeleted)
    yield* Scope.extend(offer(another, link), connection)
    store.gone.add(deleted)
    store.isAway = false
    yield* TestClock.adjust("10 seconds")
    expect(store.told).toStrictEqual(new Set([agent, another]))
    store.told.clear()
    yield* TestClock.adjust("5 minutes")
    expect(store.told).toStrictEqual(new Set([agent, another]))
    yield* Scope.close(connectionOfDeleted, Exit.void)
    store.gone.clear()
    yield* TestClock.adjust("5 minutes")
    expect(store.told).toStrictEqual(new Set([agent, another]))
  })
)
