import { Schema } from "effect"
import { Timestamp } from "../platform/time/Timestamp.js"
import { Uuid } from "../platform/texts/Uuid.js"
import { ApiKeyScope, DisplayApp } from "../provisioning/engines/ProvisionedResource.js"
import { AgentLifecycle } from "./AgentLifecycle.js"

export const WorkspaceAgentId = Uuid
export type WorkspaceAgentId = Uuid

/** The subsystems that an agent may belong to. */
export const AgentSubsystem = Schema.Literal("envbox", "envbuilder", "exectrace")
export type AgentSubsystem = typeof AgentSubsystem.Type

/** `name` → value; null when the template sets none. */
export const EnvironmentVariables = Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.String }))
export type EnvironmentVariables = typeof EnvironmentVariables.Type

/**
 * The process inside a workspace that carries out what users ask of it, as it is stored; its token is stored beside it. Agents exist in
 * builds with the transition `start` only. agents-and-apps.md §3.
 */
export const WorkspaceAgent = Schema.Struct({
  id: WorkspaceAgentId,
  created_at: Timestamp,
  updated_at: Timestamp,
  resource_id: Uuid,
  /** Set for a sub agent: the agent that made it. */
  parent_id: Schema.NullOr(WorkspaceAgentId),
  /** Unique without regard to case within the resource; at most 64 characters. */
  name: Schema.String,
  architecture: Schema.String,
  operating_system: Schema.String,
  directory: Schema.String,
  /** `directory` as the agent resolved it; empty before it reported. */
  expanded_directory: Schema.String,
  environment_variables: EnvironmentVariables,
  /** How a cloud calls the machine; null for an agent that has its token from the template. */
  auth_instance_id: Schema.NullOr(Schema.String),
  api_key_scope: ApiKeyScope,
  /** Of the agent's program; empty before it reported. */
  version: Schema.String,
  /** Of the protocol, as negotiated when it last reported; empty before. */
  api_version: Schema.String,
  subsystems: Schema.Array(AgentSubsystem),
  display_apps: Schema.Array(DisplayApp),
  display_order: Schema.Number,
  motd_file: Schema.String,
  troubleshooting_url: Schema.String,
  /** Seconds until a first connection is overdue; 0 never. */
  connection_timeout_seconds: Schema.Number,
  first_connected_at: Schema.NullOr(Timestamp),
  last_connected_at: Schema.NullOr(Timestamp),
  disconnected_at: Schema.NullOr(Timestamp),
  lifecycle_state: AgentLifecycle,
  started_at: Schema.NullOr(Timestamp),
  ready_at: Schema.NullOr(Timestamp),
  /** Bytes of all outputs in UTF-8, as they were before they were cut. */
  logs_length: Schema.Number,
  logs_overflowed: Schema.Boolean
})
export interface WorkspaceAgent extends Schema.Schema.Type<typeof WorkspaceAgent> {}
