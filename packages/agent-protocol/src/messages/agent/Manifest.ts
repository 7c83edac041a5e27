/** The settings that an agent receives when it connects. agents-and-apps.md §14. */
import { bool, bytes, field, map, optional, repeated, string, uint32, type InitOf, type TypeOf } from "../Protobuf.js"
import { DERPMap } from "../Tailnet.js"
import { agent } from "./agent.js"
import { WorkspaceApp } from "./Apps.js"
import { MetadataDescription } from "./Metadata.js"
import { WorkspaceAgentScript } from "./Scripts.js"

export const WorkspaceAgentDevcontainer = agent("WorkspaceAgentDevcontainer", {
  id: field(1, bytes),
  workspace_folder: field(2, string),
  config_path: field(3, string),
  name: field(4, string),
  subagent_id: optional(5, bytes)
})
export type WorkspaceAgentDevcontainer = TypeOf<typeof WorkspaceAgentDevcontainer>

export const WorkspaceSecret = agent("WorkspaceSecret", { env_name: field(1, string), file_path: field(2, string), value: field(3, bytes) })
export type WorkspaceSecret = TypeOf<typeof WorkspaceSecret>

export const GetManifestRequest = agent("GetManifestRequest", {})

export const Manifest = agent("Manifest", {
  agent_id: field(1, bytes),
  git_auth_configs: field(2, uint32),
  environment_variables: map(3, string, string),
  directory: field(4, string),
  vs_code_port_proxy_uri: field(5, string),
  motd_path: field(6, string),
  disable_direct_connections: field(7, bool),
  derp_force_websockets: field(8, bool),
  derp_map: field(9, DERPMap),
  scripts: repeated(10, WorkspaceAgentScript),
  apps: repeated(11, WorkspaceApp),
  metadata: repeated(12, MetadataDescription),
  owner_username: field(13, string),
  workspace_id: field(14, bytes),
  agent_name: field(15, string),
  workspace_name: field(16, string),
  devcontainers: repeated(17, WorkspaceAgentDevcontainer),
  parent_id: optional(18, bytes),
  secrets: repeated(19, WorkspaceSecret)
})
export type Manifest = TypeOf<typeof Manifest>
export type ManifestInit = InitOf<typeof Manifest>
