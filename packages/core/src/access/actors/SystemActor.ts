/** Work of the system itself, each with only the permissions it needs. No request can become one of these. authorization.md §3. */
import { nil, Uuid } from "../../platform/texts/Uuid.js"
import type { Actor } from "./Actor.js"
import { unrestrictedAllowList } from "../scopes/AllowList.js"
import { prebuildsUserId } from "../decisions/Decision.js"
import type { Grants } from "../decisions/Permission.js"
import type { Levels } from "../roles/Role.js"
import { allScope, expandScopes } from "../scopes/Scope.js"
import { subjectOf } from "./Subject.js"

const system = (role: string, allow: Levels, userId: Uuid = nil, organizationId?: string): Actor => ({
  subject: subjectOf({
    kind: "system",
    id: userId,
    roles: [{ role: { name: role, display_name: "", allow, deny: {} }, organizationId }],
    groups: [],
    scope: expandScopes([allScope]),
    allowList: unrestrictedAllowList,
    options: {}
  }),
  userId
})

const siteWide = (role: string, site: Grants, userId?: Uuid): Actor => system(role, { site }, userId)

/** The actors of background work and of internal look-ups, by purpose. Some act for one user, whose id they are made with. */
export const SystemActor = {
  /** Build runner side of jobs. */
  provisionerd: siteWide("provisionerd", {
    ai_seat: ["create"],
    api_key: ["*"],
    file: ["create", "read"],
    group: ["read"],
    notification_message: ["create", "read"],
    organization: ["read"],
    provisioner_jobs: ["create", "read", "update"],
    system: ["*"],
    task: ["delete", "read", "update"],
    template: ["read", "update"],
    usage_event: ["create"],
    user: ["read", "read_personal", "update_personal"],
    workspace: ["create_agent", "delete", "read", "start", "stop", "update"],
    workspace_agent_devcontainers: ["create"],
    workspace_agent_resource_monitor: ["create"],
    workspace_dormant: ["create_agent", "delete", "read", "stop", "update"]
  }),

  /** Scheduled start, stop, dormancy, deletion. */
  autostart: siteWide("autostart", {
    file: ["read"],
    notification_message: ["create", "read"],
    organization_member: ["read"],
    system: ["*"],
    task: ["read", "update"],
    template: ["read", "update"],
    user: ["read"],
    workspace: ["delete", "read", "start", "stop", "update"],
    workspace_dormant: ["delete", "read", "stop", "update"]
  }),

  /** Ends hung jobs. */
  jobReaper: siteWide("jobreaper", {
    provisioner_jobs: ["read", "update"],
    system: ["*"],
    template: ["read", "update"],
    workspace: ["read", "update"],
    workspace_dormant: ["read", "update"]
  }),

  /** Rotates signing keys. */
  cryptoKeyRotator: siteWide("keyrotator", { crypto_key: ["*"] }),

  /** Reads signing keys. */
  cryptoKeyReader: siteWide("keyrotator", { crypto_key: ["*"] }),

  /** Writes connection log. */
  connectionLogger: siteWide("connectionlogger", { connection_log: ["read", "update"] }),

  /** Enqueues and sends notifications. */
  notifier: siteWide("notifier", {
    deployment_config: ["read", "update"],
    inbox_notification: ["create"],
    notification_message: ["create", "delete", "read", "update"],
    webpush_subscription: ["create", "delete", "read", "update"]
  }),

  /** Takes part in the private network for a workspace proxy. */
  workspaceProxy: siteWide("workspaceproxy", { workspace: ["read"] }),

  /** Agent resource monitors. */
  resourceMonitor: siteWide("resourcemonitor", { workspace_agent_resource_monitor: ["update"] }),

  /** Agent manages its sub agents (org and owner scoped). */
  subAgentApi: (userId: Uuid, organizationId: string): Actor =>
    system(
      "subagentapi",
      { org: { template: ["read"] }, member: { workspace: ["create_agent", "delete_agent", "read", "update", "update_agent"] } },
      userId,
      organizationId
    ),

  /** Deletes keys of one user. */
  apiKeyRevoker: (userId: Uuid): Actor => system("apikeyrevoker", { user: { api_key: ["delete"] } }, userId),

  /** Gateway key of one user. */
  chatdKeyMinter: (userId: Uuid): Actor =>
    system("chatdkeyminter", { user: { api_key: ["create", "delete", "read", "update"], user: ["read_personal"] } }, userId),

  /** Stores refreshed tokens of one user. */
  chatdTokenOwner: (userId: Uuid): Actor => system("chatdtokenowner", { user: { user: ["update_personal"] } }, userId),

  /** Login, logout, caches, internal look-ups. */
  systemRestricted: siteWide("system", {
    "*": ["read"],
    ai_gateway_key: ["read", "update"],
    ai_provider: ["create", "delete", "read", "update"],
    api_key: ["create", "delete", "read", "update"],
    assign_org_role: ["assign", "create", "delete", "read", "unassign", "update"],
    assign_role: ["assign", "read", "unassign"],
    chat: ["create", "delete", "read", "update"],
    crypto_key: ["create", "delete", "update"],
    deployment_config: ["create", "delete", "update"],
    file: ["create", "read"],
    group: ["create", "update"],
    notification_message: ["create", "delete", "read", "update"],
    notification_preference: ["create", "delete", "update"],
    notification_template: ["create", "delete", "update"],
    oauth2_app: ["create", "delete", "read", "update"],
    oauth2_app_secret: ["create", "delete", "read", "update"],
    organization: ["create", "read"],
    organization_member: ["create", "delete", "read"],
    provisioner_daemon: ["create", "read", "update"],
    provisioner_jobs: ["create", "read", "update"],
    system: ["*"],
    user: ["create", "delete", "read", "read_personal", "update", "update_personal"],
    workspace: ["create_agent", "delete", "delete_agent", "ssh", "start", "stop", "update", "update_agent"],
    workspace_build_orchestration: ["read", "update"],
    workspace_dormant: ["delete", "stop", "update"],
    workspace_proxy: ["create", "delete", "update"]
  }),

  /** OAuth2 provider endpoints. */
  systemOauth: siteWide("system-oauth2", {
    api_key: ["delete", "read"],
    deployment_config: ["read"],
    oauth2_app: ["create", "delete", "read", "update"],
    oauth2_app_code_token: ["create", "delete", "read"],
    oauth2_app_secret: ["create", "delete", "read", "update"],
    organization: ["read"],
    user: ["read"]
  }),

  /** Reads daemons. */
  systemReadProvisionerDaemons: siteWide("system-read-provisioner-daemons", { provisioner_daemon: ["read"] }),

  /** Keeps prebuilt workspaces, and may do nothing to those of users: a claimed workspace is out of its reach. */
  prebuildsOrchestrator: siteWide(
    "prebuilds-orchestrator",
    {
      file: ["read"],
      group: ["create", "read", "update"],
      group_member: ["read"],
      organization: ["read"],
      organization_member: ["read"],
      prebuilt_workspace: ["delete", "update"],
      template: ["read", "update", "use", "view_insights"],
      user: ["read"],
      workspace: ["read"]
    },
    Uuid.make(prebuildsUserId)
  ),

  /** Reads any file. */
  fileReader: siteWide("file-reader", { file: ["read"] }, Uuid.make("acbf0be6-6fed-47b6-8c43-962cb5cab994")),

  /** Usage events. */
  usagePublisher: siteWide("usage-publisher", { ai_seat: ["read"], license: ["read"], usage_event: ["create", "read", "update"] }),

  /** AI gateway daemon. */
  aibridged: siteWide("aibridged", {
    ai_model_price: ["read", "update"],
    ai_provider: ["read"],
    ai_seat: ["create"],
    aibridge_interception: ["create", "delete", "read", "update"],
    api_key: ["read"],
    group: ["read"],
    organization: ["read"],
    user: ["read", "read_personal"]
  }),

  /** Retention deletion. */
  dbpurge: siteWide("dbpurge", {
    aibridge_interception: ["delete"],
    api_key: ["delete"],
    boundary_log: ["delete"],
    chat: ["read", "update"],
    notification_message: ["delete"],
    system: ["delete"],
    workspace_build_orchestration: ["delete"]
  }),

  /** Firewall usage statistics. */
  boundaryUsageTracker: siteWide("boundary-usage-tracker", { boundary_usage: ["delete", "read", "update"] }),

  /** Prepares workspace builds. */
  workspaceBuilder: siteWide("workspace-builder", { provisioner_daemon: ["read"], provisioner_jobs: ["update"], template: ["update"] }),

  /** Chat worker. */
  chatd: siteWide("chatd", {
    ai_provider: ["read"],
    chat: ["create", "delete", "read", "update"],
    deployment_config: ["read"],
    mcp_server_config: ["read"],
    user: ["read_personal"],
    workspace: ["read", "update"]
  }),

  /** Reads AI provider metadata. */
  aiProviderMetadataReader: siteWide("ai-provider-metadata-reader", { ai_provider: ["read"] }),

  /** SCIM routes. */
  scimProvisioner: siteWide("scim", {
    assign_org_role: ["assign", "create", "delete", "read", "unassign", "update"],
    assign_role: ["assign", "read", "unassign"],
    organization: ["read"],
    organization_member: ["create", "read", "update"],
    system: ["read"],
    user: ["create", "read", "update", "update_personal"]
  }),

  /** Checks and refreshes external auth links. */
  externalAuthCoordinator: siteWide("external-auth-coordinator", { user: ["read_personal", "update_personal"] })
}
