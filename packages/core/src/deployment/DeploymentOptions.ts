import { Context, Duration, Redacted } from "effect"
import type { Uuid } from "../platform/Uuid.js"

/** How git's SSH key pairs are made. identity.md §8.7. */
export type SshKeyAlgorithm = "ed25519" | "ecdsa" | "rsa4096"

/**
 * How memberships, groups and roles follow from an OpenID Connect provider's claims until settings are stored. An empty field turns a kind
 * off. authorization.md §11.
 */
export interface OidcSyncOptions {
  /** The claim that memberships follow from. */
  readonly organization_field: string
  /** Ids of organizations by value of the claim. */
  readonly organization_mapping: Readonly<Record<string, ReadonlyArray<Uuid>>>
  /** Whether every user is a member of the default organization. */
  readonly organization_assign_default: boolean
  /** The claim that groups of the default organization follow from. */
  readonly groups_field: string
  /** Names of groups by value of the claim. */
  readonly group_mapping: Readonly<Record<string, string>>
  /** Whether groups are created for names that no group has. */
  readonly group_auto_create: boolean
  /** RE2: values that it does not match count for nothing. */
  readonly group_regex_filter: string
  /** A login needs one of these values in `groups_field`; an empty list admits every user. */
  readonly group_allow_list: ReadonlyArray<string>
  /** The claim that site roles follow from. */
  readonly user_role_field: string
  /** Names of site roles by value of the claim; other values are names of roles. */
  readonly user_role_mapping: Readonly<Record<string, ReadonlyArray<string>>>
  /** Site roles that every user has in addition. */
  readonly user_roles_default: ReadonlyArray<string>
}

/** Memberships of the default organization, and nothing else. */
export const defaultOidcSyncOptions: OidcSyncOptions = {
  organization_field: "",
  organization_mapping: {},
  organization_assign_default: true,
  groups_field: "",
  group_mapping: {},
  group_auto_create: false,
  group_regex_filter: ".*",
  group_allow_list: [],
  user_role_field: "",
  user_role_mapping: {},
  user_roles_default: []
}

/** How users are told of events. notifications-audit-insights.md §A4. */
export interface NotificationOptions {
  /** The method that messages leave by unless their event has another: `smtp`, `webhook`, or that of a host's dispatcher. */
  readonly method: string
  /** Whether each message goes to the user's inbox too. */
  readonly inbox: { readonly enabled: boolean }
  /** How long one delivery may take; less than `lease_period`. */
  readonly dispatch_timeout: Duration.Duration
  /** How long a process may take to send the messages that it has taken, before another one takes them. */
  readonly lease_period: Duration.Duration
  /** Messages that a process takes at once. */
  readonly lease_count: number
  /** How often messages are looked for that were not announced: retries, and those of processes that have died. */
  readonly fetch_interval: Duration.Duration
  readonly max_send_attempts: number
  readonly retry_interval: Duration.Duration
}

export const defaultNotificationOptions: NotificationOptions = {
  method: "smtp",
  inbox: { enabled: true },
  dispatch_timeout: Duration.minutes(1),
  lease_period: Duration.minutes(2),
  lease_count: 20,
  fetch_interval: Duration.seconds(15),
  max_send_attempts: 5,
  retry_interval: Duration.minutes(5)
}

/** The options of a deployment. deployment.md §2, §3; each default is the reference's. */
export interface Options {
  /** Where users and agents reach the service; no trailing slash. */
  readonly access_url: string
  /** The product's word, where stored data names the service itself. architecture.md, "The wire". */
  readonly brand: string
  /** The name that the default organization is made with. It counts for a new deployment only. */
  readonly default_organization_name: string
  readonly allow_workspace_renames: boolean
  /** Names of experiments that are on. */
  readonly experiments: ReadonlyArray<string>
  readonly session_lifetime: {
    /** Of a session: a login's key. */
    readonly default_duration: Duration.Duration
    /** Of a key or token made without a lifetime. */
    readonly default_token_lifetime: Duration.Duration
    /** The longest a token may live: 100 years and 25 days. */
    readonly max_token_lifetime: Duration.Duration
    /** The longest a token of a user with the role `owner` may live. */
    readonly max_admin_token_lifetime: Duration.Duration
    /** Of a refresh token of an OAuth2 app; longer than `default_duration`, or zero for as long. */
    readonly refresh_default_duration: Duration.Duration
    /** Keys expire at the time set at their creation; use does not extend it. */
    readonly disable_expiry_refresh: boolean
  }
  readonly disable_password_auth: boolean
  /** The terms that users accept by logging in; empty without terms. */
  readonly terms_of_service_url: string
  /** Of the key pair every user gets for git. */
  readonly ssh_keygen_algorithm: SshKeyAlgorithm
  /** How long obsolete rows are kept; zero keeps them for ever. */
  readonly retention: {
    /** Of keys, from their expiry on. */
    readonly api_keys: Duration.Duration
  }
  readonly stats_collection: {
    readonly usage_stats: {
      /** Whether there are insights. */
      readonly enable: boolean
    }
  }
  readonly disable_owner_workspace_exec: boolean
  readonly disable_workspace_sharing: boolean
  /** Responses list the permission checks behind them, for debugging: they tell what exists. authorization.md §1.4. */
  readonly enable_authz_recording: boolean
  /** Of the gateway to AI. */
  readonly ai_gateway: {
    /** How long what was spent is kept; zero keeps it for ever. */
    readonly retention: Duration.Duration
  }
  readonly provisioner: {
    /** Jobs this process works on at once; 0 leaves them to other processes. */
    readonly daemons: number
    /** How long a canceled job may take to end before it is failed. */
    readonly force_cancel_interval: Duration.Duration
  }
  /** Of archives with the source of templates. */
  readonly files: {
    /** Bytes that the files of one user may take together. */
    readonly maximum_bytes_per_user: number
  }
  /** Lets builds ask their engine for debug output. */
  readonly enable_terraform_debug_mode: boolean
  /** When required stops of workspaces happen. workspaces.md §5.2. */
  readonly user_quiet_hours_schedule: {
    /** A schedule text; empty where the deployment has no quiet hours. */
    readonly default_schedule: string
    /** Whether users may have their own. */
    readonly allow_user_custom: boolean
  }
  readonly job_hang_detector_interval: Duration.Duration
  /** How often workspaces are looked for that start, stop, become dormant or are deleted by themselves. */
  readonly autobuild_poll_interval: Duration.Duration
  /** Streams that one caller may have open in each process: followed logs, watches, agents' connections. */
  readonly streams_per_caller: number
  /** How often agents report statistics. */
  readonly agent_stat_refresh_interval: Duration.Duration
  /** How often a connected agent's presence is written; it counts as disconnected after twice as long. */
  readonly agent_connection_update_interval: Duration.Duration
  readonly agent_fallback_troubleshooting_url: string
  /** The credential of identity providers that manage users; while it is empty, all are refused. authorization.md §13. */
  readonly scim_api_key: Redacted.Redacted<string>
  /** Of the authorization server. */
  readonly oauth2: {
    /** Apps get the scopes that they ask for. Otherwise every app gets the full rights of its user. oauth2-provider.md P-34. */
    readonly narrow_scopes: boolean
  }
  /** The memberships, groups and roles of users from an OpenID Connect provider. authorization.md §11. */
  readonly oidc: OidcSyncOptions
  readonly notifications: NotificationOptions
}

/** The options in force. */
export class DeploymentOptions extends Context.Reference<DeploymentOptions>()("@atelier/core/DeploymentOptions", {
  defaultValue: (): Options => ({
    access_url: "http://127.0.0.1:3000",
    brand: "Service",
    default_organization_name: "default",
    allow_workspace_renames: false,
    experiments: [],
    session_lifetime: {
      default_duration: Duration.hours(24),
      default_token_lifetime: Duration.days(7),
      max_token_lifetime: Duration.hours(876_600),
      max_admin_token_lifetime: Duration.hours(168),
      refresh_default_duration: Duration.days(30),
      disable_expiry_refresh: false
    },
    disable_password_auth: false,
    terms_of_service_url: "",
    ssh_keygen_algorithm: "ed25519",
    retention: { api_keys: Duration.days(7) },
    stats_collection: { usage_stats: { enable: true } },
    disable_owner_workspace_exec: false,
    disable_workspace_sharing: false,
    enable_authz_recording: false,
    ai_gateway: { retention: Duration.days(60) },
    provisioner: { daemons: 3, force_cancel_interval: Duration.minutes(10) },
    files: { maximum_bytes_per_user: 1024 * 1024 * 1024 },
    enable_terraform_debug_mode: false,
    user_quiet_hours_schedule: { default_schedule: "CRON_TZ=UTC 0 0 * * *", allow_user_custom: true },
    job_hang_detector_interval: Duration.minutes(1),
    autobuild_poll_interval: Duration.minutes(1),
    streams_per_caller: 1000,
    agent_stat_refresh_interval: Duration.seconds(30),
    agent_connection_update_interval: Duration.seconds(15),
    agent_fallback_troubleshooting_url: "",
    scim_api_key: Redacted.make(""),
    oauth2: { narrow_scopes: false },
    oidc: defaultOidcSyncOptions,
    notifications: defaultNotificationOptions
  })
}) {}
