// Generated from the contract by `npm run generate`. Changes here are lost.
/** What the service answers, and parts of what it is given. */
export interface ACLAvailable {
  readonly users: ReadonlyArray<ReducedUser>
  readonly groups: ReadonlyArray<Group>
}

export interface AIBudgetLimit {
  /** Millionths of a unit of the currency. */
  readonly spend_limit_micros: number
  readonly limit_source: "user_override" | "group"
}

export interface AIProvider {
  /** A UUID. */
  readonly id: string
  readonly type: string
  readonly name: string
  readonly display_name: string
  readonly icon: string
  readonly enabled: boolean
  readonly base_url: string
  readonly api_keys: ReadonlyArray<{
    /** A UUID. */
    readonly id: string
    readonly masked: string
    /** A time as RFC 3339 writes it. */
    readonly created_at: string
  }>
  readonly settings: {
    readonly _type: "bedrock"
    /** From 1 to 1. */
    readonly _version: 1
    readonly region?: string
    readonly model?: string
    readonly small_fast_model?: string
    readonly protocol?: string
    readonly role_arn?: string
    readonly external_id?: string
  } | null
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
}

export interface APIKey {
  readonly id: string
  /** A UUID. */
  readonly user_id: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
  /** A time as RFC 3339 writes it. */
  readonly last_used: string
  /** A time as RFC 3339 writes it. */
  readonly expires_at: string
  /** Seconds. */
  readonly lifetime_seconds: number
  readonly login_type: "password" | "github" | "oidc" | "token" | "oauth2_provider_app"
  readonly token_name: string
  readonly scopes: ReadonlyArray<string>
  readonly allow_list: ReadonlyArray<{
    readonly type: "*" | "ai_gateway_key" | "ai_model_price" | "ai_provider" | "ai_seat" | "aibridge_interception" | "api_key" | "assign_org_role" | "assign_role" | "audit_log" | "boundary_log" | "boundary_usage" | "chat" | "connection_log" | "crypto_key" | "debug_info" | "deployment_config" | "deployment_stats" | "file" | "group" | "group_member" | "idpsync_settings" | "inbox_notification" | "license" | "mcp_server_config" | "notification_message" | "notification_preference" | "notification_template" | "oauth2_app" | "oauth2_app_code_token" | "oauth2_app_secret" | "organization" | "organization_member" | "prebuilt_workspace" | "provisioner_daemon" | "provisioner_jobs" | "replicas" | "system" | "tailnet_coordinator" | "task" | "template" | "usage_event" | "user" | "user_secret" | "user_skill" | "webpush_subscription" | "workspace" | "workspace_agent_devcontainers" | "workspace_agent_resource_monitor" | "workspace_build_orchestration" | "workspace_dormant" | "workspace_proxy"
    readonly id: string
  }>
  readonly scope: "all" | "application_connect" | ""
}

export interface APIKeyWithOwner {
  readonly id: string
  /** A UUID. */
  readonly user_id: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
  /** A time as RFC 3339 writes it. */
  readonly last_used: string
  /** A time as RFC 3339 writes it. */
  readonly expires_at: string
  /** Seconds. */
  readonly lifetime_seconds: number
  readonly login_type: "password" | "github" | "oidc" | "token" | "oauth2_provider_app"
  readonly token_name: string
  readonly scopes: ReadonlyArray<string>
  readonly allow_list: ReadonlyArray<{
    readonly type: "*" | "ai_gateway_key" | "ai_model_price" | "ai_provider" | "ai_seat" | "aibridge_interception" | "api_key" | "assign_org_role" | "assign_role" | "audit_log" | "boundary_log" | "boundary_usage" | "chat" | "connection_log" | "crypto_key" | "debug_info" | "deployment_config" | "deployment_stats" | "file" | "group" | "group_member" | "idpsync_settings" | "inbox_notification" | "license" | "mcp_server_config" | "notification_message" | "notification_preference" | "notification_template" | "oauth2_app" | "oauth2_app_code_token" | "oauth2_app_secret" | "organization" | "organization_member" | "prebuilt_workspace" | "provisioner_daemon" | "provisioner_jobs" | "replicas" | "system" | "tailnet_coordinator" | "task" | "template" | "usage_event" | "user" | "user_secret" | "user_skill" | "webpush_subscription" | "workspace" | "workspace_agent_devcontainers" | "workspace_agent_resource_monitor" | "workspace_build_orchestration" | "workspace_dormant" | "workspace_proxy"
    readonly id: string
  }>
  readonly scope: "all" | "application_connect" | ""
  readonly username: string
}

export interface AgentConnectionInfo {
  readonly derp_map: DERPMap
  readonly derp_force_websockets: boolean
  readonly disable_direct_connections: boolean
  readonly hostname_suffix?: string
}

export interface AgentConnectionTiming {
  /** A time as RFC 3339 writes it. */
  readonly started_at: string
  /** A time as RFC 3339 writes it. */
  readonly ended_at: string
  readonly stage: "connect"
  /** A UUID. */
  readonly workspace_agent_id: string
  readonly workspace_agent_name: string
}

export interface AgentGitSSHKey {
  readonly public_key: string
  readonly private_key: string
}

export interface AgentScriptTiming {
  /** A time as RFC 3339 writes it. */
  readonly started_at: string
  /** A time as RFC 3339 writes it. */
  readonly ended_at: string
  readonly exit_code: number
  readonly stage: "start" | "stop" | "cron"
  readonly status: "ok" | "exit_failure" | "timed_out" | "pipes_left_open"
  readonly display_name: string
  /** A UUID. */
  readonly workspace_agent_id: string
  readonly workspace_agent_name: string
}

export interface AppHostResponse {
  readonly host: string
}

export interface AppearanceConfig {
  readonly application_name: string
  readonly logo_url: string
  readonly announcement_banners: ReadonlyArray<BannerConfig>
  readonly service_banner: BannerConfig
  readonly docs_url: string
  readonly support_links: ReadonlyArray<LinkConfig>
}

export interface ArchivedTemplateVersionsMessage {
  /** A UUID. */
  readonly template_id: string
  readonly archived_ids: ReadonlyArray<string>
  readonly message: string
  readonly detail?: string
  readonly validations?: ReadonlyArray<{
    readonly field: string
    readonly detail: string
  }>
}

export interface AssignableRoles {
  readonly name: string
  readonly display_name: string
  readonly organization_id?: string
  readonly site_permissions: ReadonlyArray<Permission>
  readonly user_permissions: ReadonlyArray<Permission>
  readonly organization_permissions: ReadonlyArray<Permission>
  readonly organization_member_permissions: ReadonlyArray<Permission>
  readonly built_in: boolean
  readonly assignable: boolean
}

export type AuditAction = "create" | "write" | "delete" | "start" | "stop" | "login" | "logout" | "register" | "request_password_reset" | "connect" | "disconnect" | "open" | "close"

export type AuditDiff = Readonly<Record<string, {
  readonly old?: unknown
  readonly new?: unknown
  readonly secret: boolean
}>>

export interface AuditLog {
  /** A UUID. */
  readonly id: string
  /** A time as RFC 3339 writes it. */
  readonly time: string
  /** A UUID. */
  readonly organization_id: string
  readonly ip: string
  readonly user_agent: string
  readonly resource_type: ResourceType
  /** A UUID. */
  readonly resource_id: string
  readonly resource_target: string
  readonly action: AuditAction
  readonly diff: AuditDiff
  readonly status_code: number
  readonly additional_fields: Readonly<Record<string, unknown>>
  /** A UUID. */
  readonly request_id: string
  readonly user: User | null
  readonly organization?: MinimalOrganization
  readonly resource_icon: string
  readonly is_deleted: boolean
  readonly description: string
  readonly resource_link: string
}

export interface AuditLogResponse {
  readonly audit_logs: ReadonlyArray<AuditLog>
  /** All matching entries, counted up to one more than `count_cap`. */
  readonly count: number
  readonly count_cap: number
}

export interface AuthMethod {
  readonly enabled: boolean
}

export interface AuthMethods {
  readonly terms_of_service_url?: string
  readonly password: AuthMethod
  readonly github: GithubAuthMethod
  readonly oidc: OIDCAuthMethod
}

export interface AuthorizationCheck {
  readonly object?: AuthorizationObject | undefined
  readonly action?: string | undefined
}

export interface AuthorizationObject {
  readonly resource_type?: string | undefined
  readonly owner_id?: string | undefined
  readonly organization_id?: string | undefined
  readonly resource_id?: string | undefined
  readonly any_org?: boolean | undefined
}

export type AuthorizationResponse = Readonly<Record<string, boolean>>

export interface BackgroundWork {
  readonly name: string
  readonly loops: number
  readonly failing: number
  readonly last_success_at: string | null
  readonly last_failure_at: string | null
  readonly last_failure: string | null
  readonly consecutive_failures: number
  readonly failed_items: number
}

export interface BannerConfig {
  readonly enabled: boolean
  readonly message?: string
  readonly background_color?: string
}

export interface BuildInfoResponse {
  readonly version: string
  readonly external_url: string
  readonly dashboard_url: string
  readonly telemetry: boolean
  readonly workspace_proxy: boolean
  readonly agent_api_version: string
  readonly provisioner_api_version: string
  readonly upgrade_message: string
  readonly deployment_id: string
  readonly webpush_public_key?: string
}

export interface BytesSentRecv {
  readonly key: string
  /** Bytes of packets that the peer has received. */
  readonly recv: number
  /** Bytes of packets that the peer has sent. */
  readonly sent: number
}

/** Milliseconds; -1 when unknown. */
export interface ConnectionLatency {
  readonly p50: number
  readonly p95: number
}

export interface ConnectionLog {
  /** A UUID. */
  readonly id: string
  /** A time as RFC 3339 writes it. */
  readonly connect_time: string
  readonly organization: MinimalOrganization
  /** A UUID. */
  readonly workspace_owner_id: string
  readonly workspace_owner_username: string
  /** A UUID. */
  readonly workspace_id: string
  readonly workspace_name: string
  readonly agent_name: string
  readonly ip?: string
  readonly type: ConnectionType
  readonly ssh_info?: ConnectionLogSSHInfo
  readonly web_info?: ConnectionLogWebInfo
}

export interface ConnectionLogResponse {
  readonly connection_logs: ReadonlyArray<ConnectionLog>
  /** All matching entries, counted up to one more than `count_cap`. */
  readonly count: number
  readonly count_cap: number
}

export interface ConnectionLogSSHInfo {
  /** A UUID. */
  readonly connection_id: string
  /** A time as RFC 3339 writes it. */
  readonly disconnect_time?: string
  readonly disconnect_reason?: string
  readonly exit_code?: number
  readonly user?: User
  readonly user_agent?: string
}

export interface ConnectionLogWebInfo {
  readonly user_agent: string
  readonly user: User | null
  readonly slug_or_port: string
  readonly status_code: number
}

export type ConnectionType = "ssh" | "vscode" | "jetbrains" | "reconnecting_pty" | "workspace_app" | "port_forwarding" | "tunnel"

export interface ConnectionWatchEvent {
  readonly error: {
    readonly code: number
    readonly retryable: boolean
    readonly message: string
  } | null
  readonly build_update?: {
    readonly transition: "start" | "stop" | "delete"
    readonly job_status: "pending" | "running" | "succeeded" | "canceling" | "canceled" | "failed" | "unknown"
  }
  readonly agent_update?: {
    readonly lifecycle: "created" | "starting" | "start_timeout" | "start_error" | "ready" | "shutting_down" | "shutdown_timeout" | "shutdown_error" | "off"
    /** A UUID. */
    readonly id: string
  }
}

export interface CryptoKey {
  readonly feature: CryptoKeyFeature
  readonly secret: string
  readonly sequence: number
  /** A time as RFC 3339 writes it. */
  readonly starts_at: string
  readonly deletes_at: string | null
}

export type CryptoKeyFeature = "workspace_apps_token" | "workspace_apps_api_key"

export interface CryptoKeysResponse {
  readonly crypto_keys: ReadonlyArray<CryptoKey>
}

export interface CustomRoleRequest {
  readonly name: string
  readonly display_name?: string | undefined
  /** At most 1000 items. */
  readonly site_permissions?: ReadonlyArray<RequestedPermission> | undefined
  /** At most 1000 items. */
  readonly user_permissions?: ReadonlyArray<RequestedPermission> | undefined
  /** At most 1000 items. */
  readonly organization_permissions?: ReadonlyArray<RequestedPermission> | undefined
  /** At most 1000 items. */
  readonly organization_member_permissions?: ReadonlyArray<RequestedPermission> | undefined
}

export interface DAUEntry {
  readonly date: string
  readonly amount: number
}

export interface DAUsResponse {
  readonly entries: ReadonlyArray<DAUEntry>
  readonly tz_hour_offset: number
}

export interface DERPHomeParams {
  readonly RegionScore?: Readonly<Record<string, number>>
}

export interface DERPMap {
  readonly HomeParams?: DERPHomeParams
  readonly Regions: Readonly<Record<string, DERPRegion>>
  readonly omitDefaultRegions?: boolean
}

export interface DERPNode {
  readonly Name: string
  readonly RegionID: number
  readonly HostName: string
  readonly CertName?: string
  readonly IPv4?: string
  readonly IPv6?: string
  readonly STUNPort?: number
  readonly STUNOnly?: boolean
  readonly DERPPort?: number
  readonly InsecureForTests?: boolean
  readonly ForceHTTP?: boolean
  readonly STUNTestIP?: string
  readonly CanPort80?: boolean
}

export interface DERPNodeReport {
  readonly healthy: boolean
  readonly severity: "ok" | "warning" | "error"
  readonly warnings: ReadonlyArray<HealthMessage>
  readonly error?: string
  readonly node: DERPNode
  readonly can_exchange_messages: boolean
  readonly round_trip_ping: string
  /** Milliseconds. */
  readonly round_trip_ping_ms: number
  readonly uses_websocket: boolean
  readonly client_logs: ReadonlyArray<ReadonlyArray<string>>
  readonly client_errs: ReadonlyArray<ReadonlyArray<string>>
  readonly stun: {
    readonly Enabled: boolean
    readonly CanSTUN: boolean
    readonly Error: string | null
  }
}

export interface DERPRegion {
  readonly EmbeddedRelay?: boolean
  readonly RegionID: number
  readonly RegionCode: string
  readonly RegionName: string
  readonly Avoid?: boolean
  readonly Nodes: ReadonlyArray<DERPNode>
}

export interface DERPRegionReport {
  readonly healthy: boolean
  readonly severity: "ok" | "warning" | "error"
  readonly warnings: ReadonlyArray<HealthMessage>
  readonly error?: string
  readonly region: DERPRegion
  readonly node_reports: ReadonlyArray<DERPNodeReport>
}

export interface DeleteExternalAuthByIDResponse {
  readonly token_revoked: boolean
  readonly token_revocation_error?: string
}

export interface DeploymentConfig {
  readonly config: Readonly<Record<string, unknown>>
  readonly options: ReadonlyArray<SerpentOption>
}

export interface DeploymentStats {
  /** A time as RFC 3339 writes it. */
  readonly aggregated_from: string
  /** A time as RFC 3339 writes it. */
  readonly collected_at: string
  /** A time as RFC 3339 writes it. */
  readonly next_update_at: string
  readonly workspaces: WorkspaceDeploymentStats
  readonly session_count: SessionCountDeploymentStats
}

export interface DynamicParametersRequest {
  readonly id?: number | undefined
  readonly inputs?: Readonly<Record<string, string>> | undefined
  /** A UUID. */
  readonly owner_id?: string | undefined
}

export interface DynamicParametersResponse {
  readonly id: number
  readonly diagnostics: ReadonlyArray<FriendlyDiagnostic>
  readonly parameters: ReadonlyArray<PreviewParameter>
}

export interface EndedWorkspaceBuild {
  /** A UUID. */
  readonly workspace_id: string
  readonly workspace_name: string
  /** A UUID. */
  readonly build_id: string
  readonly transition: "start" | "stop" | "delete"
  readonly job_status: "pending" | "running" | "succeeded" | "canceling" | "canceled" | "failed" | "unknown"
  readonly build_number: number
}

export interface Entitlements {
  readonly features: Readonly<Record<string, Feature>>
  readonly warnings: ReadonlyArray<string>
  readonly errors: ReadonlyArray<string>
  readonly has_license: boolean
  readonly trial: boolean
  readonly require_telemetry: boolean
  /** A time as RFC 3339 writes it. */
  readonly refreshed_at: string
}

export interface ExecResult {
  readonly exit_code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly stdout_truncated: boolean
  readonly stderr_truncated: boolean
  readonly timed_out: boolean
  /** Milliseconds. */
  readonly duration_ms: number
}

export interface ExternalAPIKeyScopes {
  readonly external: ReadonlyArray<"api_key:*" | "api_key:create" | "api_key:delete" | "api_key:read" | "api_key:update" | "coder:all" | "coder:apikeys.manage_self" | "coder:application_connect" | "coder:templates.author" | "coder:templates.build" | "coder:workspaces.access" | "coder:workspaces.create" | "coder:workspaces.delete" | "coder:workspaces.operate" | "file:*" | "file:create" | "file:read" | "organization:*" | "organization:delete" | "organization:read" | "organization:update" | "task:*" | "task:create" | "task:delete" | "task:read" | "task:update" | "template:*" | "template:create" | "template:delete" | "template:read" | "template:update" | "template:use" | "user:*" | "user:read" | "user:read_personal" | "user:update_personal" | "user_secret:*" | "user_secret:create" | "user_secret:delete" | "user_secret:read" | "user_secret:update" | "user_skill:*" | "user_skill:create" | "user_skill:delete" | "user_skill:read" | "user_skill:update" | "workspace:*" | "workspace:application_connect" | "workspace:create" | "workspace:delete" | "workspace:read" | "workspace:ssh" | "workspace:start" | "workspace:stop" | "workspace:update">
}

export interface ExternalAgentCredentials {
  readonly agent_token: string
  readonly command: string
}

export interface ExternalAuth {
  readonly authenticated: boolean
  readonly device: boolean
  readonly display_name: string
  readonly supports_revocation: boolean
  readonly user: ExternalAuthUser | null
  readonly app_installable: boolean
  readonly app_install_url: string
  readonly installations: ReadonlyArray<ExternalAuthAppInstallation>
}

export interface ExternalAuthAppInstallation {
  readonly id: number
  readonly account: ExternalAuthUser
  readonly configure_url: string
}

export interface ExternalAuthDevice {
  readonly device_code: string
  readonly user_code: string
  readonly verification_uri: string
  /** Seconds until the codes expire. */
  readonly expires_in: number
  /** Seconds to wait between two attempts to log in. */
  readonly interval: number
}

export interface ExternalAuthLink {
  readonly provider_id: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
  readonly has_refresh_token: boolean
  /** A time as RFC 3339 writes it. */
  readonly expires: string
  readonly authenticated: boolean
  readonly validate_error: string
}

export interface ExternalAuthLinkProvider {
  readonly id: string
  readonly type: string
  readonly device: boolean
  readonly display_name: string
  readonly display_icon: string
  readonly allow_refresh: boolean
  readonly allow_validate: boolean
  readonly supports_revocation: boolean
  readonly code_challenge_methods_supported: ReadonlyArray<string>
}

export interface ExternalAuthResponse {
  readonly access_token: string
  readonly type: string
  readonly token_extra: Readonly<Record<string, unknown>> | null
  /** A time as RFC 3339 writes it. */
  readonly expires_at: string
  readonly url: string
  readonly username: string
  readonly password: string
}

export interface ExternalAuthUser {
  readonly id: number
  readonly login: string
  readonly avatar_url: string
  readonly profile_url: string
  readonly name: string
}

export interface Feature {
  readonly entitlement: "entitled" | "grace_period" | "not_entitled"
  readonly enabled: boolean
  readonly limit?: number
  readonly actual?: number
  readonly usage_period?: {
    /** A time as RFC 3339 writes it. */
    readonly issued_at: string
    /** A time as RFC 3339 writes it. */
    readonly start: string
    /** A time as RFC 3339 writes it. */
    readonly end: string
  }
}

export interface FileChange {
  readonly path: string
  readonly kind: "created" | "changed" | "deleted"
}

export interface FileChanges {
  readonly events?: ReadonlyArray<FileChange>
  readonly type?: "overflow"
}

export interface FileEntry {
  readonly path: string
  readonly name: string
  readonly type: "file" | "directory" | "symlink" | "other"
  readonly size: number
  readonly mode: string
  readonly modified_at: string
  readonly etag: string
  readonly target?: string
}

export interface FileList {
  readonly entries: ReadonlyArray<FileEntry>
  readonly next?: string
}

export interface FileMatch {
  readonly path: string
  readonly line?: number
  readonly text?: string
}

export interface FileMatches {
  readonly matches: ReadonlyArray<FileMatch>
  readonly truncated: boolean
}

export interface FriendlyDiagnostic {
  readonly severity: "error" | "warning"
  readonly summary: string
  readonly detail: string
  readonly extra: {
    readonly code: "" | "required" | "owner_not_found" | "module_not_loaded"
  }
}

export interface GetInboxNotificationResponse {
  readonly notification: InboxNotification
  readonly unread_count: number
}

export interface GetUserStatusCountsResponse {
  readonly status_counts: Readonly<Record<string, ReadonlyArray<UserStatusChangeCount>>>
}

export interface GetUsersResponse {
  readonly users: ReadonlyArray<User>
  readonly count: number
}

export interface GitSSHKey {
  /** A UUID. */
  readonly user_id: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
  readonly public_key: string
}

export interface GithubAuthMethod {
  readonly enabled: boolean
  readonly default_provider_configured: boolean
}

export interface Group {
  /** A UUID. */
  readonly id: string
  /** A UUID. */
  readonly organization_id: string
  readonly name: string
  readonly display_name: string
  readonly avatar_url: string
  /** Credits that each member may spend a day in addition; 32 bits. */
  readonly quota_allowance: number
  readonly source: "user" | "oidc"
  readonly organization_name: string
  readonly organization_display_name: string
  readonly total_member_count: number
  readonly members: ReadonlyArray<ReducedUser>
}

export interface GroupAIBudget {
  /** A UUID. */
  readonly group_id: string
  /** Millionths of a unit of the currency. */
  readonly spend_limit_micros: number
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
}

export interface GroupAISpend {
  /** A time as RFC 3339 writes it. */
  readonly period_start: string
  /** A time as RFC 3339 writes it. */
  readonly period_end: string
  /** A UUID. */
  readonly group_id: string
  /** Millionths of a unit of the currency. */
  readonly spend_limit_micros: number | null
  /** Millionths of a unit of the currency. */
  readonly total_spend_limit_micros: number | null
  /** Millionths of a unit of the currency. */
  readonly current_spend_micros: number
}

export interface GroupMemberAISpend {
  /** A UUID. */
  readonly user_id: string
  readonly effective_group_id: string | null
  readonly group_budget: AIBudgetLimit | null
  /** Millionths of a unit of the currency. */
  readonly group_spend_micros: number
}

export interface GroupMembersAISpend {
  /** A time as RFC 3339 writes it. */
  readonly period_start: string
  /** A time as RFC 3339 writes it. */
  readonly period_end: string
  readonly members: ReadonlyArray<GroupMemberAISpend>
}

export interface GroupMembersResponse {
  readonly users: ReadonlyArray<ReducedUser>
  readonly count: number
}

export interface GroupSyncSettings {
  readonly field: string
  readonly mapping: Readonly<Record<string, ReadonlyArray<string>>>
  readonly regex_filter: string | null
  readonly auto_create_missing_groups: boolean
  readonly legacy_group_name_mapping?: Readonly<Record<string, string>>
}

export interface HealthDetails {
  readonly ok: boolean
  readonly background: ReadonlyArray<BackgroundWork>
  readonly workers: ReadonlyArray<WorkerHealth>
}

export interface HealthMessage {
  readonly code: string
  readonly message: string
}

export type HealthSection = "DERP" | "AccessURL" | "Websocket" | "Database" | "WorkspaceProxy" | "ProvisionerDaemons"

export interface HealthSettings {
  readonly dismissed_healthchecks: ReadonlyArray<HealthSection>
}

export interface HealthcheckReport {
  /** A time as RFC 3339 writes it. */
  readonly time: string
  readonly healthy: boolean
  readonly severity: "ok" | "warning" | "error"
  readonly coder_version: string
  readonly access_url: {
    readonly healthy: boolean
    readonly severity: "ok" | "warning" | "error"
    readonly warnings: ReadonlyArray<HealthMessage>
    readonly error?: string
    readonly dismissed: boolean
    readonly access_url: string
    readonly reachable: boolean
    readonly status_code: number
    readonly healthz_response: string
  }
  readonly database: {
    readonly healthy: boolean
    readonly severity: "ok" | "warning" | "error"
    readonly warnings: ReadonlyArray<HealthMessage>
    readonly error?: string
    readonly dismissed: boolean
    readonly reachable: boolean
    readonly latency: string
    /** Milliseconds. */
    readonly latency_ms: number
    /** Milliseconds. */
    readonly threshold_ms: number
  }
  readonly derp: {
    readonly healthy: boolean
    readonly severity: "ok" | "warning" | "error"
    readonly warnings: ReadonlyArray<HealthMessage>
    readonly error?: string
    readonly dismissed: boolean
    readonly regions: Readonly<Record<string, DERPRegionReport>>
    readonly netcheck_logs: ReadonlyArray<string>
  }
  readonly provisioner_daemons: {
    readonly healthy: boolean
    readonly severity: "ok" | "warning" | "error"
    readonly warnings: ReadonlyArray<HealthMessage>
    readonly error?: string
    readonly dismissed: boolean
    readonly items: ReadonlyArray<{
      readonly provisioner_daemon: {
        /** A UUID. */
        readonly id: string
        /** A time as RFC 3339 writes it. */
        readonly created_at: string
        /** A UUID. */
        readonly organization_id: string
        readonly name: string
        readonly provisioners: ReadonlyArray<"terraform" | "echo">
        readonly tags: Readonly<Record<string, string>>
        readonly version: string
        readonly api_version: string
        /** A UUID. */
        readonly key_id: string
        readonly last_seen_at: string | null
        readonly key_name: null
        readonly status: null
        readonly current_job: null
        readonly previous_job: null
      }
      readonly warnings: ReadonlyArray<HealthMessage>
    }>
  }
  readonly websocket: {
    readonly healthy: boolean
    readonly severity: "ok" | "warning" | "error"
    readonly warnings: ReadonlyArray<HealthMessage>
    readonly error?: string
    readonly dismissed: boolean
    readonly code: number
    readonly body: string
  }
  readonly workspace_proxy: {
    readonly healthy: boolean
    readonly severity: "ok" | "warning" | "error"
    readonly warnings: ReadonlyArray<HealthMessage>
    readonly error?: string
    readonly dismissed: boolean
    readonly workspace_proxies: WorkspaceProxies
  }
}

export interface InboxNotification {
  /** A UUID. */
  readonly id: string
  /** A UUID. */
  readonly user_id: string
  /** A UUID. */
  readonly template_id: string
  readonly targets: ReadonlyArray<string> | null
  readonly title: string
  readonly content: string
  readonly icon: string
  readonly actions: ReadonlyArray<{
    readonly label: string
    readonly url: string
  }>
  readonly read_at: string | null
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
}

export type InsightsReportInterval = "day" | "week"

export interface InvalidatePresetsResponse {
  readonly invalidated: ReadonlyArray<InvalidatedPreset>
}

export interface InvalidatedPreset {
  readonly template_name: string
  readonly template_version_name: string
  readonly preset_name: string
}

export interface IssueReconnectingPTYSignedTokenResponse {
  readonly signed_token: string
}

export interface License {
  readonly id: number
  /** A UUID. */
  readonly uuid: string
  /** A time as RFC 3339 writes it. */
  readonly uploaded_at: string
  readonly claims: Readonly<Record<string, unknown>>
}

export interface LinkConfig {
  readonly name: string
  readonly target: string
  readonly icon: string
  readonly location?: string
}

export interface ListInboxNotificationsResponse {
  readonly notifications: ReadonlyArray<InboxNotification>
  readonly unread_count: number
}

export interface ListUserExternalAuthResponse {
  readonly providers: ReadonlyArray<ExternalAuthLinkProvider>
  readonly links: ReadonlyArray<ExternalAuthLink>
}

export type LoginType = "" | "password" | "github" | "oidc" | "token" | "none"

export interface MatchedProvisioners {
  readonly count: number
  readonly available: number
  readonly most_recently_seen: string | null
}

export interface Message {
  readonly message: string
  readonly detail?: string
  readonly validations?: ReadonlyArray<{
    readonly field: string
    readonly detail: string
  }>
}

export interface MinimalOrganization {
  /** A UUID. */
  readonly id: string
  readonly name: string
  readonly display_name: string
  readonly icon: string
}

export interface MinimalUser {
  /** A UUID. */
  readonly id: string
  readonly username: string
  readonly name?: string
  readonly avatar_url?: string
}

export interface NotificationMethodsResponse {
  readonly available: ReadonlyArray<string>
  readonly default: string
}

export interface NotificationPreference {
  /** A UUID. */
  readonly id: string
  readonly disabled: boolean
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
}

export interface NotificationTemplate {
  /** A UUID. */
  readonly id: string
  readonly name: string
  readonly title_template: string
  readonly body_template: string
  readonly actions: string
  readonly group: string
  readonly method: string
  readonly kind: "system" | "custom"
  readonly enabled_by_default: boolean
}

export interface NotificationsSettings {
  readonly notifier_paused: boolean
}

export interface OAuth2AppEndpoints {
  readonly authorization: string
  readonly token: string
  readonly token_revoke: string
  readonly device_authorization: string
}

export interface OAuth2DeviceFlowCallbackResponse {
  readonly redirect_url: string
}

export interface OAuth2ProviderApp {
  /** A UUID. */
  readonly id: string
  readonly name: string
  readonly callback_url: string
  readonly icon: string
  readonly endpoints: OAuth2AppEndpoints
}

export interface OAuth2ProviderAppSecret {
  /** A UUID. */
  readonly id: string
  readonly last_used_at: string | null
  readonly client_secret_truncated: string
}

export interface OAuth2ProviderSettings {
  readonly dynamic_client_registration_enabled: boolean
}

export interface OIDCAuthMethod {
  readonly enabled: boolean
  readonly signInText: string
  readonly iconUrl: string
}

export interface OIDCClaimsResponse {
  readonly claims: Readonly<Record<string, unknown>>
}

export interface OIDCLinkClaims {
  readonly id_token_claims: Readonly<Record<string, unknown>>
  readonly user_info_claims: Readonly<Record<string, unknown>>
  readonly merged_claims: Readonly<Record<string, unknown>>
}

export interface Organization {
  /** A UUID. */
  readonly id: string
  readonly name: string
  readonly display_name: string
  readonly description: string
  readonly icon: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
  readonly is_default: boolean
  readonly default_org_member_roles: ReadonlyArray<string>
}

export interface OrganizationGroupAISpend {
  /** A UUID. */
  readonly group_id: string
  /** Millionths of a unit of the currency. */
  readonly spend_limit_micros: number | null
  /** Millionths of a unit of the currency. */
  readonly total_spend_limit_micros: number | null
  /** Millionths of a unit of the currency. */
  readonly current_spend_micros: number
}

export interface OrganizationGroupsAISpend {
  /** A time as RFC 3339 writes it. */
  readonly period_start: string
  /** A time as RFC 3339 writes it. */
  readonly period_end: string
  readonly groups: ReadonlyArray<OrganizationGroupAISpend>
}

export interface OrganizationMember {
  /** A UUID. */
  readonly user_id: string
  /** A UUID. */
  readonly organization_id: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
  readonly roles: ReadonlyArray<SlimRole>
}

export interface OrganizationMemberWithUserData {
  /** A UUID. */
  readonly user_id: string
  /** A UUID. */
  readonly organization_id: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
  readonly roles: ReadonlyArray<SlimRole>
  readonly username: string
  readonly avatar_url?: string
  readonly name?: string
  readonly email: string
  readonly global_roles: ReadonlyArray<SlimRole>
  readonly has_ai_seat: boolean
  readonly is_service_account?: boolean
  /** A time as RFC 3339 writes it. */
  readonly last_seen_at: string
  readonly login_type: LoginType
  readonly status: UserStatus
  /** A time as RFC 3339 writes it. */
  readonly user_created_at: string
  /** A time as RFC 3339 writes it. */
  readonly user_updated_at: string
}

export interface OrganizationSyncSettings {
  readonly field: string
  readonly mapping: Readonly<Record<string, ReadonlyArray<string>>>
  readonly organization_assign_default: boolean
}

export interface PaginatedGroup {
  /** A UUID. */
  readonly id: string
  /** A UUID. */
  readonly organization_id: string
  readonly name: string
  readonly display_name: string
  readonly avatar_url: string
  /** Credits that each member may spend a day in addition; 32 bits. */
  readonly quota_allowance: number
  readonly source: "user" | "oidc"
  readonly organization_name: string
  readonly organization_display_name: string
  readonly total_member_count: number
}

export interface PaginatedGroupsResponse {
  readonly groups: ReadonlyArray<PaginatedGroup>
  readonly count: number
}

export interface PaginatedMembersResponse {
  readonly members: ReadonlyArray<OrganizationMemberWithUserData>
  readonly count: number
}

export interface Permission {
  readonly negate: boolean
  readonly resource_type: "*" | "ai_gateway_key" | "ai_model_price" | "ai_provider" | "ai_seat" | "aibridge_interception" | "api_key" | "assign_org_role" | "assign_role" | "audit_log" | "boundary_log" | "boundary_usage" | "chat" | "connection_log" | "crypto_key" | "debug_info" | "deployment_config" | "deployment_stats" | "file" | "group" | "group_member" | "idpsync_settings" | "inbox_notification" | "license" | "mcp_server_config" | "notification_message" | "notification_preference" | "notification_template" | "oauth2_app" | "oauth2_app_code_token" | "oauth2_app_secret" | "organization" | "organization_member" | "prebuilt_workspace" | "provisioner_daemon" | "provisioner_jobs" | "replicas" | "system" | "tailnet_coordinator" | "task" | "template" | "usage_event" | "user" | "user_secret" | "user_skill" | "webpush_subscription" | "workspace" | "workspace_agent_devcontainers" | "workspace_agent_resource_monitor" | "workspace_build_orchestration" | "workspace_dormant" | "workspace_proxy"
  readonly action: "application_connect" | "assign" | "create" | "create_agent" | "delete" | "delete_agent" | "read" | "read_personal" | "share" | "ssh" | "start" | "stop" | "unassign" | "update" | "update_agent" | "update_personal" | "use" | "view_insights" | "*"
}

export interface PrebuildsSettings {
  readonly reconciliation_paused: boolean
}

export interface Preset {
  /** A UUID. */
  readonly ID: string
  readonly Name: string
  readonly Default: boolean
  readonly DesiredPrebuildInstances: number
  readonly Description: string
  readonly Icon: string
  readonly Parameters: ReadonlyArray<PresetParameter>
  /** A UUID. */
  readonly id: string
  readonly name: string
  readonly parameters: ReadonlyArray<PresetParameter>
  readonly default: boolean
  readonly desiredPrebuildInstances: number
  readonly description: string
  readonly icon: string
}

export interface PresetParameter {
  readonly Name: string
  readonly Value: string
  readonly name: string
  readonly value: string
}

export interface PreviewParameter {
  readonly name: string
  readonly display_name: string
  readonly description: string
  readonly type: "string" | "number" | "bool" | "list(string)"
  readonly form_type: "" | "radio" | "slider" | "input" | "dropdown" | "checkbox" | "switch" | "multi-select" | "tag-select" | "textarea" | "error"
  readonly styling: PreviewParameterStyling
  readonly mutable: boolean
  readonly default_value: {
    readonly value: string
    readonly valid: boolean
  }
  readonly icon: string
  readonly options: ReadonlyArray<PreviewParameterOption>
  readonly validations: ReadonlyArray<PreviewParameterValidation>
  readonly required: boolean
  readonly order: number
  readonly ephemeral: boolean
  readonly value: {
    readonly value: string
    readonly valid: boolean
  }
  readonly diagnostics: ReadonlyArray<FriendlyDiagnostic>
}

export interface PreviewParameterOption {
  readonly name: string
  readonly description: string
  readonly value: {
    readonly value: string
    readonly valid: boolean
  }
  readonly icon: string
}

export interface PreviewParameterStyling {
  readonly placeholder?: string
  readonly disabled?: boolean
  readonly label?: string
  readonly mask_input?: boolean
}

export interface PreviewParameterValidation {
  readonly validation_error: string
  readonly validation_regex: string | null
  readonly validation_min: number | null
  readonly validation_max: number | null
  readonly validation_monotonic: string | null
}

export interface Process {
  readonly id: string
  readonly pid: number
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  readonly status: "running" | "exited"
  readonly exit_code: number | null
  readonly signal: string | null
  /** A time as RFC 3339 writes it. */
  readonly started_at: string
  readonly ended_at: string | null
  readonly pty: boolean
  /** The offset of the first byte of output that is kept. Offsets count both channels together. */
  readonly output_start: number
  /** The offset behind the last byte of output. */
  readonly output_end: number
}

export interface ProcessList {
  readonly processes: ReadonlyArray<Process>
}

export interface ProvisionerDaemon {
  /** A UUID. */
  readonly id: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A UUID. */
  readonly organization_id: string
  readonly name: string
  readonly provisioners: ReadonlyArray<"terraform" | "echo">
  readonly tags: Readonly<Record<string, string>>
  readonly version: string
  readonly api_version: string
  /** A UUID. */
  readonly key_id: string
  /** A time as RFC 3339 writes it. */
  readonly last_seen_at?: string
  readonly key_name: string
  readonly status: "offline" | "idle" | "busy"
  readonly current_job: {
    /** A UUID. */
    readonly id: string
    readonly status: "pending" | "running" | "succeeded" | "canceling" | "canceled" | "failed" | "unknown"
    readonly template_name: string
    readonly template_icon: string
    readonly template_display_name: string
  } | null
  readonly previous_job: {
    /** A UUID. */
    readonly id: string
    readonly status: "pending" | "running" | "succeeded" | "canceling" | "canceled" | "failed" | "unknown"
    readonly template_name: string
    readonly template_icon: string
    readonly template_display_name: string
  } | null
}

export interface ProvisionerJob {
  /** A UUID. */
  readonly id: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly started_at?: string
  /** A time as RFC 3339 writes it. */
  readonly completed_at?: string
  /** A time as RFC 3339 writes it. */
  readonly canceled_at?: string
  readonly error?: string
  readonly error_code?: string
  readonly status: "pending" | "running" | "succeeded" | "canceling" | "canceled" | "failed" | "unknown"
  /** A UUID. */
  readonly worker_id?: string
  readonly worker_name?: string
  /** A UUID. */
  readonly file_id: string
  readonly tags: Readonly<Record<string, string>>
  readonly queue_position: number
  readonly queue_size: number
  /** A UUID. */
  readonly organization_id: string
  /** A UUID. */
  readonly initiator_id: string
  readonly input: {
    /** A UUID. */
    readonly template_version_id?: string
    /** A UUID. */
    readonly workspace_build_id?: string
  }
  readonly type: "template_version_import" | "workspace_build" | "template_version_dry_run"
  readonly available_workers?: ReadonlyArray<string>
  readonly metadata: {
    readonly template_version_name: string
    /** A UUID. */
    readonly template_id: string
    readonly template_name: string
    readonly template_display_name: string
    readonly template_icon: string
    /** A UUID. */
    readonly workspace_id?: string
    readonly workspace_name?: string
    readonly workspace_build_transition?: "start" | "stop" | "delete"
  }
  readonly logs_overflowed: boolean
}

export interface ProvisionerJobLog {
  readonly id: number
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  readonly log_source: "provisioner_daemon" | "provisioner"
  readonly log_level: "trace" | "debug" | "info" | "warn" | "error"
  readonly stage: string
  readonly output: string
}

export interface ProvisionerKey {
  /** A UUID. */
  readonly id: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A UUID. */
  readonly organization: string
  readonly name: string
  readonly tags: Readonly<Record<string, string>>
}

export interface ProvisionerKeyDaemon {
  /** A UUID. */
  readonly id: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A UUID. */
  readonly organization_id: string
  readonly name: string
  readonly provisioners: ReadonlyArray<"terraform" | "echo">
  readonly tags: Readonly<Record<string, string>>
  readonly version: string
  readonly api_version: string
  /** A UUID. */
  readonly key_id: string
  /** A time as RFC 3339 writes it. */
  readonly last_seen_at?: string
  readonly key_name: string | null
  readonly status: "offline" | "idle" | "busy" | null
  readonly current_job: {
    /** A UUID. */
    readonly id: string
    readonly status: "pending" | "running" | "succeeded" | "canceling" | "canceled" | "failed" | "unknown"
    readonly template_name: string
    readonly template_icon: string
    readonly template_display_name: string
  } | null
  readonly previous_job: {
    /** A UUID. */
    readonly id: string
    readonly status: "pending" | "running" | "succeeded" | "canceling" | "canceled" | "failed" | "unknown"
    readonly template_name: string
    readonly template_icon: string
    readonly template_display_name: string
  } | null
}

export interface ProvisionerKeyDaemons {
  readonly key: ProvisionerKey
  readonly daemons: ReadonlyArray<ProvisionerKeyDaemon>
}

export interface ProvisionerTiming {
  /** A UUID. */
  readonly job_id: string
  /** A time as RFC 3339 writes it. */
  readonly started_at: string
  /** A time as RFC 3339 writes it. */
  readonly ended_at: string
  readonly stage: "init" | "plan" | "graph" | "apply"
  readonly source: string
  readonly action: string
  readonly resource: string
}

export interface ProxyHealthReport {
  readonly errors: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
}

export interface ReadNotification {
  readonly notification: InboxNotification
  readonly unread_count: number
  readonly message: string
  readonly detail?: string
  readonly validations?: ReadonlyArray<{
    readonly field: string
    readonly detail: string
  }>
}

export interface ReducedUser {
  /** A UUID. */
  readonly id: string
  readonly username: string
  readonly avatar_url?: string
  readonly name?: string
  readonly email: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
  /** A time as RFC 3339 writes it. */
  readonly last_seen_at: string
  readonly status: UserStatus
  readonly login_type: LoginType
  readonly theme_preference?: string
  readonly is_service_account?: boolean
}

export interface Region {
  /** A UUID. */
  readonly id: string
  readonly name: string
  readonly display_name: string
  readonly icon_url: string
  readonly healthy: boolean
  readonly path_app_url: string
  readonly wildcard_hostname: string
}

export interface RegionsResponse {
  readonly regions: ReadonlyArray<Region>
}

export interface ReinitializationEvent {
  /** A UUID. */
  readonly workspace_id: string
  readonly reason: "prebuild_claimed"
  /** A UUID. */
  readonly owner_id: string
}

export interface Replica {
  /** A UUID. */
  readonly id: string
  readonly hostname: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  readonly relay_address: string
  readonly region_id: number
  readonly error: string
  /** Microseconds that a statement took. */
  readonly database_latency: number
}

export interface RequestedPermission {
  readonly negate?: boolean | undefined
  readonly resource_type?: string | undefined
  readonly action?: string | undefined
}

export interface ResolveAutostartResponse {
  readonly parameter_mismatch: boolean
}

export type ResourceType = "template" | "template_version" | "user" | "workspace" | "workspace_build" | "git_ssh_key" | "api_key" | "group" | "license" | "convert_login" | "health_settings" | "notifications_settings" | "prebuilds_settings" | "oauth2_provider_settings" | "workspace_proxy" | "organization" | "oauth2_provider_app" | "oauth2_provider_app_secret" | "custom_role" | "organization_member" | "notification_template" | "idp_sync_settings_organization" | "idp_sync_settings_group" | "idp_sync_settings_role" | "workspace_agent" | "workspace_app" | "task" | "ai_seat" | "ai_provider" | "ai_provider_key" | "ai_gateway_key" | "group_ai_budget" | "user_ai_budget_override" | "chat" | "mcp_server_config" | "user_secret" | "user_ssh_key" | "user_skill" | "chat_instruction_settings"

export interface Role {
  readonly name: string
  readonly display_name: string
  readonly organization_id?: string
  readonly site_permissions: ReadonlyArray<Permission>
  readonly user_permissions: ReadonlyArray<Permission>
  readonly organization_permissions: ReadonlyArray<Permission>
  readonly organization_member_permissions: ReadonlyArray<Permission>
}

export interface RoleSyncSettings {
  readonly field: string
  readonly mapping: Readonly<Record<string, ReadonlyArray<string>>>
}

export interface SCIMCreatedUser {
  readonly userName: string
  readonly name?: {
    readonly formatted?: string | undefined
    readonly givenName?: string | undefined
    readonly familyName?: string | undefined
  } | undefined
  readonly displayName?: string | undefined
  /** At most 1000 items. */
  readonly emails?: ReadonlyArray<{
    readonly value?: string | undefined
    readonly primary?: boolean | string | undefined
    readonly type?: string | undefined
    readonly display?: string | undefined
  }> | undefined
  readonly active?: boolean | string | undefined
  /** At most 1000 items. */
  readonly schemas?: ReadonlyArray<string> | undefined
  readonly id?: unknown | undefined
  readonly groups?: unknown | undefined
  readonly meta?: unknown | undefined
}

export interface SCIMError {
  readonly schemas: ReadonlyArray<string>
  readonly status: string
  readonly scimType?: string
  readonly detail: string
}

export interface SCIMPatch {
  /** At most 1000 items. */
  readonly schemas?: ReadonlyArray<string> | undefined
  /** At most 1000 items. */
  readonly Operations?: ReadonlyArray<{
    readonly op?: string | undefined
    readonly path?: string | undefined
    readonly value?: unknown | undefined
  }> | undefined
}

export interface SCIMReplacedUser {
  readonly userName?: string | undefined
  readonly name?: {
    readonly formatted?: string | undefined
    readonly givenName?: string | undefined
    readonly familyName?: string | undefined
  } | undefined
  readonly displayName?: string | undefined
  /** At most 1000 items. */
  readonly emails?: ReadonlyArray<{
    readonly value?: string | undefined
    readonly primary?: boolean | string | undefined
    readonly type?: string | undefined
    readonly display?: string | undefined
  }> | undefined
  readonly active: boolean | string
  /** At most 1000 items. */
  readonly schemas?: ReadonlyArray<string> | undefined
  readonly id?: unknown | undefined
  readonly groups?: unknown | undefined
  readonly meta?: unknown | undefined
}

export interface SCIMResourceType {
  readonly schemas: ReadonlyArray<string>
  readonly id: string
  readonly name: string
  readonly description: string
  readonly endpoint: string
  readonly schema: string
  readonly meta: {
    readonly resourceType: string
    readonly location: string
  }
}

export interface SCIMSchema {
  readonly schemas: ReadonlyArray<string>
  readonly id: string
  readonly name: string
  readonly description: string
  readonly attributes: ReadonlyArray<{
    readonly name: string
    readonly type: string
    readonly multiValued: boolean
    readonly description: string
    readonly required: boolean
    readonly mutability: string
    readonly returned: string
    readonly caseExact?: boolean
    readonly uniqueness?: string
    readonly subAttributes?: ReadonlyArray<{
      readonly name: string
      readonly type: string
      readonly multiValued: boolean
      readonly description: string
      readonly required: boolean
      readonly mutability: string
      readonly returned: string
      readonly caseExact?: boolean
      readonly uniqueness?: string
    }>
  }>
  readonly meta: {
    readonly resourceType: string
    readonly location: string
  }
}

export interface SCIMUser {
  readonly schemas: ReadonlyArray<string>
  /** A UUID. */
  readonly id: string
  readonly userName: string
  readonly name: {
    readonly formatted: string
  }
  readonly displayName: string
  readonly emails: ReadonlyArray<{
    readonly value: string
    readonly type: string
    readonly primary: boolean
  }>
  readonly active: boolean
  readonly meta: {
    readonly resourceType: string
    readonly location: string
    /** A time as RFC 3339 writes it. */
    readonly created: string
    /** A time as RFC 3339 writes it. */
    readonly lastModified: string
  }
}

export interface SSHConfigResponse {
  readonly hostname_prefix: string
  readonly hostname_suffix: string
  readonly ssh_config_options: Readonly<Record<string, string>>
}

export type SecretsFileFormat = "env" | "json" | "yaml"

export interface SerpentGroup {
  readonly name: string
  readonly yaml?: string
  readonly parent?: unknown
}

export interface SerpentOption {
  readonly name: string
  readonly description: string
  readonly flag: string
  readonly flag_shorthand?: string
  readonly env?: string
  readonly yaml?: string
  readonly default?: string
  readonly value?: unknown
  readonly annotations?: Readonly<Record<string, string>>
  readonly group?: SerpentGroup
  readonly use_instead?: ReadonlyArray<unknown>
  readonly hidden?: boolean
  readonly value_source?: string
}

export interface SessionCountDeploymentStats {
  readonly vscode: number
  readonly ssh: number
  readonly jetbrains: number
  readonly reconnecting_pty: number
}

export interface SharedWorkspaceActor {
  readonly actor_type: "user" | "group"
  /** A UUID. */
  readonly id: string
  readonly name: string
  readonly avatar_url?: string
  readonly roles: ReadonlyArray<"admin" | "use" | "">
}

export interface SignedAppRequest {
  readonly access_method: "path" | "subdomain" | "terminal"
  readonly base_path?: string | undefined
  readonly app_prefix?: string | undefined
  readonly username_or_id?: string | undefined
  readonly workspace_name_or_id?: string | undefined
  readonly agent_name_or_id?: string | undefined
  readonly app_slug_or_port?: string | undefined
}

export interface SlimRole {
  readonly name: string
  readonly display_name: string
  readonly organization_id?: string
}

export interface Task {
  /** A UUID. */
  readonly id: string
  /** A UUID. */
  readonly organization_id: string
  /** A UUID. */
  readonly owner_id: string
  readonly owner_name: string
  readonly owner_avatar_url?: string
  readonly name: string
  readonly display_name: string
  /** A UUID. */
  readonly template_id: string
  /** A UUID. */
  readonly template_version_id: string
  readonly template_name: string
  readonly template_display_name: string
  readonly template_icon: string
  readonly workspace_id: {
    /** A UUID. */
    readonly uuid: string
    readonly valid: boolean
  }
  readonly workspace_name: string
  readonly workspace_status?: "pending" | "starting" | "running" | "stopping" | "stopped" | "failed" | "canceling" | "canceled" | "deleting" | "deleted"
  readonly workspace_build_number?: number
  readonly workspace_agent_id: {
    /** A UUID. */
    readonly uuid: string
    readonly valid: boolean
  }
  readonly workspace_agent_lifecycle: "created" | "starting" | "start_timeout" | "start_error" | "ready" | "shutting_down" | "shutdown_timeout" | "shutdown_error" | "off" | null
  readonly workspace_agent_health: WorkspaceAgentHealth | null
  readonly workspace_app_id: {
    /** A UUID. */
    readonly uuid: string
    readonly valid: boolean
  }
  readonly initial_prompt: string
  readonly status: "pending" | "initializing" | "active" | "paused" | "unknown" | "error"
  readonly current_state: TaskStateEntry | null
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
}

export interface TaskLogEntry {
  readonly id: number
  readonly content: string
  readonly type: "input" | "output"
  /** A time as RFC 3339 writes it. */
  readonly time: string
}

export interface TaskLogsResponse {
  readonly logs: ReadonlyArray<TaskLogEntry>
  readonly snapshot?: boolean
  /** A time as RFC 3339 writes it. */
  readonly snapshot_at?: string
}

export interface TaskStateEntry {
  /** A time as RFC 3339 writes it. */
  readonly timestamp: string
  readonly state: "working" | "idle" | "complete" | "failed"
  readonly message: string
  readonly uri: string
}

export interface TasksListResponse {
  readonly tasks: ReadonlyArray<Task>
  readonly count: number
}

export interface Template {
  /** A UUID. */
  readonly id: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
  /** A UUID. */
  readonly organization_id: string
  readonly organization_name: string
  readonly organization_display_name: string
  readonly organization_icon: string
  readonly name: string
  readonly display_name: string
  readonly description: string
  readonly icon: string
  readonly provisioner: "terraform" | "echo"
  /** A UUID. */
  readonly active_version_id: string
  readonly active_user_count: number
  readonly build_time_stats: {
    readonly start: {
      readonly P50: number | null
      readonly P95: number | null
      readonly p50: number | null
      readonly p95: number | null
    }
    readonly stop: {
      readonly P50: number | null
      readonly P95: number | null
      readonly p50: number | null
      readonly p95: number | null
    }
    readonly delete: {
      readonly P50: number | null
      readonly P95: number | null
      readonly p50: number | null
      readonly p95: number | null
    }
  }
  /** A UUID. */
  readonly created_by_id: string
  readonly created_by_name: string
  /** Milliseconds. */
  readonly default_ttl_ms: number
  /** Milliseconds. */
  readonly activity_bump_ms: number
  /** Milliseconds. */
  readonly time_til_autostop_notify_ms: number
  readonly autostop_requirement: {
    readonly days_of_week: ReadonlyArray<"monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday">
    readonly weeks: number
  }
  readonly autostart_requirement: {
    readonly days_of_week: ReadonlyArray<"monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday">
  }
  readonly allow_user_autostart: boolean
  readonly allow_user_autostop: boolean
  readonly allow_user_cancel_workspace_jobs: boolean
  /** Milliseconds. */
  readonly failure_ttl_ms: number
  /** Milliseconds. */
  readonly time_til_dormant_ms: number
  /** Milliseconds. */
  readonly time_til_dormant_autodelete_ms: number
  readonly require_active_version: boolean
  readonly deprecated: boolean
  readonly deprecation_message: string
  readonly deleted: boolean
  readonly max_port_share_level: "owner" | "organization" | "authenticated" | "public"
  readonly cors_behavior: "simple" | "passthru"
  readonly use_classic_parameter_flow: boolean
  readonly disable_module_cache: boolean
  readonly agents_allowed: boolean
}

export interface TemplateACL {
  readonly users: ReadonlyArray<TemplateUser>
  readonly group: ReadonlyArray<TemplateGroup>
}

export interface TemplateAppUsage {
  readonly template_ids: ReadonlyArray<string>
  readonly type: TemplateAppsType
  readonly display_name: string
  readonly slug: string
  readonly icon: string
  readonly seconds: number
  readonly times_used: number
}

export type TemplateAppsType = "builtin" | "app"

export interface TemplateBuilderBase {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly icon: string
  readonly os: string
  readonly variables: ReadonlyArray<TemplateBuilderModuleVariable>
  readonly prerequisites: string
}

export interface TemplateBuilderBasesResponse {
  readonly bases: ReadonlyArray<TemplateBuilderBase>
}

export interface TemplateBuilderModule {
  readonly id: string
  readonly display_name: string
  readonly description: string
  readonly icon: string
  readonly category: string
  readonly version: string
  readonly compatible_os: ReadonlyArray<string>
  readonly conflicts_with: ReadonlyArray<string>
  readonly variables: ReadonlyArray<TemplateBuilderModuleVariable>
}

export interface TemplateBuilderModuleVariable {
  readonly name: string
  readonly type: "string" | "number" | "bool"
  readonly description: string
  readonly default?: string | number | boolean | null
  readonly required: boolean
  readonly sensitive: boolean
}

export interface TemplateBuilderModulesResponse {
  readonly modules: ReadonlyArray<TemplateBuilderModule>
}

export interface TemplateExample {
  readonly id: string
  readonly url: string
  readonly name: string
  readonly description: string
  readonly icon: string
  readonly tags: ReadonlyArray<string>
  readonly markdown: string
}

export interface TemplateGroup {
  /** A UUID. */
  readonly id: string
  /** A UUID. */
  readonly organization_id: string
  readonly name: string
  readonly display_name: string
  readonly avatar_url: string
  /** Credits that each member may spend a day in addition; 32 bits. */
  readonly quota_allowance: number
  readonly source: "user" | "oidc"
  readonly organization_name: string
  readonly organization_display_name: string
  readonly total_member_count: number
  readonly members: ReadonlyArray<ReducedUser>
  readonly role: "admin" | "use" | ""
}

export interface TemplateInsightsIntervalReport {
  /** A time as RFC 3339 writes it. */
  readonly start_time: string
  /** A time as RFC 3339 writes it. */
  readonly end_time: string
  readonly template_ids: ReadonlyArray<string>
  readonly interval: InsightsReportInterval
  readonly active_users: number
}

export interface TemplateInsightsReport {
  /** A time as RFC 3339 writes it. */
  readonly start_time: string
  /** A time as RFC 3339 writes it. */
  readonly end_time: string
  readonly template_ids: ReadonlyArray<string>
  readonly active_users: number
  readonly apps_usage: ReadonlyArray<TemplateAppUsage>
  readonly parameters_usage: ReadonlyArray<TemplateParameterUsage>
}

export interface TemplateInsightsResponse {
  readonly interval_reports?: ReadonlyArray<TemplateInsightsIntervalReport>
  readonly report?: TemplateInsightsReport
}

export interface TemplateParameterUsage {
  readonly template_ids: ReadonlyArray<string>
  readonly name: string
  readonly display_name: string
  readonly type: string
  readonly description: string
  readonly options?: ReadonlyArray<{
    readonly name: string
    readonly description: string
    readonly value: string
    readonly icon: string
  }>
  readonly values: ReadonlyArray<TemplateParameterValue>
}

export interface TemplateParameterValue {
  readonly value: string
  readonly count: number
}

export interface TemplateUser {
  /** A UUID. */
  readonly id: string
  readonly username: string
  readonly avatar_url?: string
  readonly name?: string
  readonly email: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
  /** A time as RFC 3339 writes it. */
  readonly last_seen_at: string
  readonly status: UserStatus
  readonly login_type: LoginType
  readonly theme_preference?: string
  readonly organization_ids: ReadonlyArray<string>
  readonly roles: ReadonlyArray<SlimRole>
  readonly has_ai_seat: boolean
  readonly is_service_account?: boolean
  readonly role: "admin" | "use" | ""
}

export interface TemplateVersion {
  /** A UUID. */
  readonly id: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
  /** A UUID. */
  readonly organization_id: string
  /** A UUID. */
  readonly template_id: string
  readonly name: string
  readonly message: string
  readonly readme: string
  readonly archived: boolean
  readonly has_external_agent: boolean
  readonly engine?: string
  readonly created_by: MinimalUser
  readonly job: ProvisionerJob
  readonly matched_provisioners?: MatchedProvisioners
  readonly warnings?: ReadonlyArray<"UNSUPPORTED_WORKSPACES">
}

export interface TemplateVersionExternalAuth {
  readonly id: string
  readonly type: string
  readonly display_name: string
  readonly display_icon: string
  readonly authenticate_url: string
  readonly authenticated: boolean
  readonly optional?: boolean
}

export interface TemplateVersionParameter {
  readonly name: string
  readonly display_name?: string
  readonly description: string
  readonly description_plaintext: string
  readonly type: string
  readonly form_type: string
  readonly mutable: boolean
  readonly default_value: string
  readonly icon: string
  readonly options: ReadonlyArray<{
    readonly name: string
    readonly description: string
    readonly value: string
    readonly icon: string
  }>
  readonly validation_error?: string
  readonly validation_regex?: string
  readonly validation_min?: number
  readonly validation_max?: number
  readonly validation_monotonic?: string
  readonly required: boolean
  readonly ephemeral: boolean
}

export interface TemplateVersionVariable {
  readonly name: string
  readonly description: string
  readonly type: string
  readonly value: string
  readonly default_value: string
  readonly required: boolean
  readonly sensitive: boolean
}

export interface TokenConfig {
  /** Nanoseconds. */
  readonly max_token_lifetime: number
}

export interface UnpackedArchive {
  readonly entries: number
  readonly bytes: number
}

export interface UpdateAppearanceConfig {
  readonly application_name: string
  readonly logo_url: string
  readonly announcement_banners: ReadonlyArray<BannerConfig>
  readonly service_banner: BannerConfig
}

export interface UpdateCheckResponse {
  readonly current: boolean
  readonly version: string
  readonly url: string
}

export interface User {
  /** A UUID. */
  readonly id: string
  readonly username: string
  readonly avatar_url?: string
  readonly name?: string
  readonly email: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
  /** A time as RFC 3339 writes it. */
  readonly last_seen_at: string
  readonly status: UserStatus
  readonly login_type: LoginType
  readonly theme_preference?: string
  readonly organization_ids: ReadonlyArray<string>
  readonly roles: ReadonlyArray<SlimRole>
  readonly has_ai_seat: boolean
  readonly is_service_account?: boolean
}

export interface UserAIBudgetOverride {
  /** A UUID. */
  readonly user_id: string
  /** A UUID. */
  readonly group_id: string
  /** Millionths of a unit of the currency. */
  readonly spend_limit_micros: number
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
}

export interface UserAISpendStatus {
  /** A UUID. */
  readonly user_id: string
  readonly effective_group_id: string | null
  readonly effective_budget: AIBudgetLimit | null
  /** A time as RFC 3339 writes it. */
  readonly period_start: string
  /** A time as RFC 3339 writes it. */
  readonly period_end: string
  /** Millionths of a unit of the currency. */
  readonly current_spend_micros: number
}

export interface UserActivity {
  readonly template_ids: ReadonlyArray<string>
  /** A UUID. */
  readonly user_id: string
  readonly username: string
  readonly avatar_url: string
  readonly seconds: number
}

export interface UserActivityInsightsReport {
  /** A time as RFC 3339 writes it. */
  readonly start_time: string
  /** A time as RFC 3339 writes it. */
  readonly end_time: string
  readonly template_ids: ReadonlyArray<string>
  readonly users: ReadonlyArray<UserActivity>
}

export interface UserActivityInsightsResponse {
  readonly report: UserActivityInsightsReport
}

export interface UserAppearanceSettings {
  readonly theme_preference: string
  readonly theme_mode: string
  readonly theme_light: string
  readonly theme_dark: string
  readonly terminal_font: string
}

export interface UserLatency {
  readonly template_ids: ReadonlyArray<string>
  /** A UUID. */
  readonly user_id: string
  readonly username: string
  readonly avatar_url: string
  /** Milliseconds. */
  readonly latency_ms: ConnectionLatency
}

export interface UserLatencyInsightsReport {
  /** A time as RFC 3339 writes it. */
  readonly start_time: string
  /** A time as RFC 3339 writes it. */
  readonly end_time: string
  readonly template_ids: ReadonlyArray<string>
  readonly users: ReadonlyArray<UserLatency>
}

export interface UserLatencyInsightsResponse {
  readonly report: UserLatencyInsightsReport
}

export interface UserLoginType {
  readonly login_type: LoginType
}

export interface UserParameter {
  readonly name: string
  readonly value: string
}

export interface UserPreferenceSettings {
  readonly task_notification_alert_dismissed: boolean
  readonly thinking_display_mode: string
  readonly shell_tool_display_mode: string
  readonly code_diff_display_mode: string
  readonly agent_chat_send_shortcut: string
}

export interface UserQuietHoursScheduleResponse {
  readonly raw_schedule: string
  readonly user_set: boolean
  readonly user_can_set: boolean
  readonly time: string
  readonly timezone: string
  /** A time as RFC 3339 writes it. */
  readonly next: string
}

export interface UserRoles {
  readonly roles: ReadonlyArray<string>
  readonly organization_roles: Readonly<Record<string, ReadonlyArray<string>>>
}

export interface UserSecret {
  /** A UUID. */
  readonly id: string
  readonly name: string
  readonly description: string
  readonly env_name: string
  readonly file_path: string
  readonly enabled: boolean
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
}

export interface UserSshKey {
  /** A UUID. */
  readonly id: string
  /** A UUID. */
  readonly user_id: string
  readonly name: string
  readonly public_key: string
  readonly fingerprint: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  readonly last_used_at: string | null
}

export type UserStatus = "active" | "dormant" | "suspended"

export interface UserStatusChangeCount {
  /** A time as RFC 3339 writes it. */
  readonly date: string
  readonly count: number
}

export interface ValidateUserPasswordResponse {
  readonly valid: boolean
  readonly details: string
}

export interface WorkerHealth {
  readonly number: number
  readonly pid: number | null
  readonly activity: "starting" | "serving" | "silent" | "ending" | "dead"
  /** A time as RFC 3339 writes it. */
  readonly since: string
  readonly starts: number
}

export interface Workspace {
  /** A UUID. */
  readonly id: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
  /** A UUID. */
  readonly owner_id: string
  readonly owner_name: string
  readonly owner_avatar_url: string
  /** A UUID. */
  readonly organization_id: string
  readonly organization_name: string
  /** A UUID. */
  readonly template_id: string
  readonly template_name: string
  readonly template_display_name: string
  readonly template_icon: string
  readonly template_allow_user_cancel_workspace_jobs: boolean
  /** A UUID. */
  readonly template_active_version_id: string
  readonly template_require_active_version: boolean
  readonly template_use_classic_parameter_flow: boolean
  readonly latest_build: WorkspaceBuild
  readonly latest_app_status: WorkspaceAppStatus | null
  readonly outdated: boolean
  readonly name: string
  readonly autostart_schedule?: string
  /** Milliseconds. */
  readonly ttl_ms?: number
  /** A time as RFC 3339 writes it. */
  readonly last_used_at: string
  readonly deleting_at: string | null
  readonly dormant_at: string | null
  readonly health: WorkspaceHealth
  readonly automatic_updates: "always" | "never"
  readonly allow_renames: boolean
  readonly favorite: boolean
  readonly next_start_at: string | null
  /** A time as RFC 3339 writes it. */
  readonly expires_at?: string
  readonly is_prebuild: boolean
  readonly task_id: {
    /** A UUID. */
    readonly uuid: string
    readonly valid: boolean
  }
  readonly shared_with?: ReadonlyArray<SharedWorkspaceActor>
}

export interface WorkspaceACL {
  readonly users: ReadonlyArray<WorkspaceUser>
  readonly group: ReadonlyArray<WorkspaceGroup>
}

export interface WorkspaceAgent {
  /** A UUID. */
  readonly id: string
  readonly parent_id: {
    /** A UUID. */
    readonly uuid: string
    readonly valid: boolean
  }
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
  /** A time as RFC 3339 writes it. */
  readonly first_connected_at?: string
  /** A time as RFC 3339 writes it. */
  readonly last_connected_at?: string
  /** A time as RFC 3339 writes it. */
  readonly disconnected_at?: string
  /** A time as RFC 3339 writes it. */
  readonly started_at?: string
  /** A time as RFC 3339 writes it. */
  readonly ready_at?: string
  readonly status: "connecting" | "connected" | "disconnected" | "timeout"
  readonly lifecycle_state: "created" | "starting" | "start_timeout" | "start_error" | "ready" | "shutting_down" | "shutdown_timeout" | "shutdown_error" | "off"
  readonly name: string
  /** A UUID. */
  readonly resource_id: string
  readonly instance_id?: string
  readonly architecture: string
  readonly environment_variables: Readonly<Record<string, string>> | null
  readonly operating_system: string
  readonly logs_length: number
  readonly logs_overflowed: boolean
  readonly directory?: string
  readonly expanded_directory?: string
  readonly version: string
  readonly api_version: string
  readonly latency?: Readonly<Record<string, {
    /** Milliseconds. */
    readonly latency_ms: number
    readonly preferred: boolean
  }>>
  readonly apps: ReadonlyArray<WorkspaceApp>
  /** Seconds. */
  readonly connection_timeout_seconds: number
  readonly troubleshooting_url: string
  readonly subsystems: ReadonlyArray<"envbox" | "envbuilder" | "exectrace">
  readonly health: WorkspaceAgentHealth
  readonly display_apps: ReadonlyArray<"vscode" | "vscode_insiders" | "ssh_helper" | "port_forwarding_helper" | "web_terminal">
  readonly log_sources: ReadonlyArray<WorkspaceAgentLogSource>
  readonly scripts: ReadonlyArray<WorkspaceAgentScript>
  readonly startup_script_behavior: "blocking" | "non-blocking"
}

export interface WorkspaceAgentContainer {
  readonly id: string
  readonly name: string
  readonly image: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  readonly labels: Readonly<Record<string, string>>
  readonly running: boolean
  readonly status: string
  readonly ports: ReadonlyArray<WorkspaceAgentContainerPort>
  readonly volumes: Readonly<Record<string, string>>
}

export interface WorkspaceAgentContainerPort {
  readonly port: number
  readonly network: string
  readonly host_ip?: string
  readonly host_port?: number
}

export interface WorkspaceAgentDevcontainer {
  /** A UUID. */
  readonly id: string
  readonly name: string
  readonly workspace_folder: string
  readonly config_path?: string
  readonly status: "running" | "stopped" | "starting" | "stopping" | "deleting" | "error"
  readonly dirty: boolean
  readonly container?: WorkspaceAgentContainer
  readonly agent?: {
    /** A UUID. */
    readonly id: string
    readonly name: string
    readonly directory: string
  }
  readonly error?: string
}

export interface WorkspaceAgentHealth {
  readonly healthy: boolean
  readonly reason?: string
}

export interface WorkspaceAgentListContainersResponse {
  readonly devcontainers: ReadonlyArray<WorkspaceAgentDevcontainer>
  readonly containers: ReadonlyArray<WorkspaceAgentContainer>
  readonly warnings?: ReadonlyArray<string>
}

export interface WorkspaceAgentListeningPort {
  readonly process_name: string
  readonly network: string
  readonly port: number
}

export interface WorkspaceAgentListeningPortsResponse {
  readonly ports: ReadonlyArray<WorkspaceAgentListeningPort>
}

export interface WorkspaceAgentLog {
  readonly id: number
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  readonly output: string
  readonly level: "trace" | "debug" | "info" | "warn" | "error"
  /** A UUID. */
  readonly source_id: string
}

export interface WorkspaceAgentLogSource {
  /** A UUID. */
  readonly workspace_agent_id: string
  /** A UUID. */
  readonly id: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  readonly display_name: string
  readonly icon: string
}

export interface WorkspaceAgentMetadata {
  readonly result: WorkspaceAgentMetadataResult
  readonly description: WorkspaceAgentMetadataDescription
}

export interface WorkspaceAgentMetadataDescription {
  readonly display_name: string
  readonly key: string
  readonly script: string
  /** Seconds between two runs of the script. */
  readonly interval: number
  /** Seconds that a run may take. */
  readonly timeout: number
}

export interface WorkspaceAgentMetadataResult {
  /** A time as RFC 3339 writes it. */
  readonly collected_at: string
  /** Seconds since the value was collected. */
  readonly age: number
  readonly value: string
  readonly error: string
}

export interface WorkspaceAgentPortShare {
  /** A UUID. */
  readonly workspace_id: string
  readonly agent_name: string
  readonly port: number
  readonly share_level: "owner" | "organization" | "authenticated" | "public"
  readonly protocol: "http" | "https"
}

export interface WorkspaceAgentPortShares {
  readonly shares: ReadonlyArray<WorkspaceAgentPortShare>
}

export interface WorkspaceAgentScript {
  /** A UUID. */
  readonly id: string
  /** A UUID. */
  readonly log_source_id: string
  readonly log_path: string
  readonly script: string
  readonly cron: string
  readonly run_on_start: boolean
  readonly run_on_stop: boolean
  readonly start_blocks_login: boolean
  /** Nanoseconds that a run may take; 0 sets no limit. */
  readonly timeout: number
  readonly display_name: string
  readonly exit_code?: number
  readonly status?: "ok" | "exit_failure" | "timed_out" | "pipes_left_open"
}

export interface WorkspaceApp {
  /** A UUID. */
  readonly id: string
  readonly url?: string
  readonly external: boolean
  readonly slug: string
  readonly display_name?: string
  readonly command?: string
  readonly icon?: string
  readonly subdomain: boolean
  readonly subdomain_name?: string
  readonly sharing_level: "owner" | "authenticated" | "organization" | "public"
  readonly healthcheck: {
    readonly url: string
    /** Seconds between two checks. */
    readonly interval: number
    /** Failed checks in succession after which the app is unhealthy. */
    readonly threshold: number
  }
  readonly health: "disabled" | "initializing" | "healthy" | "unhealthy"
  readonly group?: string
  readonly hidden: boolean
  readonly open_in: "slim-window" | "tab"
  readonly tooltip?: string
  readonly statuses: ReadonlyArray<WorkspaceAppStatus>
}

export interface WorkspaceAppStatus {
  /** A UUID. */
  readonly id: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A UUID. */
  readonly workspace_id: string
  /** A UUID. */
  readonly agent_id: string
  /** A UUID. */
  readonly app_id: string
  readonly state: "working" | "idle" | "complete" | "failure"
  readonly message: string
  readonly uri: string
  readonly icon: string
  readonly needs_user_attention: boolean
}

export interface WorkspaceBuild {
  /** A UUID. */
  readonly id: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
  /** A UUID. */
  readonly workspace_id: string
  readonly workspace_name: string
  /** A UUID. */
  readonly workspace_owner_id: string
  readonly workspace_owner_name: string
  readonly workspace_owner_avatar_url?: string
  /** A UUID. */
  readonly template_version_id: string
  readonly template_version_name: string
  readonly build_number: number
  readonly transition: "start" | "stop" | "delete"
  /** A UUID. */
  readonly initiator_id: string
  readonly initiator_name: string
  readonly job: ProvisionerJob
  readonly reason: "initiator" | "autostart" | "autostop" | "dormancy" | "autodelete" | "failedstop" | "dashboard" | "cli" | "ssh_connection" | "vscode_connection" | "jetbrains_connection" | "task_auto_pause" | "task_manual_pause" | "task_resume"
  readonly resources: ReadonlyArray<WorkspaceResource>
  readonly deadline: string | null
  readonly max_deadline: string | null
  readonly status: "pending" | "starting" | "running" | "stopping" | "stopped" | "failed" | "canceling" | "canceled" | "deleting" | "deleted"
  readonly daily_cost: number
  readonly matched_provisioners: MatchedProvisioners
  readonly template_version_preset_id: string | null
  readonly has_ai_task?: boolean
  readonly has_external_agent?: boolean
}

export interface WorkspaceBuildParameter {
  readonly name: string
  readonly value: string
}

export interface WorkspaceBuildTimings {
  readonly provisioner_timings: ReadonlyArray<ProvisionerTiming>
  readonly agent_script_timings: ReadonlyArray<AgentScriptTiming>
  readonly agent_connection_timings: ReadonlyArray<AgentConnectionTiming>
}

export interface WorkspaceConnectionLatencyMS {
  readonly P50: number
  readonly P95: number
}

export interface WorkspaceDeploymentStats {
  readonly pending: number
  readonly building: number
  readonly running: number
  readonly failed: number
  readonly stopped: number
  /** Milliseconds. */
  readonly connection_latency_ms: WorkspaceConnectionLatencyMS
  readonly rx_bytes: number
  readonly tx_bytes: number
}

export interface WorkspaceGroup {
  /** A UUID. */
  readonly id: string
  /** A UUID. */
  readonly organization_id: string
  readonly name: string
  readonly display_name: string
  readonly avatar_url: string
  /** Credits that each member may spend a day in addition; 32 bits. */
  readonly quota_allowance: number
  readonly source: "user" | "oidc"
  readonly organization_name: string
  readonly organization_display_name: string
  readonly total_member_count: number
  readonly members: ReadonlyArray<ReducedUser>
  readonly role: "admin" | "use" | ""
}

export interface WorkspaceHealth {
  readonly healthy: boolean
  readonly failing_agents: ReadonlyArray<string>
}

export interface WorkspaceHostKey {
  readonly public_key: string
}

export interface WorkspaceProxies {
  readonly regions: ReadonlyArray<WorkspaceProxy>
}

export interface WorkspaceProxy {
  /** A UUID. */
  readonly id: string
  readonly name: string
  readonly display_name: string
  readonly icon_url: string
  readonly healthy: boolean
  readonly path_app_url: string
  readonly wildcard_hostname: string
  readonly derp_enabled: boolean
  readonly derp_only: boolean
  readonly status: WorkspaceProxyStatus
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
  readonly deleted: boolean
  readonly version: string
}

export interface WorkspaceProxyStatus {
  readonly status: "ok" | "unreachable" | "unhealthy" | "unregistered" | "unknown"
  readonly report: ProxyHealthReport
  /** A time as RFC 3339 writes it. */
  readonly checked_at: string
}

export interface WorkspaceProxyWithToken {
  /** A UUID. */
  readonly id: string
  readonly name: string
  readonly display_name: string
  readonly icon_url: string
  readonly healthy: boolean
  readonly path_app_url: string
  readonly wildcard_hostname: string
  readonly derp_enabled: boolean
  readonly derp_only: boolean
  readonly status: WorkspaceProxyStatus
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A time as RFC 3339 writes it. */
  readonly updated_at: string
  readonly deleted: boolean
  readonly version: string
  readonly proxy: WorkspaceProxy
  readonly proxy_token: string
}

export interface WorkspaceQuota {
  /** Credits a day; -1 without a license for quotas. */
  readonly budget: number
  /** Credits a day. */
  readonly credits_consumed: number
}

export interface WorkspaceResource {
  /** A UUID. */
  readonly id: string
  /** A time as RFC 3339 writes it. */
  readonly created_at: string
  /** A UUID. */
  readonly job_id: string
  readonly workspace_transition: "start" | "stop" | "delete"
  readonly type: string
  readonly name: string
  readonly hide: boolean
  readonly icon: string
  readonly agents: ReadonlyArray<WorkspaceAgent>
  readonly daily_cost: number
  readonly metadata: ReadonlyArray<{
    readonly key: string
    readonly value: string
    readonly sensitive: boolean
  }>
}

export interface WorkspaceSharingSettings {
  readonly sharing_globally_disabled: boolean
  readonly sharing_disabled: boolean
  readonly shareable_workspace_owners: "everyone" | "service_accounts" | "none"
}

export interface WorkspaceUser {
  /** A UUID. */
  readonly id: string
  readonly username: string
  readonly name?: string
  readonly avatar_url?: string
  readonly role: "admin" | "use" | ""
}

export interface WorkspacesResponse {
  readonly workspaces: ReadonlyArray<Workspace>
  readonly count: number
}
