import { Duration } from "./Duration.js"
import {
  bool,
  bytes,
  double,
  enumeration,
  field,
  int32,
  int53,
  map,
  message,
  oneof,
  optional,
  repeated,
  string,
  uint32,
  uint64,
  type Fields,
  type InitOf,
  type TypeOf
} from "./Protobuf.js"
import { Struct } from "./Struct.js"
import { DERPMap } from "./Tailnet.js"
import { Timestamp } from "./Timestamp.js"

/** Messages of `coder.agent.v2.Agent`. Ids are the 16 bytes of a UUID. Spec: agents-and-apps.md §14. */
const agent = <const F extends Fields>(name: string, fields: F) => message(`coder.agent.v2.${name}`, fields)

// Manifest

export const SharingLevel = enumeration({ UNSPECIFIED: 0, OWNER: 1, AUTHENTICATED: 2, PUBLIC: 3, ORGANIZATION: 4 })
export type SharingLevel = TypeOf<typeof SharingLevel>

export const AppHealth = enumeration({ UNSPECIFIED: 0, DISABLED: 1, INITIALIZING: 2, HEALTHY: 3, UNHEALTHY: 4 })
export type AppHealth = TypeOf<typeof AppHealth>

export const Healthcheck = agent("WorkspaceApp.Healthcheck", {
  url: field(1, string),
  interval: field(2, Duration),
  /** Consecutive failures that make an app unhealthy. */
  threshold: field(3, int32)
})
export type Healthcheck = TypeOf<typeof Healthcheck>

export const WorkspaceApp = agent("WorkspaceApp", {
  id: field(1, bytes),
  url: field(2, string),
  external: field(3, bool),
  slug: field(4, string),
  display_name: field(5, string),
  command: field(6, string),
  icon: field(7, string),
  subdomain: field(8, bool),
  subdomain_name: field(9, string),
  sharing_level: field(10, SharingLevel),
  healthcheck: field(11, Healthcheck),
  health: field(12, AppHealth),
  hidden: field(13, bool)
})
export type WorkspaceApp = TypeOf<typeof WorkspaceApp>

export const WorkspaceAgentScript = agent("WorkspaceAgentScript", {
  log_source_id: field(1, bytes),
  log_path: field(2, string),
  script: field(3, string),
  cron: field(4, string),
  run_on_start: field(5, bool),
  run_on_stop: field(6, bool),
  start_blocks_login: field(7, bool),
  timeout: field(8, Duration),
  display_name: field(9, string),
  id: field(10, bytes)
})
export type WorkspaceAgentScript = TypeOf<typeof WorkspaceAgentScript>

export const MetadataResult = agent("WorkspaceAgentMetadata.Result", {
  collected_at: field(1, Timestamp),
  /** Seconds since it was collected. */
  age: field(2, int53),
  value: field(3, string),
  error: field(4, string)
})
export type MetadataResult = TypeOf<typeof MetadataResult>

/** In a manifest, `interval` and `timeout` are a plain number of seconds carried in the nanoseconds (§14, Manifest). */
export const MetadataDescription = agent("WorkspaceAgentMetadata.Description", {
  display_name: field(1, string),
  key: field(2, string),
  script: field(3, string),
  interval: field(4, Duration),
  timeout: field(5, Duration)
})
export type MetadataDescription = TypeOf<typeof MetadataDescription>

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

// Banners

export const GetServiceBannerRequest = agent("GetServiceBannerRequest", {})

export const ServiceBanner = agent("ServiceBanner", {
  enabled: field(1, bool),
  message: field(2, string),
  background_color: field(3, string)
})
export type ServiceBanner = TypeOf<typeof ServiceBanner>

export const BannerConfig = agent("BannerConfig", {
  enabled: field(1, bool),
  message: field(2, string),
  background_color: field(3, string)
})
export type BannerConfig = TypeOf<typeof BannerConfig>

export const GetAnnouncementBannersRequest = agent("GetAnnouncementBannersRequest", {})

export const GetAnnouncementBannersResponse = agent("GetAnnouncementBannersResponse", { announcement_banners: repeated(1, BannerConfig) })
export type GetAnnouncementBannersResponse = TypeOf<typeof GetAnnouncementBannersResponse>

// Stats

export const MetricLabel = agent("Stats.Metric.Label", { name: field(1, string), value: field(2, string) })
export type MetricLabel = TypeOf<typeof MetricLabel>

export const Metric = agent("Stats.Metric", {
  name: field(1, string),
  type: field(2, enumeration({ UNSPECIFIED: 0, COUNTER: 1, GAUGE: 2 })),
  value: field(3, double),
  labels: repeated(4, MetricLabel)
})
export type Metric = TypeOf<typeof Metric>

export const Stats = agent("Stats", {
  connections_by_proto: map(1, string, int53),
  connection_count: field(2, int53),
  connection_median_latency_ms: field(3, double),
  rx_packets: field(4, int53),
  rx_bytes: field(5, int53),
  tx_packets: field(6, int53),
  tx_bytes: field(7, int53),
  session_count_vscode: field(8, int53),
  session_count_jetbrains: field(9, int53),
  session_count_reconnecting_pty: field(10, int53),
  session_count_ssh: field(11, int53),
  metrics: repeated(12, Metric),
  session_counts: map(13, string, int53)
})
export type Stats = TypeOf<typeof Stats>

export const UpdateStatsRequest = agent("UpdateStatsRequest", { stats: field(1, Stats) })
export type UpdateStatsRequest = TypeOf<typeof UpdateStatsRequest>

export const UpdateStatsResponse = agent("UpdateStatsResponse", { report_interval: field(1, Duration) })
export type UpdateStatsResponse = TypeOf<typeof UpdateStatsResponse>

// Lifecycle, start-up and app health

export const LifecycleState = enumeration({
  UNSPECIFIED: 0,
  CREATED: 1,
  STARTING: 2,
  START_TIMEOUT: 3,
  START_ERROR: 4,
  READY: 5,
  SHUTTING_DOWN: 6,
  SHUTDOWN_TIMEOUT: 7,
  SHUTDOWN_ERROR: 8,
  OFF: 9
})
export type LifecycleState = TypeOf<typeof LifecycleState>

export const Lifecycle = agent("Lifecycle", { state: field(1, LifecycleState), changed_at: field(2, Timestamp) })
export type Lifecycle = TypeOf<typeof Lifecycle>

export const UpdateLifecycleRequest = agent("UpdateLifecycleRequest", { lifecycle: field(1, Lifecycle) })
export type UpdateLifecycleRequest = TypeOf<typeof UpdateLifecycleRequest>

export const HealthUpdate = agent("BatchUpdateAppHealthRequest.HealthUpdate", { id: field(1, bytes), health: field(2, AppHealth) })
export type HealthUpdate = TypeOf<typeof HealthUpdate>

export const BatchUpdateAppHealthRequest = agent("BatchUpdateAppHealthRequest", { updates: repeated(1, HealthUpdate) })
export type BatchUpdateAppHealthRequest = TypeOf<typeof BatchUpdateAppHealthRequest>

export const BatchUpdateAppHealthResponse = agent("BatchUpdateAppHealthResponse", {})

export const Subsystem = enumeration({ UNSPECIFIED: 0, ENVBOX: 1, ENVBUILDER: 2, EXECTRACE: 3 })
export type Subsystem = TypeOf<typeof Subsystem>

export const Startup = agent("Startup", {
  version: field(1, string),
  expanded_directory: field(2, string),
  subsystems: repeated(3, Subsystem)
})
export type Startup = TypeOf<typeof Startup>

export const UpdateStartupRequest = agent("UpdateStartupRequest", { startup: field(1, Startup) })
export type UpdateStartupRequest = TypeOf<typeof UpdateStartupRequest>

// Metadata and logs

export const Metadata = agent("Metadata", { key: field(1, string), result: field(2, MetadataResult) })
export type Metadata = TypeOf<typeof Metadata>

export const BatchUpdateMetadataRequest = agent("BatchUpdateMetadataRequest", { metadata: repeated(2, Metadata) })
export type BatchUpdateMetadataRequest = TypeOf<typeof BatchUpdateMetadataRequest>

export const BatchUpdateMetadataResponse = agent("BatchUpdateMetadataResponse", {})

export const LogLevel = enumeration({ UNSPECIFIED: 0, TRACE: 1, DEBUG: 2, INFO: 3, WARN: 4, ERROR: 5 })
export type LogLevel = TypeOf<typeof LogLevel>

export const Log = agent("Log", { created_at: field(1, Timestamp), output: field(2, string), level: field(3, LogLevel) })
export type Log = TypeOf<typeof Log>

export const BatchCreateLogsRequest = agent("BatchCreateLogsRequest", { log_source_id: field(1, bytes), logs: repeated(2, Log) })
export type BatchCreateLogsRequest = TypeOf<typeof BatchCreateLogsRequest>

export const BatchCreateLogsResponse = agent("BatchCreateLogsResponse", { log_limit_exceeded: field(1, bool) })
export type BatchCreateLogsResponse = TypeOf<typeof BatchCreateLogsResponse>

// Scripts

export const ScriptStage = enumeration({ START: 0, STOP: 1, CRON: 2 })
export type ScriptStage = TypeOf<typeof ScriptStage>

export const ScriptStatus = enumeration({ OK: 0, EXIT_FAILURE: 1, TIMED_OUT: 2, PIPES_LEFT_OPEN: 3 })
export type ScriptStatus = TypeOf<typeof ScriptStatus>

export const Timing = agent("Timing", {
  script_id: field(1, bytes),
  start: field(2, Timestamp),
  end: field(3, Timestamp),
  exit_code: field(4, int32),
  stage: field(5, ScriptStage),
  status: field(6, ScriptStatus)
})
export type Timing = TypeOf<typeof Timing>

export const WorkspaceAgentScriptCompletedRequest = agent("WorkspaceAgentScriptCompletedRequest", { timing: field(1, Timing) })
export type WorkspaceAgentScriptCompletedRequest = TypeOf<typeof WorkspaceAgentScriptCompletedRequest>

export const WorkspaceAgentScriptCompletedResponse = agent("WorkspaceAgentScriptCompletedResponse", {})

// Resources monitoring

export const GetResourcesMonitoringConfigurationRequest = agent("GetResourcesMonitoringConfigurationRequest", {})

export const MonitoringConfig = agent("GetResourcesMonitoringConfigurationResponse.Config", {
  num_datapoints: field(1, int32),
  collection_interval_seconds: field(2, int32)
})
export const MonitoringMemory = agent("GetResourcesMonitoringConfigurationResponse.Memory", { enabled: field(1, bool) })
export const MonitoringVolume = agent("GetResourcesMonitoringConfigurationResponse.Volume", {
  enabled: field(1, bool),
  path: field(2, string)
})

export const GetResourcesMonitoringConfigurationResponse = agent("GetResourcesMonitoringConfigurationResponse", {
  config: field(1, MonitoringConfig),
  /** Absent when memory is not monitored. */
  memory: optional(2, MonitoringMemory),
  volumes: repeated(3, MonitoringVolume)
})
export type GetResourcesMonitoringConfigurationResponse = TypeOf<typeof GetResourcesMonitoringConfigurationResponse>

export const MemoryUsage = agent("PushResourcesMonitoringUsageRequest.Datapoint.MemoryUsage", {
  used: field(1, int53),
  total: field(2, int53)
})
export type MemoryUsage = TypeOf<typeof MemoryUsage>

export const VolumeUsage = agent("PushResourcesMonitoringUsageRequest.Datapoint.VolumeUsage", {
  volume: field(1, string),
  used: field(2, int53),
  total: field(3, int53)
})
export type VolumeUsage = TypeOf<typeof VolumeUsage>

export const Datapoint = agent("PushResourcesMonitoringUsageRequest.Datapoint", {
  collected_at: field(1, Timestamp),
  memory: optional(2, MemoryUsage),
  volumes: repeated(3, VolumeUsage)
})
export type Datapoint = TypeOf<typeof Datapoint>

export const PushResourcesMonitoringUsageRequest = agent("PushResourcesMonitoringUsageRequest", { datapoints: repeated(1, Datapoint) })
export type PushResourcesMonitoringUsageRequest = TypeOf<typeof PushResourcesMonitoringUsageRequest>

export const PushResourcesMonitoringUsageResponse = agent("PushResourcesMonitoringUsageResponse", {})

// Connections

export const ConnectionAction = enumeration({ UNSPECIFIED: 0, CONNECT: 1, DISCONNECT: 2 })
export type ConnectionAction = TypeOf<typeof ConnectionAction>

export const ConnectionType = enumeration({ UNSPECIFIED: 0, SSH: 1, VSCODE: 2, JETBRAINS: 3, RECONNECTING_PTY: 4 })
export type ConnectionType = TypeOf<typeof ConnectionType>

export const Connection = agent("Connection", {
  id: field(1, bytes),
  action: field(2, ConnectionAction),
  type: field(3, ConnectionType),
  timestamp: field(4, Timestamp),
  ip: field(5, string),
  status_code: field(6, int32),
  reason: optional(7, string)
})
export type Connection = TypeOf<typeof Connection>

export const ReportConnectionRequest = agent("ReportConnectionRequest", { connection: field(1, Connection) })
export type ReportConnectionRequest = TypeOf<typeof ReportConnectionRequest>

// Sub agents

export const SubAgent = agent("SubAgent", { name: field(1, string), id: field(2, bytes), auth_token: field(3, bytes) })
export type SubAgent = TypeOf<typeof SubAgent>

export const DisplayApp = enumeration({ VSCODE: 0, VSCODE_INSIDERS: 1, WEB_TERMINAL: 2, SSH_HELPER: 3, PORT_FORWARDING_HELPER: 4 })
export type DisplayApp = TypeOf<typeof DisplayApp>

export const SubAgentAppHealthcheck = agent("CreateSubAgentRequest.App.Healthcheck", {
  /** Seconds. */
  interval: field(1, int32),
  threshold: field(2, int32),
  url: field(3, string)
})
export type SubAgentAppHealthcheck = TypeOf<typeof SubAgentAppHealthcheck>

export const SubAgentApp = agent("CreateSubAgentRequest.App", {
  slug: field(1, string),
  command: optional(2, string),
  display_name: optional(3, string),
  external: optional(4, bool),
  group: optional(5, string),
  healthcheck: optional(6, SubAgentAppHealthcheck),
  hidden: optional(7, bool),
  icon: optional(8, string),
  open_in: optional(9, enumeration({ SLIM_WINDOW: 0, TAB: 1 })),
  order: optional(10, int32),
  share: optional(11, enumeration({ OWNER: 0, AUTHENTICATED: 1, PUBLIC: 2, ORGANIZATION: 3 })),
  subdomain: optional(12, bool),
  url: optional(13, string)
})
export type SubAgentApp = TypeOf<typeof SubAgentApp>

export const CreateSubAgentRequest = agent("CreateSubAgentRequest", {
  name: field(1, string),
  directory: field(2, string),
  architecture: field(3, string),
  operating_system: field(4, string),
  apps: repeated(5, SubAgentApp),
  display_apps: repeated(6, DisplayApp),
  /** Of an agent the template made beforehand. */
  id: optional(7, bytes)
})
export type CreateSubAgentRequest = TypeOf<typeof CreateSubAgentRequest>

export const AppCreationError = agent("CreateSubAgentResponse.AppCreationError", {
  index: field(1, int32),
  field: optional(2, string),
  error: field(3, string)
})
export type AppCreationError = TypeOf<typeof AppCreationError>

export const CreateSubAgentResponse = agent("CreateSubAgentResponse", {
  agent: field(1, SubAgent),
  app_creation_errors: repeated(2, AppCreationError)
})
export type CreateSubAgentResponse = TypeOf<typeof CreateSubAgentResponse>

export const DeleteSubAgentRequest = agent("DeleteSubAgentRequest", { id: field(1, bytes) })
export type DeleteSubAgentRequest = TypeOf<typeof DeleteSubAgentRequest>

export const DeleteSubAgentResponse = agent("DeleteSubAgentResponse", {})

export const ListSubAgentsRequest = agent("ListSubAgentsRequest", {})

export const ListSubAgentsResponse = agent("ListSubAgentsResponse", { agents: repeated(1, SubAgent) })
export type ListSubAgentsResponse = TypeOf<typeof ListSubAgentsResponse>

// Boundary logs

export const BoundaryHttpRequest = agent("BoundaryLog.HttpRequest", {
  method: field(1, string),
  url: field(2, string),
  matched_rule: field(3, string)
})
export type BoundaryHttpRequest = TypeOf<typeof BoundaryHttpRequest>

export const BoundaryLog = agent("BoundaryLog", {
  allowed: field(1, bool),
  time: field(2, Timestamp),
  resource: oneof({ http_request: [3, BoundaryHttpRequest] }),
  sequence_number: field(4, int32)
})
export type BoundaryLog = TypeOf<typeof BoundaryLog>

export const ReportBoundaryLogsRequest = agent("ReportBoundaryLogsRequest", {
  logs: repeated(1, BoundaryLog),
  session_id: field(2, string),
  confined_process_name: field(3, string)
})
export type ReportBoundaryLogsRequest = TypeOf<typeof ReportBoundaryLogsRequest>

export const ReportBoundaryLogsResponse = agent("ReportBoundaryLogsResponse", {})

// App status

export const AppState = enumeration({ WORKING: 0, IDLE: 1, COMPLETE: 2, FAILURE: 3 })
export type AppState = TypeOf<typeof AppState>

export const UpdateAppStatusRequest = agent("UpdateAppStatusRequest", {
  slug: field(1, string),
  state: field(2, AppState),
  message: field(3, string),
  uri: field(4, string)
})
export type UpdateAppStatusRequest = TypeOf<typeof UpdateAppStatusRequest>

export const UpdateAppStatusResponse = agent("UpdateAppStatusResponse", {})

// Context state

export const InstructionFile = agent("ContextResource.InstructionFile", { content: field(1, bytes) })
export const Skill = agent("ContextResource.Skill", { meta: field(1, bytes), name: field(2, string), description: field(3, string) })
export const McpConfig = agent("ContextResource.McpConfig", {})
export const McpTool = agent("ContextResource.McpServer.Tool", {
  name: field(1, string),
  description: field(2, string),
  input_schema: field(3, Struct)
})
export const McpServer = agent("ContextResource.McpServer", {
  server_name: field(1, string),
  description: field(2, string),
  tools: repeated(3, McpTool)
})

export const ContextResource = agent("ContextResource", {
  source: field(1, string),
  source_path: optional(2, string),
  content_hash: field(3, bytes),
  size_bytes: field(4, uint64),
  status: field(5, enumeration({ UNSPECIFIED: 0, OK: 1, OVERSIZE: 2, UNREADABLE: 3, INVALID: 4, EXCLUDED: 5 })),
  error: field(6, string),
  body: oneof({
    instruction_file: [10, InstructionFile],
    skill: [11, Skill],
    mcp_config: [12, McpConfig],
    mcp_server: [13, McpServer]
  })
})
export type ContextResource = TypeOf<typeof ContextResource>

export const PushContextStateRequest = agent("PushContextStateRequest", {
  version: field(1, uint64),
  aggregate_hash: field(2, bytes),
  resources: repeated(3, ContextResource),
  initial: field(4, bool),
  snapshot_error: field(6, string)
})
export type PushContextStateRequest = TypeOf<typeof PushContextStateRequest>

export const PushContextStateResponse = agent("PushContextStateResponse", { accepted: field(1, bool) })
export type PushContextStateResponse = TypeOf<typeof PushContextStateResponse>
