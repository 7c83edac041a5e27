import { indexes } from "../../platform/Indexes.js"

/** Indexes that find the agents that are connected, and those that never were, without reading all others. */
export default indexes({
  workspace_agents_seen: {
    postgres: "workspace_agents (seen_in) WHERE NOT deleted AND seen_in IS NOT NULL",
    sqlite: "workspace_agents (last_connected_at) WHERE NOT deleted AND last_connected_at IS NOT NULL"
  },
  workspace_agents_never_connected: "workspace_agents (resource_id) WHERE NOT deleted AND first_connected_at IS NULL"
})
