import { ddl } from "../../platform/Schema.js"

/** The peers that are connected to each process. They go with it. agents-and-apps.md §16. */
export default ddl(
  `CREATE TABLE network_peers (
    id :uuid PRIMARY KEY,
    replica_id :uuid NOT NULL REFERENCES replicas (id) ON DELETE CASCADE,
    connected_at :timestamp NOT NULL,
    node TEXT,
    tunnels TEXT NOT NULL
  )`,
  `CREATE INDEX network_peers_replica_id ON network_peers (replica_id)`
)
