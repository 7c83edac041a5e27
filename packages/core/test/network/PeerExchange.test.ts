import { it } from "@effect/vitest"
import { Replicas } from "@atelier/core/deployment"
import {
  type Coordination,
  Coordinator,
  exchangePeers,
  PeerRepository,
  type PeerPolicy,
  type PeerState,
  type StoredPeer
} from "@atelier/core/network"
import { EventBus, Events, Timestamp, Uuid } from "@atelier/core/platform"
import { Context, Effect, Exit, FastCheck as fc, Layer, Scope, Stream, TestClock } from "effect"
import { expect } from "vitest"

const idOf = (kind: string, index: number) => Uuid.Uuid.make(`${kind}0000000-0000-4000-8000-00000000000${index}`)
const nodeOf = (content: number): Coordination.PeerNode => ({ addresses: [], allowed_ips: [], content: Uint8Array.of(content) })
const everything: PeerPolicy = { refuseNode: () => undefined, openTunnel: () => Effect.succeed(undefined), mayBeReady: true }
const nothing = { disconnects: false, readyFor: [] } as const

/** A store that several processes share. */
const aStore = Effect.gen(function* () {
  const router = yield* Events.makeRouter
  const bus = EventBus.of({
    isShared: true,
    publish: (channel, message) => Effect.sync(() => router.deliver(channel, message)),
    listen: router.listen
  })
  const peers = new Map<Uuid.Uuid, StoredPeer>()
  const repository = PeerRepository.of({
    put: (some) =>
      Effect.sync(() => {
        for (const peer of some) if ((peers.get(peer.id)?.connectedAt ?? 0) <= peer.connectedAt) peers.set(peer.id, peer)
      }),
    remove: (replica, ids) =>
      Effect.sync(() => {
        for (const id of ids) if (peers.get(id)?.replica_id === replica) peers.delete(id)
      }),
    byIds: (ids) => Effect.sync(() => ids.flatMap((id) => peers.get(id) ?? [])),
    all: Effect.sync(() => [...peers.values()])
  })
  return { bus, forget: (id: Uuid.Uuid) => void peers.delete(id), lose: router.lost, repository, alive: new Set<Uuid.Uuid>() }
})

/** One of the processes of a deployment. `kill` ends it without a word. */
const aProcess = (index: number, { alive, bus, repository }: Effect.Effect.Success<typeof aStore>) =>
  Effect.gen(function* () {
    const id = idOf("c", index)
    const scope = yield* Scope.make()
    const coordinator = Context.get(yield* Layer.build(Coordinator.layer), Coordinator)
    const replicas = Replicas.of({
      id,
      aliveSince: Timestamp.now,
      others: Effect.sync(() =>
        [...alive]
          .filter((other) => other !== id)
          .map((other) => ({
            id: other,
            hostname: "",
            created_at: "" as never,
            relay_address: "",
            region_id: 0,
            error: "",
            database_latency: 0,
            updated_at: "" as never
          }))
      ),
      align: Effect.void,
      dead: Effect.succeed([]),
      missed: () => Effect.void,
      announce: Effect.void,
      list: Effect.succeed([])
    })
    alive.add(id)
    yield* exchangePeers.pipe(
      Effect.provide(
        Context.empty().pipe(
          Context.add(Coordinator, coordinator),
          Context.add(EventBus, bus),
          Context.add(PeerRepository, repository),
          Context.add(Replicas, replicas)
        )
      ),
      Scope.extend(scope)
    )
    const kill = Effect.zipRight(
      Effect.sync(() => alive.delete(id)),
      Scope.close(scope, Exit.void)
    )
    return { coordinator, kill }
  }).pipe(Effect.scoped)

/** A peer, with what it has been told of others. */
const aPeer = (coordinator: Coordinator["Type"], id: Uuid.Uuid) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const known = new Map<Uuid.Uuid, number>()
    const said: Array<string> = []
    const connection = yield* Scope.extend(coordinator.connect(id, everything), scope)
    yield* Effect.forkIn(
      Stream.runForEach(connection.messages, ({ error, updates }) =>
        Effect.sync(() => {
          if (error !== undefined) said.push(error)
          for (const update of updates) {
            if (update.kind === "NODE") known.set(update.id, update.node.content[0] ?? 0)
            else if (update.kind === "READY_FOR_HANDSHAKE") said.push(`ready ${update.id}`)
            else {
              known.delete(update.id)
              said.push(update.kind)
            }
          }
        })
      ),
      scope
    )
    return { ...connection, known, said, close: Scope.close(scope, Exit.void) }
  })

const settle = TestClock.adjust("3 seconds")

it.scoped("tells again of peers whose rows are gone from the store", () =>
  Effect.gen(function* () {
    const store = yield* aStore
    const { coordinator } = yield* aProcess(1, store)
    const peer = yield* aPeer(coordinator, idOf("a", 1))
    yield* settle
    store.forget(idOf("a", 1))
    yield* TestClock.adjust("35 seconds")
    expect((yield* store.repository.all).map(({ id }) => id)).toStrictEqual([idOf("a", 1)])
    yield* peer.close
  })
)

it.scoped("introduces peers of two processes, and tells of changes, readiness and loss", () =>
  Effect.gen(function* () {
    const store = yield* aStore
    const [one, two] = [yield* aProcess(1, store), yield* aProcess(2, store)]
    const [agentId, clientId] = [idOf("a", 1), idOf("b", 1)]
    const agent = yield* aPeer(one.coordinator, agentId)
    yield* agent.handle({ ...nothing, node: nodeOf(1) })
    const client = yield* aPeer(two.coordinator, clientId)
    yield* client.handle({ ...nothing, node: nodeOf(2), addTunnel: agentId })
    yield* TestClock.adjust("1 second")
    expect([...client.known]).toStrictEqual([[agentId, 1]])
    expect([...agent.known]).toStrictEqual([[clientId, 2]])

    yield* agent.handle({ ...nothing, node: nodeOf(3), readyFor: [clientId] })
    yield* TestClock.adjust("1 second")
    expect([...client.known]).toStrictEqual([[agentId, 3]])
    expect(client.said).toStrictEqual([`ready ${agentId}`])

    yield* client.handle({ ...nothing, removeTunnel: agentId })
    yield* TestClock.adjust("1 second")
    expect(agent.said).toStrictEqual(["DISCONNECTED"])
    yield* client.handle({ ...nothing, addTunnel: agentId })
    yield* TestClock.adjust("1 second")
    yield* one.kill
    yield* TestClock.adjust("10 seconds")
    expect(client.said).toStrictEqual([`ready ${agentId}`, "DISCONNECTED", "LOST"])
    expect(client.known.size).toBe(0)

    const back = yield* aPeer(two.coordinator, agentId)
    yield* back.handle({ ...nothing, node: nodeOf(4) })
    yield* TestClock.adjust("1 second")
    expect([...client.known]).toStrictEqual([[agentId, 4]])
    expect([...back.known]).toStrictEqual([[clientId, 2]])
    yield* two.kill
  })
)

it.scoped("ends a peer's connection when the peer comes to another process", () =>
  Effect.gen(function* () {
    const store = yield* aStore
    const [one, two] = [yield* aProcess(1, store), yield* aProcess(2, store)]
    const id = idOf("a", 1)
    const former = yield* aPeer(one.coordinator, id)
    yield* former.handle({ ...nothing, node: nodeOf(1) })
    yield* TestClock.adjust("1 second")
    const current = yield* aPeer(two.coordinator, id)
    yield* TestClock.adjust("1 second")
    expect(former.said).toStrictEqual(["peer ID overwritten by new connection"])
    expect(yield* former.handle(nothing)).toBe(false)
    yield* former.close
    yield* TestClock.adjust("1 second")
    expect(current.said).toStrictEqual([])
    expect(one.coordinator.own()).toStrictEqual([])
    expect(yield* current.handle(nothing)).toBe(true)
    for (const { kill } of [one, two]) yield* kill
  })
)

type Kind = "connect" | "leave" | "node" | "tunnel" | "untunnel" | "lose events" | "wait"

/** All peers, each in a process of its own. */
const connected = [0, 1, 2].map((index) => ["connect", index, index] as const)

/** What happens, to which peer, and with which other one or in which process. */
const action = fc.tuple(
  fc.constantFrom<Kind>("connect", "leave", "node", "tunnel", "untunnel", "lose events", "wait"),
  fc.nat({ max: 2 }),
  fc.nat({ max: 2 })
)

it.effect.prop(
  "leaves each peer with the latest nodes of those with whom it shares a tunnel, and of no other",
  [fc.array(action, { minLength: 20, maxLength: 60 })],
  ([actions]) =>
    Effect.gen(function* () {
      const store = yield* aStore
      const processes = [yield* aProcess(0, store), yield* aProcess(1, store), yield* aProcess(2, store)]
      const peers = new Map<number, Effect.Effect.Success<ReturnType<typeof aPeer>>>()
      let content = 0
      for (const [kind, index, other] of [...connected, ...actions]) {
        const id = idOf("a", index)
        const peer = peers.get(index)
        if (kind === "connect") {
          const home = processes[other % processes.length]
          // Of two connections of a peer the later one counts, by the clock
          yield* TestClock.adjust("10 millis")
          if (home !== undefined) peers.set(index, yield* aPeer(home.coordinator, id))
        } else if (kind === "wait") yield* Effect.repeatN(Effect.yieldNow(), 200)
        else if (kind === "lose events") store.lose()
        else if (peer === undefined) continue
        else if (kind === "leave") {
          yield* peer.close
          peers.delete(index)
        } else if (kind === "node") yield* peer.handle({ ...nothing, node: nodeOf(++content) })
        else yield* peer.handle({ ...nothing, [kind === "tunnel" ? "addTunnel" : "removeTunnel"]: idOf("a", other) })
      }
      yield* settle
      const current = new Map<Uuid.Uuid, PeerState>(
        processes.flatMap(({ coordinator }) => coordinator.own().map((peer) => [peer.id, peer]))
      )
      expect([...current.keys()].toSorted()).toStrictEqual([...peers.keys()].map((index) => idOf("a", index)).toSorted())
      for (const [index, { known }] of peers) {
        const id = idOf("a", index)
        const expected = [...current.values()].filter(
          ({ id: two, node, tunnels }) => node !== undefined && (tunnels.includes(id) || current.get(id)?.tunnels.includes(two) === true)
        )
        expect([...known].toSorted()).toStrictEqual(expected.map(({ id: two, node }) => [two, node?.content[0]]).toSorted())
      }
      for (const { kill } of processes) yield* kill
    }),
  { fastCheck: { numRuns: 20 } }
)
