/** What a running agent tells of its machine: ports that programs listen on, and containers. agents-and-apps.md §11. */
import { Schema } from "effect"
import * as Timestamp from "../../platform/time/Timestamp.js"
import * as Uuid from "../../platform/texts/Uuid.js"

export const ListeningPort = Schema.Struct({ process_name: Schema.String, network: Schema.String, port: Schema.Int })
export type ListeningPort = typeof ListeningPort.Type

const ContainerPort = Schema.Struct({
  port: Schema.Int,
  network: Schema.String,
  host_ip: Schema.optional(Schema.String),
  host_port: Schema.optional(Schema.Int)
}).annotations({ identifier: "WorkspaceAgentContainerPort" })

const texts = Schema.Record({ key: Schema.String, value: Schema.String })

export const AgentContainer = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  image: Schema.String,
  created_at: Timestamp.Timestamp,
  labels: texts,
  running: Schema.Boolean,
  status: Schema.String,
  ports: Schema.Array(ContainerPort),
  volumes: texts
}).annotations({ identifier: "WorkspaceAgentContainer" })

export const AgentDevcontainer = Schema.Struct({
  id: Uuid.Uuid,
  name: Schema.String,
  workspace_folder: Schema.String,
  config_path: Schema.optional(Schema.String),
  status: Schema.Literal("running", "stopped", "starting", "stopping", "deleting", "error"),
  /** Whether its configuration has changed since it was made. */
  dirty: Schema.Boolean,
  container: Schema.optional(AgentContainer),
  agent: Schema.optional(Schema.Struct({ id: Uuid.Uuid, name: Schema.String, directory: Schema.String })),
  error: Schema.optional(Schema.String)
}).annotations({ identifier: "WorkspaceAgentDevcontainer" })

export const AgentContainers = Schema.Struct({
  devcontainers: Schema.Array(AgentDevcontainer),
  containers: Schema.Array(AgentContainer),
  warnings: Schema.optional(Schema.Array(Schema.String))
}).annotations({ identifier: "WorkspaceAgentListContainersResponse" })
export type AgentContainers = typeof AgentContainers.Type
