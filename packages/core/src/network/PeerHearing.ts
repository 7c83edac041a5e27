/** Plays the peers of other processes to the coordinator of this one. */
import { Effect } from "effect"
import type { Replicas } from "../deployment/Replicas.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { PeerId } from "./Coordination.js"
import type { Coordinator, LocalChange } from "./Coordinator.js"
import type { Ending, PeerNews } from "./PeerNews.js"
import type { PeerRepository, StoredPeer } from "./PeerRepository.js"

/** After how many looks at the processes that are alive all peers are read in any case. */
const looksPerRead = 15

interface Needs {
  readonly coordinator: Coordinator["Type"]
  readonly repository: PeerRepository["Type"]
  readonly replicas: Replicas["Type"]
  /** Notes a change of an own peer, which the others are told. */
  readonly note: (change: LocalChange) => void
}

/** Returns what takes in news, looks for processes that have come or gone, and reads all peers. */
export const hearPeers = ({ coordinator, note, replicas, repository }: Needs) => {
  /** The processes of peers that are connected elsewhere. */
  const elsewhere = new Map<PeerId, Uuid>()

  const meet = (peer: StoredPeer): void => {
    if (peer.replica_id === replicas.id) return
    if (coordinator.meet(peer, replicas.id > peer.replica_id)) elsewhere.set(peer.id, peer.replica_id)
    else note({ _tag: "Changed", id: peer.id })
  }

  const part = (id: PeerId, kind: Ending): void => {
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

  return { hear, look, readAll }
}
