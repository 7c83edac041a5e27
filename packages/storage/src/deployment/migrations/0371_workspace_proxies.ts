import { ddl } from "../../platform/Schema.js"

/** Workspace proxies and their processes. agents-and-apps.md §21. */
export default ddl(
  `CREATE TABLE workspace_proxies (
    id :uuid PRIMARY KEY,
    created_at :timestamp NOT NULL,
    updated_at :timestamp NOT NULL,
    deleted :boolean NOT NULL,
    name TEXT NOT NULL,
    display_name TEXT NOT NULL,
    icon TEXT NOT NULL,
    url TEXT NOT NULL,
    wildcard_hostname TEXT NOT NULL,
    derp_enabled :boolean NOT NULL,
    derp_only :boolean NOT NULL,
    region_id INTEGER NOT NULL,
    version TEXT NOT NULL,
    token_hashed_secret :bytes NOT NULL
  )`,
  `CREATE UNIQUE INDEX workspace_proxies_name ON workspace_proxies (lower(name)) WHERE NOT deleted`,
  `CREATE UNIQUE INDEX workspace_proxies_region_id ON workspace_proxies (region_id)`,
  `CREATE TABLE workspace_proxy_replicas (
    id :uuid PRIMARY KEY,
    proxy_id :uuid NOT NULL REFERENCES workspace_proxies (id) ON DELETE CASCADE,
    created_at :timestamp NOT NULL,
    updated_at :timestamp NOT NULL,
    stopped_at :timestamp,
    hostname TEXT NOT NULL,
    relay_address TEXT NOT NULL,
    error TEXT NOT NULL
  )`,
  `CREATE INDEX workspace_proxy_replicas_proxy_id ON workspace_proxy_replicas (proxy_id, updated_at)`,
  `CREATE INDEX workspace_proxy_replicas_updated_at ON workspace_proxy_replicas (updated_at)`
)
