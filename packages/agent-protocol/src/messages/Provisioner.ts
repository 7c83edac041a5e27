import {
  bool,
  bytes,
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
  type Fields,
  type TypeOf
} from "./Protobuf.js"
import { Timestamp } from "./Timestamp.js"

/** Messages of the packages `provisioner` and `provisionerd`. Spec: templates-and-provisioning.md §8.3. */
const provisioner = <const F extends Fields>(name: string, fields: F) => message(`provisioner.${name}`, fields)
const provisionerd = <const F extends Fields>(name: string, fields: F) => message(`provisionerd.${name}`, fields)

/** What a daemon asks of the things that it has found, by the ids in their labels. Not of the reference's protocol. */
export const RemainsRequest = provisionerd("RemainsRequest", {
  workspace_ids: repeated(1, string),
  build_ids: repeated(2, string)
})

export const RemainsResponse = provisionerd("RemainsResponse", {
  existing_workspace_ids: repeated(1, string),
  unsuccessful_build_ids: repeated(2, string)
})

export const LogLevel = enumeration({ TRACE: 0, DEBUG: 1, INFO: 2, WARN: 3, ERROR: 4 })
export const WorkspaceTransition = enumeration({ START: 0, STOP: 1, DESTROY: 2 })
export const PrebuildStage = enumeration({ NONE: 0, CREATE: 1, CLAIM: 2 })

export const TemplateVariable = provisioner("TemplateVariable", {
  name: field(1, string),
  description: field(2, string),
  type: field(3, string),
  default_value: field(4, string),
  required: field(5, bool),
  sensitive: field(6, bool)
})

export const RichParameterOption = provisioner("RichParameterOption", {
  name: field(1, string),
  description: field(2, string),
  value: field(3, string),
  icon: field(4, string)
})

export const ParameterFormType = enumeration({
  DEFAULT: 0,
  FORM_ERROR: 1,
  RADIO: 2,
  DROPDOWN: 3,
  INPUT: 4,
  TEXTAREA: 5,
  SLIDER: 6,
  CHECKBOX: 7,
  SWITCH: 8,
  TAGSELECT: 9,
  MULTISELECT: 10
})

export const RichParameter = provisioner("RichParameter", {
  name: field(1, string),
  description: field(2, string),
  type: field(3, string),
  mutable: field(4, bool),
  default_value: field(5, string),
  icon: field(6, string),
  options: repeated(7, RichParameterOption),
  validation_regex: field(8, string),
  validation_error: field(9, string),
  validation_min: optional(10, int32),
  validation_max: optional(11, int32),
  validation_monotonic: field(12, string),
  required: field(13, bool),
  display_name: field(15, string),
  order: field(16, int32),
  ephemeral: field(17, bool),
  form_type: field(18, ParameterFormType)
})
export type RichParameter = TypeOf<typeof RichParameter>

export const RichParameterValue = provisioner("RichParameterValue", { name: field(1, string), value: field(2, string) })

export const VariableValue = provisioner("VariableValue", { name: field(1, string), value: field(2, string), sensitive: field(3, bool) })

export const Schedule = provisioner("Schedule", { cron: field(1, string), instances: field(2, int32) })
export const Scheduling = provisioner("Scheduling", { timezone: field(1, string), schedule: repeated(2, Schedule) })
export const ExpirationPolicy = provisioner("ExpirationPolicy", { ttl: field(1, int32) })

export const Prebuild = provisioner("Prebuild", {
  instances: field(1, int32),
  expiration_policy: field(2, ExpirationPolicy),
  scheduling: field(3, Scheduling)
})

export const PresetParameter = provisioner("PresetParameter", { name: field(1, string), value: field(2, string) })

export const Preset = provisioner("Preset", {
  name: field(1, string),
  parameters: repeated(2, PresetParameter),
  prebuild: field(3, Prebuild),
  default: field(4, bool),
  description: field(5, string),
  icon: field(6, string)
})
export type Preset = TypeOf<typeof Preset>

export const ResourceReplacement = provisioner("ResourceReplacement", { resource: field(1, string), paths: repeated(2, string) })

export const ExternalAuthProviderResource = provisioner("ExternalAuthProviderResource", { id: field(1, string), optional: field(2, bool) })

export const ExternalAuthProvider = provisioner("ExternalAuthProvider", { id: field(1, string), access_token: field(2, string) })

export const AgentMetadata = provisioner("Agent.Metadata", {
  key: field(1, string),
  display_name: field(2, string),
  script: field(3, string),
  interval: field(4, int53),
  timeout: field(5, int53),
  order: field(6, int53)
})

export const DisplayApps = provisioner("DisplayApps", {
  vscode: field(1, bool),
  vscode_insiders: field(2, bool),
  web_terminal: field(3, bool),
  ssh_helper: field(4, bool),
  port_forwarding_helper: field(5, bool)
})

export const Env = provisioner("Env", { name: field(1, string), value: field(2, string), merge_strategy: field(3, string) })

export const Script = provisioner("Script", {
  display_name: field(1, string),
  icon: field(2, string),
  script: field(3, string),
  cron: field(4, string),
  start_blocks_login: field(5, bool),
  run_on_start: field(6, bool),
  run_on_stop: field(7, bool),
  timeout_seconds: field(8, int32),
  log_path: field(9, string)
})

export const Healthcheck = provisioner("Healthcheck", { url: field(1, string), interval: field(2, int32), threshold: field(3, int32) })

export const AppSharingLevel = enumeration({ OWNER: 0, AUTHENTICATED: 1, PUBLIC: 2 })
export const AppOpenIn = enumeration({ WINDOW: 0, SLIM_WINDOW: 1, TAB: 2 })

export const App = provisioner("App", {
  slug: field(1, string),
  display_name: field(2, string),
  command: field(3, string),
  url: field(4, string),
  icon: field(5, string),
  subdomain: field(6, bool),
  healthcheck: field(7, Healthcheck),
  sharing_level: field(8, AppSharingLevel),
  external: field(9, bool),
  order: field(10, int53),
  hidden: field(11, bool),
  open_in: field(12, AppOpenIn),
  group: field(13, string),
  id: field(14, string),
  tooltip: field(15, string)
})
export type App = TypeOf<typeof App>

export const MonitoredMemory = provisioner("MemoryResourceMonitor", { enabled: field(1, bool), threshold: field(2, int32) })

export const MonitoredVolume = provisioner("VolumeResourceMonitor", {
  path: field(1, string),
  enabled: field(2, bool),
  threshold: field(3, int32)
})

export const ResourcesMonitoring = provisioner("ResourcesMonitoring", {
  memory: optional(1, MonitoredMemory),
  volumes: repeated(2, MonitoredVolume)
})

export const Devcontainer = provisioner("Devcontainer", {
  workspace_folder: field(1, string),
  config_path: field(2, string),
  name: field(3, string),
  id: field(4, string),
  subagent_id: field(5, string),
  apps: repeated(6, App),
  scripts: repeated(7, Script),
  envs: repeated(8, Env)
})
export type Devcontainer = TypeOf<typeof Devcontainer>

export const Agent = provisioner("Agent", {
  id: field(1, string),
  name: field(2, string),
  env: map(3, string, string),
  operating_system: field(5, string),
  architecture: field(6, string),
  directory: field(7, string),
  apps: repeated(8, App),
  auth: oneof({ token: [9, string], instance_id: [10, string] }),
  connection_timeout_seconds: field(11, int32),
  troubleshooting_url: field(12, string),
  motd_file: field(13, string),
  metadata: repeated(18, AgentMetadata),
  display_apps: field(20, DisplayApps),
  scripts: repeated(21, Script),
  extra_envs: repeated(22, Env),
  order: field(23, int53),
  resources_monitoring: optional(24, ResourcesMonitoring),
  devcontainers: repeated(25, Devcontainer),
  api_key_scope: field(26, string)
})
export type Agent = TypeOf<typeof Agent>

export const ResourceMetadata = provisioner("Resource.Metadata", {
  key: field(1, string),
  value: field(2, string),
  sensitive: field(3, bool),
  is_null: field(4, bool)
})

export const Resource = provisioner("Resource", {
  name: field(1, string),
  type: field(2, string),
  agents: repeated(3, Agent),
  metadata: repeated(4, ResourceMetadata),
  hide: field(5, bool),
  icon: field(6, string),
  instance_type: field(7, string),
  daily_cost: field(8, int32),
  module_path: field(9, string)
})
export type Resource = TypeOf<typeof Resource>

export const Module = provisioner("Module", {
  source: field(1, string),
  version: field(2, string),
  key: field(3, string),
  dir: field(4, string)
})

export const AiTask = provisioner("AITask", {
  id: field(1, string),
  sidebar_app: field(2, provisioner("AITaskSidebarApp", { id: field(1, string) })),
  app_id: field(3, string)
})

export const Role = provisioner("Role", { name: field(1, string), org_id: field(2, string) })
export const RunningAgentAuthToken = provisioner("RunningAgentAuthToken", { agent_id: field(1, string), token: field(2, string) })

export const Metadata = provisioner("Metadata", {
  coder_url: field(1, string),
  workspace_transition: field(2, WorkspaceTransition),
  workspace_name: field(3, string),
  workspace_owner: field(4, string),
  workspace_id: field(5, string),
  workspace_owner_id: field(6, string),
  workspace_owner_email: field(7, string),
  template_name: field(8, string),
  template_version: field(9, string),
  workspace_owner_oidc_access_token: field(10, string),
  workspace_owner_session_token: field(11, string),
  template_id: field(12, string),
  workspace_owner_name: field(13, string),
  workspace_owner_groups: repeated(14, string),
  workspace_owner_ssh_public_key: field(15, string),
  workspace_owner_ssh_private_key: field(16, string),
  workspace_build_id: field(17, string),
  workspace_owner_login_type: field(18, string),
  workspace_owner_rbac_roles: repeated(19, Role),
  prebuilt_workspace_build_stage: field(20, PrebuildStage),
  running_agent_auth_tokens: repeated(21, RunningAgentAuthToken),
  task_id: field(22, string),
  task_prompt: field(23, string),
  template_version_id: field(24, string),
  template_version_modules_file: field(25, string)
})

export const TimingState = enumeration({ STARTED: 0, COMPLETED: 1, FAILED: 2 })

export const Timing = provisioner("Timing", {
  start: field(1, Timestamp),
  end: field(2, Timestamp),
  action: field(3, string),
  source: field(4, string),
  resource: field(5, string),
  stage: field(6, string),
  state: field(7, TimingState)
})
export type Timing = TypeOf<typeof Timing>

export const DataUploadType = enumeration({ UNKNOWN: 0, MODULE_FILES: 1 })

export const DataUpload = provisioner("DataUpload", {
  upload_type: field(1, DataUploadType),
  data_hash: field(2, bytes),
  file_size: field(3, int53),
  chunks: field(4, int32)
})

export const ChunkPiece = provisioner("ChunkPiece", {
  data: field(1, bytes),
  full_data_hash: field(2, bytes),
  piece_index: field(3, int32)
})

export const FileUpload = provisioner("FileUpload", {
  type: oneof({
    data_upload: [1, DataUpload],
    chunk_piece: [2, ChunkPiece],
    error: [3, provisioner("FailedFile", { error: field(1, string) })]
  })
})

export const CancelAcquire = provisionerd("CancelAcquire", {})

export const AcquiredWorkspaceBuild = provisionerd("AcquiredJob.WorkspaceBuild", {
  workspace_build_id: field(1, string),
  workspace_name: field(2, string),
  rich_parameter_values: repeated(4, RichParameterValue),
  variable_values: repeated(5, VariableValue),
  external_auth_providers: repeated(6, ExternalAuthProvider),
  metadata: field(7, Metadata),
  state: field(8, bytes),
  log_level: field(9, string),
  previous_parameter_values: repeated(10, RichParameterValue),
  /** An extension, which other daemons pass over: the build deletes a workspace that has no successful build and no state. */
  unfinished: field(1000, bool)
})

export const AcquiredTemplateImport = provisionerd("AcquiredJob.TemplateImport", {
  metadata: field(1, Metadata),
  user_variable_values: repeated(2, VariableValue)
})

export const AcquiredTemplateDryRun = provisionerd("AcquiredJob.TemplateDryRun", {
  rich_parameter_values: repeated(2, RichParameterValue),
  variable_values: repeated(3, VariableValue),
  metadata: field(4, Metadata)
})

/** Without an id, there is no job. */
export const AcquiredJob = provisionerd("AcquiredJob", {
  job_id: field(1, string),
  /** Milliseconds since 1970. */
  created_at: field(2, int53),
  provisioner: field(3, string),
  user_name: field(4, string),
  template_source_archive: field(5, bytes),
  type: oneof({
    workspace_build: [6, AcquiredWorkspaceBuild],
    template_import: [7, AcquiredTemplateImport],
    template_dry_run: [8, AcquiredTemplateDryRun]
  }),
  trace_metadata: map(9, string, string)
})

export const FailedJob = provisionerd("FailedJob", {
  job_id: field(1, string),
  error: field(2, string),
  type: oneof({
    workspace_build: [3, provisionerd("FailedJob.WorkspaceBuild", { state: field(1, bytes), timings: repeated(2, Timing) })],
    template_import: [4, provisionerd("FailedJob.TemplateImport", {})],
    template_dry_run: [5, provisionerd("FailedJob.TemplateDryRun", {})]
  }),
  error_code: field(6, string)
})

export const CompletedWorkspaceBuild = provisionerd("CompletedJob.WorkspaceBuild", {
  state: field(1, bytes),
  resources: repeated(2, Resource),
  timings: repeated(3, Timing),
  modules: repeated(4, Module),
  resource_replacements: repeated(5, ResourceReplacement),
  ai_tasks: repeated(6, AiTask)
})

export const CompletedTemplateImport = provisionerd("CompletedJob.TemplateImport", {
  start_resources: repeated(1, Resource),
  stop_resources: repeated(2, Resource),
  rich_parameters: repeated(3, RichParameter),
  external_auth_providers_names: repeated(4, string),
  external_auth_providers: repeated(5, ExternalAuthProviderResource),
  start_modules: repeated(6, Module),
  presets: repeated(8, Preset),
  plan: field(9, bytes),
  module_files: field(10, bytes),
  module_files_hash: field(11, bytes),
  has_ai_tasks: field(12, bool),
  has_external_agents: field(13, bool)
})
export type CompletedTemplateImport = TypeOf<typeof CompletedTemplateImport>

export const CompletedTemplateDryRun = provisionerd("CompletedJob.TemplateDryRun", {
  resources: repeated(1, Resource),
  modules: repeated(2, Module)
})

export const CompletedJob = provisionerd("CompletedJob", {
  job_id: field(1, string),
  type: oneof({
    workspace_build: [2, CompletedWorkspaceBuild],
    template_import: [3, CompletedTemplateImport],
    template_dry_run: [4, CompletedTemplateDryRun]
  })
})
export type CompletedJob = TypeOf<typeof CompletedJob>

export const LogSource = enumeration({ PROVISIONER_DAEMON: 0, PROVISIONER: 1 })

export const Log = provisionerd("Log", {
  source: field(1, LogSource),
  level: field(2, LogLevel),
  created_at: field(3, int53),
  stage: field(4, string),
  output: field(5, string)
})
export type Log = TypeOf<typeof Log>

export const UpdateJobRequest = provisionerd("UpdateJobRequest", {
  job_id: field(1, string),
  logs: repeated(2, Log),
  template_variables: repeated(4, TemplateVariable),
  user_variable_values: repeated(5, VariableValue),
  readme: field(6, bytes),
  workspace_tags: map(7, string, string)
})
export type UpdateJobRequest = TypeOf<typeof UpdateJobRequest>

export const UpdateJobResponse = provisionerd("UpdateJobResponse", {
  canceled: field(1, bool),
  variable_values: repeated(3, VariableValue)
})

export const CommitQuotaRequest = provisionerd("CommitQuotaRequest", { job_id: field(1, string), daily_cost: field(2, int32) })

export const CommitQuotaResponse = provisionerd("CommitQuotaResponse", {
  ok: field(1, bool),
  credits_consumed: field(2, int32),
  budget: field(3, int32)
})

export const FileRequest = provisionerd("FileRequest", { file_id: field(1, string), upload_type: field(2, DataUploadType) })
