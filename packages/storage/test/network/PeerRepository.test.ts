import { it } from "@effect/vitest"
import { ReplicaRepository } from "@atelier/core/deployment"
import { PeerRepository, type StoredPeer } from "@atelier/core/network"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Effect } from "effect"
import { describe, expect } from "vitest"
import { databases } from "../../../../test/store/databases.js"

const idOf = (kind: string) => Uuid.Uuid.make(`${kind}0000000-0000-4000-8000-000000000001`)
const [one, two] = [idOf("c"), idOf("d")]

const aPeer = (peer: Partial<StoredPeer>): StoredPeer => ({
  id: idOf("a"),
  replica_id: one,
  connectedAt: 1_700_000_000_123,
  node: { addresses: ["fd7a::1/128"], allowed_ips: [], content: Uint8Array.of(0, 200, 255) },
  tunnels: [idOf("b")],
  ...peer
})

/** A process that is alive at a time, and has no peers of an earlier run. */
const aReplica = (id: Uuid.Uuid, now: Timestamp.Timestamp) =>
  Effect.flatMap(ReplicaRepository, ({ put, remove }) =>
    Effect.zipRight(
      remove(id),
      put({ id, hostname: "", created_at: now, relay_address: "", region_id: 1, error: "", database_latency: 0, updated_at: now })
    )
  )

describe.each(databases)("the peers of processes on %s", (_, database) => {
  it.layer(database)((test) => {
    test.effect("replace earlier connections, not later ones", () =>
      Effect.gen(function* () {
        const { all, byIds, put, remove } = yield* PeerRepository
        const now = yield* Timestamp.now
        for (const id of [one, two]) yield* aReplica(id, now)
        const [first, other] = [aPeer({}), aPeer({ id: idOf("b"), node: undefined, tunnels: [] })]
        yield* put([first, other], now)
        expect(yield* byIds([first.id, other.id, idOf("e")])).toStrictEqual(expect.arrayContaining([first, other]))
        expect(yield* all).toHaveLength(2)

        const equal = aPeer({ replica_id: two })
        yield* put([equal], now)
        yield* put([first], now)
        expect(yield* byIds([first.id])).toStrictEqual([equal])
        const later = aPeer({ replica_id: two, connectedAt: first.connectedAt + 1, tunnels: [] })
        yield* put([later], now)
        yield* put([first], now)
        expect(yield* byIds([first.id])).toStrictEqual([later])
        // The process that the peer was connected to has died, and its clock was ahead
        yield* put([first], Timestamp.plus(now, "1 second"))
        expect(yield* byIds([first.id])).toStrictEqual([first])
        yield* put([later], now)
        yield* remove(one, [first.id, other.id])
        expect(yield* all).toStrictEqual([later])
        yield* Effect.flatMap(ReplicaRepository, (replicas) => replicas.remove(two))
        expect(yield* byIds([first.id])).toStrictEqual([])
      })
    )
  })
})
