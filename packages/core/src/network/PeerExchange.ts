/**
 * Has the processes of a deployment introduce their peers to each other. Each process stores its own peers, tells the others which have
 * changed, and plays theirs to its own coordinator: peers need not be connected to the same process. agents-and-apps.md §16.
 */
import { Effect, Mailbox, Schema, type Scope } from "effect"
import { Replicas } from "../deployment/Replicas.js"
import * as Background from "../platform/background/Background.js"
import { channel, type Delivery, EventBus, listen } from "../platform/events/EventBus.js"
import { publish } from "../platform/store/Transactor.js"
import { Uuid } from "../platform/texts/Uuid.js"
import * as Worker from "../platform/background/Worker.js"
import type { PeerId } from "./Coordination.js"
import { Coordinator, type LocalChange } from "./Coordinator.js"
import { PeerRepository, type StoredPeer } from "./PeerRepository.js"

const Ending = Schema.Literal("Disconnected", "Lost")

/** What has happened to the peers of one process. Those that have changed are read from the store. */
const PeerNews = Schema.Struct({
  replica_id: Uuid,
  changed: Schema.Array(Uuid),
  ended: Schema.Array(Schema.Tuple(Uuid, Ending)),
  ready: Schema.Array(Schema.Tuple(Uuid, Uuid))
})
interface PeerNews extends Schema.Schema.Type<typeof PeerNews> {}

const peerNews = channel("network_peers", PeerNews)

/** Changes in one event: the bus takes short texts. */
const batchSize = 50

/** Changes that wait to be told. Those of one peer count once, but for its readiness. */
const maximumReady = 4096

/** Events that wait to be read; when more come, all peers are read. */
const maximumWaiting = 1024

/** How often the processes that are alive are looked at, and after how many such looks all peers are read in any case. */
const lookEvery = "2 seconds"
const looksPerRead = 15

type Incoming = Delivery<PeerNews> | { readonly _tag: "Look" }

/** Runs until the scope closes. A process that has its store for itself has nothing to exchange. */
export const exchangePeers: Effect.Effect<void, never, Coordinator | EventBus | PeerRepository | Replicas | Scope.Scope> = Effect.gen(
  function* () {
    const bus = yield* EventBus
    if (!bus.isShared) return
    const coordinator = yield* Coordinator
    const repository = yield* PeerRepository
    const replicas = yield* Replicas

    let changes = new Map<PeerId, LocalChange>()
    let ready: Array<readonly [PeerId, PeerId]> = []
    const hasChanges = yield* Effect.makeLatch(false)
    const note = (change: LocalChange): void => {
      if (change._tag !== "Ready") changes.set(change.id, change)
      else if (ready.length < maximumReady) ready.push([change.id, change.to])
      hasChanges.unsafeOpen()
    }

    const tell = (batch: ReadonlyArray<LocalChange>, readyNow: ReadonlyArray<readonly [PeerId, PeerId]>) =>
      Effect.gen(function* () {
        const present: Array<StoredPeer> = []
        const ended: Array<readonly [PeerId, typeof Ending.Type]> = []
        for (const change of batch) {
          const peer = coordinator.ownPeer(change.id)
          if (peer !== undefined) present.push({ ...peer, replica_id: replicas.id })
          else if (change._tag === "Disconnected" || change._tag === "Lost") ended.push([change.id, change._tag])
        }
        if (present.length > 0) yield* repository.put(present, yield* replicas.aliveSince)
        const gone = ended.map(([id]) => id)
        if (gone.length > 0) yield* repository.remove(replicas.id, gone)
        yield* publish(peerNews, { replica_id: replicas.id, changed: present.map(({ id }) => id), ended, ready: readyNow })
      })

    const tellNext = Effect.gen(function* () {
      yield* hasChanges.await
      const batch = [...changes.values()].slice(0, batchSize)
      const readyNow = ready.slice(0, batchSize)
      for (const { id } of batch) changes.delete(id)
      ready = ready.slice(batchSize)
      if (changes.size === 0 && ready.length === 0) yield* hasChanges.close
      yield* Effect.tapErrorCause(tell(batch, readyNow), () =>
        Effect.gen(function* () {
          // Later events are newer
          changes = new Map([...batch.map((change) => [change.id, change] as const), ...changes])
          ready = [...readyNow, ...ready].slice(0, maximumReady)
          yield* hasChanges.open
        })
      )
    })

    /** The processes of peers that are connected elsewhere. */
    const elsewhere = new Map<PeerId, Uuid>()

    const meet = (peer: StoredPeer): void => {
      if (peer.replica_id === replicas.id) return
      if (coordinator.meet(peer, replicas.id > peer.replica_id)) elsewhere.set(peer.id, peer.replica_id)
      else note({ _tag: "Changed", id: peer.id })
    }

    const part = (id: PeerId, kind: typeof Ending.Type): void => {
      elsewhere.delete(id)
      coordinator.part(id, kind)
    }

    let alive: ReadonlySet<Uuid> = new Set()
    let looks = 0

    const readAll = Effect.gen(function* () {
      const all = yield* repository.all
      // A process that was held for long has lost its rows with its own
      const mine = new Set(all.filter(({ replica_id }) => replica_id === replicas.id).map(({ id }) => id))
      for (const { id } of coordinator.own()) if (!mine.has(id)) note({ _tag: "Changed", id })
      const stored = all.filter(({ replica_id }) => alive.has(replica_id))
      const present = new Set(stored.map(({ id }) => id))
      for (const id of elsewhere.keys()) if (!present.has(id)) part(id, "Lost")
      for (const peer of stored) meet(peer)
    })

    const look = Effect.gen(function* () {
      const now = new Set((yield* replicas.others).map(({ id }) => id))
      const isSame = now.size === alive.size && [...now].every((id) => alive.has(id))
      alive = now
      looks = isSame && looks < looksPerRead ? looks + 1 : 0
      if (looks === 0) yield* readAll
    })

    const hear = ({ changed, ended, ready: readyElsewhere, replica_id }: PeerNews) =>
      Effect.gen(function* () {
        if (replica_id === replicas.id) return
        // A row may be of a process that has died; the one that tells of it is alive
        const isAlive = (peer: StoredPeer) => peer.replica_id === replica_id || alive.has(peer.replica_id)
        if (changed.length > 0) for (const peer of (yield* repository.byIds(changed)).filter(isAlive)) meet(peer)
        for (const [id, kind] of ended) if (elsewhere.get(id) === replica_id) part(id, kind)
        for (const [id, to] of readyElsewhere) coordinator.pass(id, to)
      })

    const incoming = yield* Mailbox.make<Incoming>({ capacity: maximumWaiting, strategy: "dropping" })
    let hasMissed = false
    yield* listen(peerNews, (delivery) => {
      if (!incoming.unsafeOffer(delivery)) hasMissed = true
    })
    const handleNext = Effect.gen(function* () {
      const message = yield* Effect.orDie(incoming.take)
      if (message._tag === "Event") yield* hear(message.event)
      if (message._tag === "Look") yield* look
      if (message._tag === "Lost" || hasMissed) {
        hasMissed = false
        yield* readAll
      }
    }).pipe(
      Effect.tapErrorCause(() =>
        Effect.sync(() => {
          hasMissed = true
        })
      )
    )

    coordinator.onChange(note)
    for (const { id } of coordinator.own()) note({ _tag: "Changed", id })
    yield* Background.repeat("telling_of_peers", tellNext)
    yield* Background.repeat("hearing_of_peers", handleNext)
    const askToLook = Effect.zipRight(incoming.offer({ _tag: "Look" }), Effect.sleep(lookEvery))
    yield* Background.repeat("looking_for_peers", Effect.zipRight(Worker.begun, askToLook))
  }
)
