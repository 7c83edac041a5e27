/** Has a process store its own peers, and tell the others which have changed. */
import { Effect } from "effect"
import type { Replicas } from "../deployment/Replicas.js"
import { publish } from "../platform/store/Transactor.js"
import type { PeerId } from "./Coordination.js"
import type { Coordinator, LocalChange } from "./Coordinator.js"
import { type Ending, peerNews } from "./PeerNews.js"
import type { PeerRepository, StoredPeer } from "./PeerRepository.js"

/** Changes in one event: the bus takes short texts. */
const batchSize = 50

/** Changes that wait to be told. Those of one peer count once, but for its readiness. */
const maximumReady = 4096

interface Needs {
  readonly coordinator: Coordinator["Type"]
  readonly repository: PeerRepository["Type"]
  readonly replicas: Replicas["Type"]
}

/** Returns how a change is noted, and what tells the next of those that were. */
export const tellPeers = ({ coordinator, replicas, repository }: Needs) =>
  Effect.gen(function* () {
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
        const ended: Array<readonly [PeerId, Ending]> = []
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

    return { note, tellNext }
  })
