import { PeerRepository, type StoredPeer } from "@atelier/core/network"
import { Timestamp, Uuid, service } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import { insertAll } from "../platform/Batch.js"
import { columnList, json, nullable, row, timestamp, uuid } from "../platform/Row.js"
import { all, run } from "../platform/Statement.js"
import { Statements } from "../platform/Statements.js"

/** A node as JSON. What it contains is bytes. */
const StoredNode = Schema.Struct({
  addresses: Schema.Array(Schema.String),
  allowed_ips: Schema.Array(Schema.String),
  content: Schema.Uint8ArrayFromBase64
})

const writeNode = Schema.encodeSync(Schema.parseJson(StoredNode))

const columns = {
  id: uuid,
  replica_id: uuid,
  connected_at: timestamp,
  node: nullable(json(StoredNode)),
  tunnels: json(Schema.Array(Uuid.Uuid))
}

const stored = row(columns)

const peer = (from: object): StoredPeer => {
  const { connected_at, node, ...rest } = stored(from)
  return { ...rest, connectedAt: Timestamp.toMillis(connected_at), node: node ?? undefined }
}

export const layer = service(
  PeerRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const selected = sql.literal(columnList(columns))
    const later = (aliveSince: Timestamp.Timestamp) => sql`ON CONFLICT (id) DO UPDATE
      SET replica_id = excluded.replica_id, connected_at = excluded.connected_at, node = excluded.node, tunnels = excluded.tunnels
      WHERE network_peers.connected_at < excluded.connected_at
        OR (network_peers.connected_at = excluded.connected_at AND network_peers.replica_id <= excluded.replica_id)
        OR NOT EXISTS (SELECT 1 FROM replicas r WHERE r.id = network_peers.replica_id AND r.updated_at >= ${aliveSince})`
    return PeerRepository.of({
      put: (peers, aliveSince) =>
        run(
          insertAll(
            sql,
            "network_peers",
            peers.map(({ connectedAt, id, node, replica_id, tunnels }) => ({
              id,
              replica_id,
              connected_at: Timestamp.fromMillis(connectedAt),
              node: node === undefined ? null : writeNode(node),
              tunnels: JSON.stringify(tunnels)
            })),
            later(aliveSince)
          )
        ),
      remove: (replica, ids) => run(sql`DELETE FROM network_peers WHERE replica_id = ${replica} AND id IN ${sql.in(ids)}`),
      byIds: (ids) => all(peer, sql`SELECT ${selected} FROM network_peers WHERE id IN ${sql.in(ids)}`),
      all: all(peer, sql`SELECT ${selected} FROM network_peers`)
    })
  })
)
