// Generated from the contract by `npm run generate`. Changes here are lost.
/** What each operation is given, by group and name. */
export interface Inputs {
  readonly access: {
    readonly checkAuthorization: {
      readonly payload: {
        readonly checks?: Readonly<Record<string, AuthorizationCheck>> | undefined
      }
    }
  }
  readonly agents: {
    readonly getAgent: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
    }
    readonly getAgentLogs: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly urlParams?: {
        /** Returns rows with greater ids. */
        readonly after?: number | undefined
        /** At most 4096 characters. */
        readonly before?: string | undefined
        /** At most 4096 characters. */
        readonly follow?: string | undefined
        /** At most 4096 characters. */
        readonly no_compression?: string | undefined
        readonly format?: "json" | "text" | undefined
      } | undefined
    }
    readonly getAgentStartupLogs: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly urlParams?: {
        /** Returns rows with greater ids. */
        readonly after?: number | undefined
        /** At most 4096 characters. */
        readonly before?: string | undefined
        /** At most 4096 characters. */
        readonly follow?: string | undefined
        /** At most 4096 characters. */
        readonly no_compression?: string | undefined
        readonly format?: "json" | "text" | undefined
      } | undefined
    }
    readonly watchAgentMetadata: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
    }
    readonly watchAgentMetadataSocket: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
    }
    readonly listListeningPorts: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
    }
    readonly listContainers: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly urlParams?: {
        readonly label?: ReadonlyArray<string> | string | undefined
      } | undefined
    }
    readonly watchContainers: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
    }
    readonly deleteDevcontainer: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
        /** At most 1024 characters. */
        readonly devcontainer: string
      }
    }
    readonly recreateDevcontainer: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
        /** At most 1024 characters. */
        readonly devcontainer: string
      }
    }
  }
  readonly aiProviders: {
    readonly listAiProviders: {}
    readonly createAiProvider: {
      readonly payload: {
        readonly type: string
        readonly name: string
        readonly display_name?: string | undefined
        readonly icon?: string | undefined
        readonly enabled?: boolean | undefined
        readonly base_url: string
        /** At most 100 items. */
        readonly api_keys?: ReadonlyArray<string> | undefined
        readonly settings?: {
          readonly _type: "bedrock"
          /** From 1 to 1. */
          readonly _version: 1
          readonly region?: string | undefined
          readonly model?: string | undefined
          readonly small_fast_model?: string | undefined
          readonly protocol?: string | undefined
          readonly role_arn?: string | undefined
          readonly external_id?: string | undefined
          /** At most 8192 characters. */
          readonly access_key?: string | undefined
          /** At most 8192 characters. */
          readonly access_key_secret?: string | undefined
        } | undefined
      }
    }
    readonly getAiProvider: {
      readonly path: {
        /** At most 1024 characters. */
        readonly idOrName: string
      }
    }
    readonly updateAiProvider: {
      readonly path: {
        /** At most 1024 characters. */
        readonly idOrName: string
      }
      readonly payload: {
        /** At most 2048 characters. */
        readonly display_name?: string | undefined
        /** At most 2048 characters. */
        readonly icon?: string | undefined
        readonly enabled?: boolean | undefined
        /** At most 2048 characters. */
        readonly base_url?: string | undefined
        /** At most 100 items. */
        readonly api_keys?: ReadonlyArray<{
          /** A UUID. */
          readonly id?: string | undefined
          /** At most 8192 characters. */
          readonly api_key?: string | undefined
        }> | undefined
        readonly settings?: {
          readonly _type: "bedrock"
          /** From 1 to 1. */
          readonly _version: 1
          readonly region?: string | undefined
          readonly model?: string | undefined
          readonly small_fast_model?: string | undefined
          readonly protocol?: string | undefined
          readonly role_arn?: string | undefined
          readonly external_id?: string | undefined
          /** At most 8192 characters. */
          readonly access_key?: string | undefined
          /** At most 8192 characters. */
          readonly access_key_secret?: string | undefined
        } | undefined
      }
    }
    readonly deleteAiProvider: {
      readonly path: {
        /** At most 1024 characters. */
        readonly idOrName: string
      }
    }
  }
  readonly aiSpendExport: {
    readonly exportAiSpend: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly period_start?: string | undefined
        /** At most 4096 characters. */
        readonly period_end?: string | undefined
      } | undefined
    }
  }
  readonly appearance: {
    readonly getAppearance: {}
    readonly updateAppearance: {
      readonly payload: {
        readonly application_name?: string | undefined
        readonly logo_url?: string | undefined
        /** At most 100 items. */
        readonly announcement_banners?: ReadonlyArray<{
          readonly enabled?: boolean | undefined
          readonly message?: string | undefined
          readonly background_color?: string | undefined
        }> | undefined
        readonly service_banner?: {
          readonly enabled?: boolean | undefined
          readonly message?: string | undefined
          readonly background_color?: string | undefined
        } | undefined
      }
    }
  }
  readonly audit: {
    readonly listAuditLogs: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly q?: string | undefined
        /** A UUID. */
        readonly after_id?: string | undefined
        /** From 0 to 2147483647. */
        readonly limit?: number | undefined
        /** From 0 to 2147483647. */
        readonly offset?: number | undefined
      } | undefined
    }
    readonly generateTestAuditLog: {
      readonly payload: {
        readonly action?: AuditAction | undefined
        readonly resource_type?: ResourceType | undefined
        /** A UUID. */
        readonly resource_id?: string | undefined
        /** A time as RFC 3339 writes it. */
        readonly time?: string | undefined
        readonly additional_fields?: Readonly<Record<string, unknown>> | undefined
        /** A UUID. */
        readonly organization_id?: string | undefined
        /** A UUID. */
        readonly request_id?: string | undefined
        readonly build_reason?: string | undefined
      }
    }
    readonly listConnectionLogs: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly q?: string | undefined
        /** A UUID. */
        readonly after_id?: string | undefined
        /** From 0 to 2147483647. */
        readonly limit?: number | undefined
        /** From 0 to 2147483647. */
        readonly offset?: number | undefined
      } | undefined
    }
  }
  readonly autofill: {
    readonly listAutofillParameters: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly urlParams: {
        /** A UUID. */
        readonly template_id: string
      }
    }
  }
  readonly buildWatches: {
    readonly watchAgentConnection: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly agent_name?: string | undefined
      } | undefined
    }
    readonly watchAllWorkspaceBuilds: {}
  }
  readonly builds: {
    readonly createWorkspaceBuild: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
      readonly payload: {
        readonly transition: "start" | "stop" | "delete"
        /** A UUID. */
        readonly template_version_id?: string | undefined
        /** A UUID. */
        readonly template_version_preset_id?: string | undefined
        /** At most 1000 items. */
        readonly rich_parameter_values?: ReadonlyArray<{
          readonly name?: string | undefined
          readonly value?: string | undefined
        }> | undefined
        /** Base64. At most 4194304 characters. */
        readonly state?: string | undefined
        readonly orphan?: boolean | undefined
        readonly log_level?: "" | "debug" | undefined
        readonly reason?: "" | "dashboard" | "cli" | "ssh_connection" | "vscode_connection" | "jetbrains_connection" | "task_manual_pause" | undefined
        readonly dry_run?: boolean | undefined
        readonly on_success?: {
          readonly transition: string
          /** A UUID. */
          readonly template_version_id?: string | undefined
          /** A UUID. */
          readonly template_version_preset_id?: string | undefined
          /** At most 1000 items. */
          readonly rich_parameter_values?: ReadonlyArray<{
            readonly name?: string | undefined
            readonly value?: string | undefined
          }> | undefined
        } | undefined
      }
    }
    readonly listWorkspaceBuilds: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
      readonly urlParams?: {
        /** A UUID. */
        readonly after_id?: string | undefined
        /** From 0 to 2147483647. */
        readonly limit?: number | undefined
        /** From 0 to 2147483647. */
        readonly offset?: number | undefined
        /** A time as RFC 3339 writes it. */
        readonly since?: string | undefined
      } | undefined
    }
    readonly getWorkspaceBuildByNumber: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
        /** At most 1024 characters. */
        readonly workspacename: string
        /** At most 1024 characters. */
        readonly buildnumber: string
      }
    }
    readonly getWorkspaceBuild: {
      readonly path: {
        /** A UUID. */
        readonly workspacebuild: string
      }
    }
    readonly getWorkspaceBuildParameters: {
      readonly path: {
        /** A UUID. */
        readonly workspacebuild: string
      }
    }
    readonly getWorkspaceBuildResources: {
      readonly path: {
        /** A UUID. */
        readonly workspacebuild: string
      }
    }
    readonly getWorkspaceBuildState: {
      readonly path: {
        /** A UUID. */
        readonly workspacebuild: string
      }
    }
    readonly getWorkspaceBuildLogs: {
      readonly path: {
        /** A UUID. */
        readonly workspacebuild: string
      }
      readonly urlParams?: {
        /** Returns rows with greater ids. */
        readonly after?: number | undefined
        /** At most 4096 characters. */
        readonly before?: string | undefined
        /** At most 4096 characters. */
        readonly follow?: string | undefined
        readonly format?: "json" | "text" | undefined
      } | undefined
    }
    readonly cancelWorkspaceBuild: {
      readonly path: {
        /** A UUID. */
        readonly workspacebuild: string
      }
      readonly urlParams?: {
        readonly expect_status?: "running" | "pending" | undefined
      } | undefined
    }
  }
  readonly deployment: {
    readonly index: {}
    readonly buildInfo: {}
    readonly entitlements: {}
    readonly health: {}
    readonly healthDetails: {}
    readonly ready: {}
    readonly latencyCheck: {}
  }
  readonly diagnostics: {
    readonly getMetrics: {}
    readonly getHealth: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly force?: string | undefined
        /** At most 4096 characters. */
        readonly format?: string | undefined
      } | undefined
    }
    readonly getHealthSettings: {}
    readonly updateHealthSettings: {
      readonly payload: {
        /** At most 100 items. */
        readonly dismissed_healthchecks?: ReadonlyArray<HealthSection> | undefined
      }
    }
    readonly echoWebSocket: {}
    readonly getProcessVariables: {}
    readonly listProfiles: {}
    readonly getCommandLine: {}
    readonly getSymbols: {}
    readonly takeCpuProfile: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly seconds?: string | undefined
      } | undefined
    }
    readonly takeHeapProfile: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly seconds?: string | undefined
      } | undefined
    }
    readonly collectProfiles: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly duration?: string | undefined
        /** At most 4096 characters. */
        readonly profiles?: string | undefined
      } | undefined
    }
  }
  readonly externalAuth: {
    readonly listExternalAuth: {}
    readonly getExternalAuth: {
      readonly path: {
        /** At most 1024 characters. */
        readonly externalauth: string
      }
    }
    readonly deleteExternalAuth: {
      readonly path: {
        /** At most 1024 characters. */
        readonly externalauth: string
      }
    }
    readonly startExternalAuthDevice: {
      readonly path: {
        /** At most 1024 characters. */
        readonly externalauth: string
      }
    }
    readonly completeExternalAuthDevice: {
      readonly path: {
        /** At most 1024 characters. */
        readonly externalauth: string
      }
      readonly payload: {
        readonly device_code: string
      }
    }
  }
  readonly externalLogins: {
    readonly convertLogin: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly payload: {
        readonly to_type: string
        readonly password: string
      }
    }
    readonly getOidcClaims: {}
    readonly getUserClaims: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly oidcCallback: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly code?: string | undefined
        /** At most 4096 characters. */
        readonly state?: string | undefined
        /** At most 4096 characters. */
        readonly error?: string | undefined
        /** At most 4096 characters. */
        readonly error_description?: string | undefined
        /** At most 4096 characters. */
        readonly error_uri?: string | undefined
        /** At most 4096 characters. */
        readonly redirect?: string | undefined
        /** At most 4096 characters. */
        readonly oidc_merge_state?: string | undefined
      } | undefined
    }
    readonly githubCallback: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly code?: string | undefined
        /** At most 4096 characters. */
        readonly state?: string | undefined
        /** At most 4096 characters. */
        readonly error?: string | undefined
        /** At most 4096 characters. */
        readonly error_description?: string | undefined
        /** At most 4096 characters. */
        readonly error_uri?: string | undefined
        /** At most 4096 characters. */
        readonly redirect?: string | undefined
        /** At most 4096 characters. */
        readonly oidc_merge_state?: string | undefined
      } | undefined
    }
    readonly startGithubDevice: {}
  }
  readonly files: {
    readonly readFile: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly urlParams: {
        /** At most 4096 characters. */
        readonly path: string
      }
    }
    readonly inspectFile: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly urlParams: {
        /** At most 4096 characters. */
        readonly path: string
      }
    }
    readonly writeFile: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly urlParams: {
        /** At most 4096 characters. */
        readonly path: string
        /** a string matching the pattern ^[0-7]{1,4}$. At most 4096 characters. */
        readonly mode?: string | undefined
        readonly parents?: boolean | undefined
        readonly fsync?: boolean | undefined
        /** At most 4096 characters. */
        readonly offset?: string | undefined
      }
    }
    readonly deleteFile: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly urlParams: {
        /** At most 4096 characters. */
        readonly path: string
        readonly recursive?: boolean | undefined
      }
    }
    readonly describeFile: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly urlParams: {
        /** At most 4096 characters. */
        readonly path: string
      }
    }
    readonly listFiles: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly urlParams: {
        /** At most 4096 characters. */
        readonly path: string
        /** At most 4096 characters. */
        readonly depth?: string | undefined
        /** At most 4096 characters. */
        readonly limit?: string | undefined
        /** At most 8192 characters. */
        readonly after?: string | undefined
      }
    }
    readonly makeDirectory: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly payload: {
        /** At most 4096 characters. */
        readonly path: string
        readonly parents?: boolean | undefined
        /** a string matching the pattern ^[0-7]{1,4}$. */
        readonly mode?: string | undefined
      }
    }
    readonly moveFile: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly payload: {
        /** At most 4096 characters. */
        readonly from: string
        /** At most 4096 characters. */
        readonly to: string
        readonly overwrite?: boolean | undefined
        readonly recursive?: boolean | undefined
      }
    }
    readonly copyFile: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly payload: {
        /** At most 4096 characters. */
        readonly from: string
        /** At most 4096 characters. */
        readonly to: string
        readonly overwrite?: boolean | undefined
        readonly recursive?: boolean | undefined
      }
    }
    readonly packDirectory: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly urlParams: {
        /** At most 4096 characters. */
        readonly path: string
      }
    }
    readonly unpackDirectory: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly urlParams: {
        /** At most 4096 characters. */
        readonly path: string
      }
    }
    readonly findFiles: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly urlParams: {
        /** At most 4096 characters. */
        readonly path: string
        /** At most 1024 characters. */
        readonly name?: string | undefined
        /** At most 1024 characters. */
        readonly content?: string | undefined
        /** At most 4096 characters. */
        readonly limit?: string | undefined
        /** Milliseconds. At most 4096 characters. */
        readonly timeout_ms?: string | undefined
      }
    }
    readonly watchFiles: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly urlParams: {
        /** At most 4096 characters. */
        readonly path: string
        readonly recursive?: boolean | undefined
      }
    }
  }
  readonly general: {
    readonly checkForUpdates: {}
    readonly reportCspViolation: {
      readonly payload: {
        readonly "csp-report"?: Readonly<Record<string, unknown>> | null | undefined
      }
    }
    readonly getDeploymentConfig: {}
    readonly getSshConfig: {}
    readonly reportFunnelEvent: {
      readonly payload: {
        /** A UUID. */
        readonly id: string
        readonly source: "aibridge_session_threads" | "aibridge_sessions" | "ai_gateway_keys" | "ai_governance" | "appearance" | "audit_log" | "browser_only" | "connection_log" | "custom_roles" | "external_auth" | "groups" | "idp_org_sync" | "idp_sync" | "multiple_organizations" | "observability" | "provisioner_keys" | "provisioners" | "template_permissions" | "workspace_proxies" | "direct"
        readonly variant: "premium" | "small" | "ai_governance"
      }
    }
    readonly listExperiments: {}
    readonly listAvailableExperiments: {}
    readonly getInitScript: {
      readonly path: {
        /** At most 1024 characters. */
        readonly os: string
        /** At most 1024 characters. */
        readonly arch: string
      }
    }
    readonly getAgentProgram: {
      readonly path: {
        /** At most 1024 characters. */
        readonly name: string
      }
    }
  }
  readonly gitSshKeys: {
    readonly getGitSshKey: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly regenerateGitSshKey: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
  }
  readonly groupAiBudgets: {
    readonly getGroupAiBudget: {
      readonly path: {
        /** A UUID. */
        readonly group: string
      }
    }
    readonly setGroupAiBudget: {
      readonly path: {
        /** A UUID. */
        readonly group: string
      }
      readonly payload: {
        /** Millionths of a unit of the currency. */
        readonly spend_limit_micros?: number | undefined
      }
    }
    readonly deleteGroupAiBudget: {
      readonly path: {
        /** A UUID. */
        readonly group: string
      }
    }
    readonly getGroupAiSpend: {
      readonly path: {
        /** A UUID. */
        readonly group: string
      }
    }
    readonly getGroupMembersAiSpend: {
      readonly path: {
        /** A UUID. */
        readonly group: string
      }
      readonly urlParams?: {
        /** At most 1000 items. */
        readonly user_ids?: ReadonlyArray<string> | undefined
      } | undefined
    }
  }
  readonly groups: {
    readonly listGroups: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly organization?: string | undefined
        /** At most 4096 characters. */
        readonly has_member?: string | undefined
        /** At most 1000 items. */
        readonly group_ids?: ReadonlyArray<string> | undefined
      } | undefined
    }
    readonly getGroup: {
      readonly path: {
        /** A UUID. */
        readonly group: string
      }
      readonly urlParams?: {
        readonly exclude_members?: boolean | undefined
      } | undefined
    }
    readonly updateGroup: {
      readonly path: {
        /** At most 1024 characters. */
        readonly group: string
      }
      readonly payload: {
        readonly name?: string | undefined
        readonly display_name?: string | null | undefined
        readonly avatar_url?: string | null | undefined
        readonly quota_allowance?: number | null | undefined
        /** At most 1000 items. */
        readonly add_users?: ReadonlyArray<string> | undefined
        /** At most 1000 items. */
        readonly remove_users?: ReadonlyArray<string> | undefined
      }
    }
    readonly deleteGroup: {
      readonly path: {
        /** At most 1024 characters. */
        readonly group: string
      }
    }
    readonly listGroupMembers: {
      readonly path: {
        /** A UUID. */
        readonly group: string
      }
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly q?: string | undefined
        /** A UUID. */
        readonly after_id?: string | undefined
        /** From 0 to 2147483647. */
        readonly limit?: number | undefined
        /** From 0 to 2147483647. */
        readonly offset?: number | undefined
      } | undefined
    }
  }
  readonly idpSync: {
    readonly getOrganizationSync: {}
    readonly updateOrganizationSync: {
      readonly payload: {
        readonly field?: string | undefined
        readonly mapping?: Readonly<Record<string, ReadonlyArray<string>>> | undefined
        readonly organization_assign_default?: boolean | undefined
      }
    }
    readonly configureOrganizationSync: {
      readonly payload: {
        readonly field?: string | undefined
        readonly assign_default?: boolean | undefined
      }
    }
    readonly mapOrganizationSync: {
      readonly payload: {
        /** At most 1000 items. */
        readonly add?: ReadonlyArray<{
          readonly given?: string | undefined
          /** A UUID. */
          readonly gets: string
        }> | undefined
        /** At most 1000 items. */
        readonly remove?: ReadonlyArray<{
          readonly given?: string | undefined
          /** A UUID. */
          readonly gets: string
        }> | undefined
      }
    }
    readonly getGroupSync: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
    }
    readonly updateGroupSync: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly payload: {
        readonly field?: string | undefined
        readonly regex_filter?: string | null | undefined
        readonly auto_create_missing_groups?: boolean | undefined
        readonly mapping?: Readonly<Record<string, ReadonlyArray<string>>> | undefined
        readonly legacy_group_name_mapping?: Readonly<Record<string, string>> | undefined
      }
    }
    readonly configureGroupSync: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly payload: {
        readonly field?: string | undefined
        readonly regex_filter?: string | null | undefined
        readonly auto_create_missing_groups?: boolean | undefined
      }
    }
    readonly mapGroupSync: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly payload: {
        /** At most 1000 items. */
        readonly add?: ReadonlyArray<{
          readonly given?: string | undefined
          /** A UUID. */
          readonly gets: string
        }> | undefined
        /** At most 1000 items. */
        readonly remove?: ReadonlyArray<{
          readonly given?: string | undefined
          /** A UUID. */
          readonly gets: string
        }> | undefined
      }
    }
    readonly getRoleSync: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
    }
    readonly updateRoleSync: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly payload: {
        readonly field?: string | undefined
        readonly mapping?: Readonly<Record<string, ReadonlyArray<string>>> | undefined
      }
    }
    readonly configureRoleSync: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly payload: {
        readonly field?: string | undefined
      }
    }
    readonly mapRoleSync: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly payload: {
        /** At most 1000 items. */
        readonly add?: ReadonlyArray<{
          readonly given?: string | undefined
          readonly gets: string
        }> | undefined
        /** At most 1000 items. */
        readonly remove?: ReadonlyArray<{
          readonly given?: string | undefined
          readonly gets: string
        }> | undefined
      }
    }
    readonly listClaims: {}
    readonly listClaimValues: {
      readonly urlParams: {
        /** At most 4096 characters. */
        readonly claimField: string
      }
    }
    readonly listOrganizationClaims: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
    }
    readonly listOrganizationClaimValues: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly urlParams: {
        /** At most 4096 characters. */
        readonly claimField: string
      }
    }
  }
  readonly inbox: {
    readonly listInboxNotifications: {
      readonly urlParams?: {
        /** At most 1000 items. */
        readonly targets?: ReadonlyArray<string> | undefined
        /** At most 1000 items. */
        readonly templates?: ReadonlyArray<string> | undefined
        readonly read_status?: "" | "all" | "read" | "unread" | undefined
        /** A UUID. */
        readonly starting_before?: string | undefined
      } | undefined
    }
    readonly watchInboxNotifications: {
      readonly urlParams?: {
        /** At most 1000 items. */
        readonly targets?: ReadonlyArray<string> | undefined
        /** At most 1000 items. */
        readonly templates?: ReadonlyArray<string> | undefined
        readonly read_status?: "" | "all" | "read" | "unread" | undefined
        /** At most 4096 characters. */
        readonly format?: string | undefined
      } | undefined
    }
    readonly updateInboxNotificationReadStatus: {
      readonly path: {
        /** A UUID. */
        readonly id: string
      }
      readonly payload: {
        readonly is_read?: boolean | undefined
      }
    }
    readonly markAllInboxNotificationsAsRead: {}
  }
  readonly insights: {
    readonly getTemplateInsights: {
      readonly urlParams: {
        /** A time as RFC 3339 writes it. */
        readonly start_time: string
        /** A time as RFC 3339 writes it. */
        readonly end_time: string
        /** At most 100 items. */
        readonly template_ids?: ReadonlyArray<string> | undefined
        readonly interval?: InsightsReportInterval | "" | undefined
        /** At most 1000 items. */
        readonly sections?: ReadonlyArray<"interval_reports" | "report"> | undefined
      }
    }
    readonly getUserActivity: {
      readonly urlParams: {
        /** A time as RFC 3339 writes it. */
        readonly start_time: string
        /** A time as RFC 3339 writes it. */
        readonly end_time: string
        /** At most 100 items. */
        readonly template_ids?: ReadonlyArray<string> | undefined
      }
    }
    readonly getUserLatency: {
      readonly urlParams: {
        /** A time as RFC 3339 writes it. */
        readonly start_time: string
        /** A time as RFC 3339 writes it. */
        readonly end_time: string
        /** At most 100 items. */
        readonly template_ids?: ReadonlyArray<string> | undefined
      }
    }
    readonly getDaus: {
      readonly urlParams?: {
        /** From -12 to 14. */
        readonly tz_offset?: number | undefined
      } | undefined
    }
    readonly getTemplateDaus: {
      readonly path: {
        /** A UUID. */
        readonly template: string
      }
      readonly urlParams?: {
        /** From -12 to 14. */
        readonly tz_offset?: number | undefined
      } | undefined
    }
    readonly getUserStatusCounts: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly timezone?: string | undefined
        /** From -12 to 14. */
        readonly tz_offset?: number | undefined
        readonly interval?: number | undefined
      } | undefined
    }
    readonly getDeploymentStats: {}
  }
  readonly instanceIdentities: {
    readonly authenticateAwsInstance: {
      readonly payload: {
        readonly document: string
        readonly signature: string
        readonly agent_name?: string | undefined
      }
    }
    readonly authenticateAzureInstance: {
      readonly payload: {
        readonly encoding: string
        readonly signature: string
        readonly agent_name?: string | undefined
      }
    }
    readonly authenticateGoogleInstance: {
      readonly payload: {
        readonly json_web_token: string
        readonly agent_name?: string | undefined
      }
    }
  }
  readonly keys: {
    readonly createKey: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly listTokens: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly urlParams?: {
        readonly include_expired?: boolean | undefined
        readonly include_all?: boolean | undefined
      } | undefined
    }
    readonly createToken: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly payload: {
        readonly token_name?: string | undefined
        /** Nanoseconds; 0 stands for the default of the deployment. */
        readonly lifetime?: number | undefined
        /** At most 1000 items. */
        readonly scopes?: ReadonlyArray<string> | undefined
        readonly scope?: string | undefined
        /** At most 1000 items. */
        readonly allow_list?: ReadonlyArray<{
          readonly type?: string | undefined
          readonly id?: string | undefined
        } | string> | undefined
      }
    }
    readonly getTokenConfig: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly getToken: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
        /** At most 1024 characters. */
        readonly keyname: string
      }
    }
    readonly getKey: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
        /** At most 1024 characters. */
        readonly keyid: string
      }
    }
    readonly deleteKey: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
        /** At most 1024 characters. */
        readonly keyid: string
      }
    }
    readonly expireKey: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
        /** At most 1024 characters. */
        readonly keyid: string
      }
    }
    readonly listScopes: {}
  }
  readonly licenses: {
    readonly listLicenses: {}
    readonly addLicense: {
      readonly payload: {
        readonly license: string
      }
    }
    readonly requestTrialLicense: {
      readonly payload: {
        readonly email: string
        readonly first_name: string
        readonly last_name: string
        readonly phone_number: string
        readonly job_title: string
        readonly company_name: string
        readonly country: string
        readonly developers: string
      }
    }
    readonly refreshEntitlements: {}
    readonly deleteLicense: {
      readonly path: {
        /** At most 1024 characters. */
        readonly id: string
      }
    }
  }
  readonly logins: {
    readonly logOut: {}
    readonly getLoginType: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly updatePassword: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly payload: {
        readonly password: string
        readonly old_password?: string | undefined
      }
    }
    readonly listLoginMethods: {}
    readonly logIn: {
      readonly payload: {
        readonly email: string
        readonly password: string
      }
    }
    readonly validatePassword: {
      readonly payload: {
        readonly password: string
      }
    }
  }
  readonly members: {
    readonly listMembers: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly q?: string | undefined
      } | undefined
    }
    readonly pageMembers: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly q?: string | undefined
        /** A UUID. */
        readonly after_id?: string | undefined
        /** From 0 to 2147483647. */
        readonly limit?: number | undefined
        /** From 0 to 2147483647. */
        readonly offset?: number | undefined
      } | undefined
    }
    readonly listOrganizationRoles: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
    }
    readonly createCustomRole: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly payload: CustomRoleRequest
    }
    readonly updateCustomRole: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly payload: CustomRoleRequest
    }
    readonly deleteCustomRole: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
        /** At most 1024 characters. */
        readonly roleName: string
      }
    }
    readonly getMember: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly addMember: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly removeMember: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly updateMemberRoles: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly payload: {
        /** At most 1000 items. */
        readonly roles?: ReadonlyArray<string> | undefined
      }
    }
  }
  readonly network: {
    readonly getConnectionInfo: {}
    readonly getAgentConnectionInfo: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
    }
    readonly watchRelayMap: {}
    readonly connectToNetwork: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly version?: string | undefined
        /** At most 4096 characters. */
        readonly resume_token?: string | undefined
      } | undefined
    }
    readonly coordinateAgent: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly version?: string | undefined
        /** At most 4096 characters. */
        readonly resume_token?: string | undefined
      } | undefined
    }
    readonly showCoordinator: {}
    readonly showAgentLinks: {}
  }
  readonly notifications: {
    readonly getNotificationsSettings: {}
    readonly updateNotificationsSettings: {
      readonly payload: {
        readonly notifier_paused?: boolean | undefined
      }
    }
    readonly listSystemNotificationTemplates: {}
    readonly listCustomNotificationTemplates: {}
    readonly updateNotificationTemplateMethod: {
      readonly path: {
        /** A UUID. */
        readonly notification_template: string
      }
      readonly payload: {
        readonly method: string
      }
    }
    readonly getNotificationDispatchMethods: {}
    readonly sendTestNotification: {}
    readonly sendCustomNotification: {
      readonly payload: {
        readonly content: {
          readonly title?: string | undefined
          readonly message?: string | undefined
        }
      }
    }
    readonly getNotificationPreferences: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly updateNotificationPreferences: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly payload: {
        readonly template_disabled_map?: Readonly<Record<string, boolean>> | undefined
      }
    }
  }
  readonly oauth2Provider: {
    readonly listOAuth2Apps: {
      readonly urlParams?: {
        /** A UUID. */
        readonly user_id?: string | undefined
      } | undefined
    }
    readonly createOAuth2App: {
      readonly payload: {
        readonly name: string
        readonly callback_url: string
        readonly icon?: string | undefined
      }
    }
    readonly getOAuth2App: {
      readonly path: {
        /** A UUID. */
        readonly app: string
      }
    }
    readonly updateOAuth2App: {
      readonly path: {
        /** A UUID. */
        readonly app: string
      }
      readonly payload: {
        readonly name: string
        readonly callback_url: string
        readonly icon?: string | undefined
      }
    }
    readonly deleteOAuth2App: {
      readonly path: {
        /** A UUID. */
        readonly app: string
      }
    }
    readonly listOAuth2AppSecrets: {
      readonly path: {
        /** A UUID. */
        readonly app: string
      }
    }
    readonly createOAuth2AppSecret: {
      readonly path: {
        /** A UUID. */
        readonly app: string
      }
    }
    readonly deleteOAuth2AppSecret: {
      readonly path: {
        /** A UUID. */
        readonly app: string
        /** A UUID. */
        readonly secretID: string
      }
    }
    readonly getOAuth2Settings: {}
    readonly updateOAuth2Settings: {
      readonly payload: {
        readonly dynamic_client_registration_enabled?: boolean | undefined
      }
    }
  }
  readonly organizationAiSpend: {
    readonly getGroupsAiSpend: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly urlParams?: {
        /** At most 1000 items. */
        readonly group_ids?: ReadonlyArray<string> | undefined
      } | undefined
    }
    readonly getGroupMembersAiSpendByName: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
        /** At most 1024 characters. */
        readonly groupName: string
      }
      readonly urlParams?: {
        /** At most 1000 items. */
        readonly user_ids?: ReadonlyArray<string> | undefined
      } | undefined
    }
  }
  readonly organizationGroups: {
    readonly listOrganizationGroups: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly has_member?: string | undefined
        /** At most 1000 items. */
        readonly group_ids?: ReadonlyArray<string> | undefined
      } | undefined
    }
    readonly createGroup: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly payload: {
        readonly name: string
        readonly display_name?: string | undefined
        readonly avatar_url?: string | undefined
        readonly quota_allowance?: number | undefined
      }
    }
    readonly listGroupsInPages: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly q?: string | undefined
        /** A UUID. */
        readonly after_id?: string | undefined
        /** From 0 to 2147483647. */
        readonly limit?: number | undefined
        /** From 0 to 2147483647. */
        readonly offset?: number | undefined
      } | undefined
    }
    readonly getGroupByName: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
        /** At most 1024 characters. */
        readonly groupName: string
      }
      readonly urlParams?: {
        readonly exclude_members?: boolean | undefined
      } | undefined
    }
    readonly listGroupMembersByName: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
        /** At most 1024 characters. */
        readonly groupName: string
      }
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly q?: string | undefined
        /** A UUID. */
        readonly after_id?: string | undefined
        /** From 0 to 2147483647. */
        readonly limit?: number | undefined
        /** From 0 to 2147483647. */
        readonly offset?: number | undefined
      } | undefined
    }
  }
  readonly organizations: {
    readonly listOrganizations: {}
    readonly createOrganization: {
      readonly payload: {
        readonly name: string
        readonly display_name?: string | undefined
        readonly description?: string | undefined
        readonly icon?: string | undefined
      }
    }
    readonly getOrganization: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
    }
    readonly updateOrganization: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly payload: {
        readonly name?: string | undefined
        readonly display_name?: string | undefined
        readonly description?: string | undefined
        readonly icon?: string | undefined
        /** At most 1000 items. */
        readonly default_org_member_roles?: ReadonlyArray<string> | undefined
      }
    }
    readonly deleteOrganization: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
    }
    readonly getWorkspaceSharing: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
    }
    readonly updateWorkspaceSharing: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly payload: {
        readonly sharing_disabled?: boolean | undefined
        readonly shareable_workspace_owners?: "everyone" | "service_accounts" | "none" | "" | undefined
      }
    }
  }
  readonly ownAgent: {
    readonly addAgentLogSource: {
      readonly payload: {
        /** A UUID. */
        readonly id: string
        readonly display_name?: string | undefined
        readonly icon?: string | undefined
      }
    }
    readonly addAgentLogs: {
      readonly payload: {
        /** A UUID. */
        readonly log_source_id?: string | undefined
        /** At most 2000 items. */
        readonly logs?: ReadonlyArray<{
          readonly level?: string | undefined
          readonly output?: string | undefined
        }> | undefined
      }
    }
    readonly setAgentAppStatus: {
      readonly payload: {
        readonly app_slug?: string | undefined
        readonly state?: string | undefined
        readonly message?: string | undefined
        readonly uri?: string | undefined
        readonly icon?: string | undefined
        readonly needs_user_attention?: boolean | undefined
      }
    }
    readonly getAgentGitSshKey: {}
    readonly getAgentExternalAuth: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly match?: string | undefined
        /** At most 4096 characters. */
        readonly url?: string | undefined
        /** At most 4096 characters. */
        readonly id?: string | undefined
        /** At most 4096 characters. */
        readonly listen?: string | undefined
      } | undefined
    }
    readonly getAgentGitAuth: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly match?: string | undefined
        /** At most 4096 characters. */
        readonly url?: string | undefined
        /** At most 4096 characters. */
        readonly id?: string | undefined
        /** At most 4096 characters. */
        readonly listen?: string | undefined
      } | undefined
    }
    readonly getAgentReinitialization: {
      readonly urlParams?: {
        readonly wait?: boolean | undefined
      } | undefined
    }
    readonly connectAgent: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly version?: string | undefined
        /** At most 4096 characters. */
        readonly role?: string | undefined
      } | undefined
    }
  }
  readonly ownWorkspaceProxy: {
    readonly registerWorkspaceProxy: {
      readonly payload: {
        readonly access_url: string
        readonly wildcard_hostname?: string | undefined
        readonly derp_enabled?: boolean | undefined
        readonly derp_only?: boolean | undefined
        /** A UUID. */
        readonly replica_id?: string | undefined
        readonly hostname?: string | undefined
        readonly replica_error?: string | undefined
        readonly replica_relay_address?: string | undefined
        readonly version?: string | undefined
      }
    }
    readonly deregisterWorkspaceProxy: {
      readonly payload: {
        /** A UUID. */
        readonly replica_id?: string | undefined
      }
    }
    readonly reportAppStats: {
      readonly payload: {
        /** At most 10000 items. */
        readonly stats?: ReadonlyArray<{
          /** A UUID. */
          readonly user_id: string
          /** A UUID. */
          readonly workspace_id: string
          /** A UUID. */
          readonly agent_id: string
          readonly access_method: "path" | "subdomain" | "terminal"
          readonly slug_or_port?: string | undefined
          /** A UUID. */
          readonly session_id: string
          /** A time as RFC 3339 writes it. */
          readonly session_started_at: string
          /** A time as RFC 3339 writes it. */
          readonly session_ended_at: string
          readonly requests: number
        }> | undefined
      }
    }
    readonly issueSignedAppToken: {
      readonly payload: {
        readonly app_request: SignedAppRequest
        readonly path_app_base_url?: string | undefined
        readonly app_hostname?: string | undefined
        readonly app_path?: string | undefined
        readonly app_query?: string | undefined
        readonly session_token?: string | undefined
      }
    }
    readonly listCryptoKeys: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly feature?: string | undefined
      } | undefined
    }
    readonly coordinateWorkspaceProxy: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly version?: string | undefined
      } | undefined
    }
  }
  readonly passcodes: {
    readonly requestPasscode: {
      readonly payload: {
        readonly email: string
      }
    }
    readonly changePasswordWithPasscode: {
      readonly payload: {
        readonly email: string
        readonly one_time_passcode: string
        readonly password: string
      }
    }
  }
  readonly personalSettings: {
    readonly getAppearance: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly updateAppearance: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly payload: {
        readonly theme_preference: string
        readonly theme_mode?: string | undefined
        readonly theme_light?: string | undefined
        readonly theme_dark?: string | undefined
        readonly terminal_font: string
      }
    }
    readonly getPreferences: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly updatePreferences: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly payload: {
        readonly task_notification_alert_dismissed?: boolean | undefined
        readonly thinking_display_mode?: string | undefined
        readonly shell_tool_display_mode?: string | undefined
        readonly code_diff_display_mode?: string | undefined
        readonly agent_chat_send_shortcut?: string | undefined
      }
    }
  }
  readonly portShares: {
    readonly listPortShares: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
    }
    readonly sharePort: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
      readonly payload: {
        readonly agent_name: string
        readonly port: number
        readonly share_level: string
        readonly protocol: string
      }
    }
    readonly unsharePort: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
      readonly payload: {
        readonly agent_name?: string | undefined
        readonly port?: number | undefined
      }
    }
  }
  readonly prebuilds: {
    readonly getPrebuildsSettings: {}
    readonly updatePrebuildsSettings: {
      readonly payload: {
        readonly reconciliation_paused?: boolean | undefined
      }
    }
    readonly invalidatePresets: {
      readonly path: {
        /** A UUID. */
        readonly template: string
      }
    }
  }
  readonly processes: {
    readonly exec: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly payload: {
        /** At most 4096 characters. */
        readonly program?: string | undefined
        /** At most 10000 items. */
        readonly args?: ReadonlyArray<string> | undefined
        /** At most 1048576 characters. */
        readonly command?: string | undefined
        /** At most 4096 characters. */
        readonly cwd?: string | undefined
        readonly env?: Readonly<Record<string, string>> | undefined
        /** a positive number. Milliseconds. */
        readonly timeout_ms?: number | undefined
        /** At most 16777216 characters. */
        readonly stdin?: string | undefined
        readonly encoding?: "utf8" | "base64" | undefined
        /** a number between 0 and 16777216. */
        readonly max_output_bytes?: number | undefined
      }
    }
    readonly startProcess: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly payload: {
        /** At most 4096 characters. */
        readonly program?: string | undefined
        /** At most 10000 items. */
        readonly args?: ReadonlyArray<string> | undefined
        /** At most 1048576 characters. */
        readonly command?: string | undefined
        /** At most 4096 characters. */
        readonly cwd?: string | undefined
        readonly env?: Readonly<Record<string, string>> | undefined
        /** a positive number. Milliseconds. */
        readonly timeout_ms?: number | undefined
        readonly pty?: {
          /** a number between 1 and 65535. */
          readonly cols: number
          /** a number between 1 and 65535. */
          readonly rows: number
        } | undefined
        readonly stdin?: boolean | undefined
      }
    }
    readonly listProcesses: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
    }
    readonly getProcess: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
        /** At most 1024 characters. */
        readonly process: string
      }
    }
    readonly deleteProcess: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
        /** At most 1024 characters. */
        readonly process: string
      }
    }
    readonly waitForProcess: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
        /** At most 1024 characters. */
        readonly process: string
      }
      readonly urlParams?: {
        /** Milliseconds. */
        readonly timeout_ms?: number | undefined
      } | undefined
    }
    readonly signalProcess: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
        /** At most 1024 characters. */
        readonly process: string
      }
      readonly payload: {
        /** At most 32 characters. */
        readonly signal: string
      }
    }
    readonly resizeProcess: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
        /** At most 1024 characters. */
        readonly process: string
      }
      readonly payload: {
        /** a number between 1 and 65535. */
        readonly cols: number
        /** a number between 1 and 65535. */
        readonly rows: number
      }
    }
    readonly openProcess: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
        /** At most 1024 characters. */
        readonly process: string
      }
      readonly urlParams?: {
        readonly offset?: number | undefined
      } | undefined
    }
  }
  readonly provisionerKeys: {
    readonly createProvisionerKey: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly payload: {
        readonly name: string
        readonly tags?: Readonly<Record<string, string>> | undefined
      }
    }
    readonly listProvisionerKeys: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
    }
    readonly listProvisionerKeyDaemons: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
    }
    readonly deleteProvisionerKey: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
        /** At most 1024 characters. */
        readonly provisionerkey: string
      }
    }
    readonly getProvisionerKey: {
      readonly path: {
        /** At most 1024 characters. */
        readonly provisionerkey: string
      }
    }
    readonly serveProvisionerDaemon: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly urlParams?: {
        /** At most 1000 items. */
        readonly provisioner?: ReadonlyArray<string> | undefined
        /** At most 1000 items. */
        readonly tag?: ReadonlyArray<string> | undefined
        /** At most 4096 characters. */
        readonly name?: string | undefined
        /** At most 4096 characters. */
        readonly version?: string | undefined
        /** At most 1000 items. */
        readonly repeatable?: ReadonlyArray<string> | undefined
        /** At most 1000 items. */
        readonly engine?: ReadonlyArray<string> | undefined
      } | undefined
    }
  }
  readonly provisioning: {
    readonly uploadFile: {}
    readonly downloadFile: {
      readonly path: {
        /** A UUID. */
        readonly fileID: string
      }
      readonly urlParams?: {
        readonly format?: "zip" | undefined
      } | undefined
    }
    readonly listProvisionerJobs: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly urlParams?: {
        /** From 0 to 2147483647. */
        readonly limit?: number | undefined
        /** At most 1000 items. */
        readonly ids?: ReadonlyArray<string> | undefined
        /** At most 4096 characters. */
        readonly tags?: string | undefined
        /** At most 1000 items. */
        readonly status?: ReadonlyArray<"pending" | "running" | "succeeded" | "canceling" | "canceled" | "failed" | "unknown"> | undefined
        /** A UUID. */
        readonly initiator?: string | undefined
      } | undefined
    }
    readonly getProvisionerJob: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
        /** A UUID. */
        readonly job: string
      }
    }
    readonly listProvisionerDaemons: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly urlParams?: {
        /** From 0 to 2147483647. */
        readonly limit?: number | undefined
        /** At most 1000 items. */
        readonly ids?: ReadonlyArray<string> | undefined
        /** At most 4096 characters. */
        readonly tags?: string | undefined
        readonly offline?: boolean | undefined
        /** At most 1000 items. */
        readonly status?: ReadonlyArray<"offline" | "idle" | "busy"> | undefined
        /** At most 4096 characters. */
        readonly max_age?: string | undefined
      } | undefined
    }
  }
  readonly quietHours: {
    readonly getQuietHours: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly updateQuietHours: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly payload: {
        readonly schedule: string
      }
    }
  }
  readonly quotas: {
    readonly getMemberQuota: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly getQuota: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
  }
  readonly regions: {
    readonly listReplicas: {}
    readonly listRegions: {}
    readonly getAppHost: {}
  }
  readonly relay: {
    readonly getRelayTraffic: {}
  }
  readonly scim: {
    readonly getScimServiceProviderConfig: {}
    readonly listScimResourceTypes: {}
    readonly getScimResourceType: {
      readonly path: {
        /** At most 1024 characters. */
        readonly name: string
      }
    }
    readonly listScimSchemas: {}
    readonly getScimSchema: {
      readonly path: {
        /** At most 1024 characters. */
        readonly name: string
      }
    }
    readonly listScimUsers: {
      readonly urlParams?: {
        readonly startIndex?: number | undefined
        readonly count?: number | undefined
        /** At most 4096 characters. */
        readonly filter?: string | undefined
      } | undefined
    }
    readonly createScimUser: {
      readonly payload: SCIMCreatedUser
    }
    readonly getScimUser: {
      readonly path: {
        /** At most 1024 characters. */
        readonly id: string
      }
    }
    readonly replaceScimUser: {
      readonly path: {
        /** At most 1024 characters. */
        readonly id: string
      }
      readonly payload: SCIMReplacedUser
    }
    readonly updateScimUser: {
      readonly path: {
        /** At most 1024 characters. */
        readonly id: string
      }
      readonly payload: SCIMPatch
    }
    readonly suspendScimUser: {
      readonly path: {
        /** At most 1024 characters. */
        readonly id: string
      }
    }
  }
  readonly ssh: {
    readonly openSsh: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly urlParams?: {
        readonly client?: "ssh" | "vscode" | "jetbrains" | undefined
      } | undefined
    }
    readonly getSshHostKey: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
    }
  }
  readonly sshKeys: {
    readonly listSshKeys: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly addSshKey: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly payload: {
        /** At most 255 characters. */
        readonly name?: string | undefined
        /** At most 16384 characters. */
        readonly public_key: string
      }
    }
    readonly deleteSshKey: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
        /** A UUID. */
        readonly sshkey: string
      }
    }
  }
  readonly taskSnapshots: {
    readonly storeTaskLogSnapshot: {
      readonly path: {
        /** A UUID. */
        readonly task: string
      }
      readonly urlParams: {
        readonly format: "agentapi"
      }
      readonly payload: {
        /** At most 2000 items. */
        readonly messages: ReadonlyArray<{
          readonly id: number
          readonly role: "user" | "agent"
          readonly content: string
          /** A time as RFC 3339 writes it. */
          readonly time: string
        }>
      }
    }
  }
  readonly tasks: {
    readonly listTasks: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly q?: string | undefined
      } | undefined
    }
    readonly createTask: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly payload: {
        /** A UUID. */
        readonly template_version_id: string
        /** A UUID. */
        readonly template_version_preset_id?: string | undefined
        /** At most 32767 characters. */
        readonly input?: string | undefined
        readonly name?: string | undefined
        readonly display_name?: string | undefined
      }
    }
    readonly getTask: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
        /** At most 1024 characters. */
        readonly task: string
      }
    }
    readonly deleteTask: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
        /** At most 1024 characters. */
        readonly task: string
      }
    }
    readonly updateTaskInput: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
        /** At most 1024 characters. */
        readonly task: string
      }
      readonly payload: {
        /** At most 32767 characters. */
        readonly input: string
      }
    }
    readonly getTaskLogs: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
        /** At most 1024 characters. */
        readonly task: string
      }
    }
    readonly pauseTask: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
        /** At most 1024 characters. */
        readonly task: string
      }
    }
    readonly resumeTask: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
        /** At most 1024 characters. */
        readonly task: string
      }
    }
    readonly sendTaskMessage: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
        /** At most 1024 characters. */
        readonly task: string
      }
      readonly payload: {
        readonly input: string
      }
    }
  }
  readonly templateBuilder: {
    readonly listTemplateBuilderBases: {}
    readonly listTemplateBuilderModules: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly base?: string | undefined
      } | undefined
    }
    readonly composeTemplate: {
      readonly payload: {
        readonly base_template_id: string
        readonly base_variable_values?: Readonly<Record<string, string>> | undefined
        /** At most 1000 items. */
        readonly modules?: ReadonlyArray<{
          readonly id?: string | undefined
          readonly variables?: Readonly<Record<string, string>> | undefined
        }> | undefined
      }
    }
    readonly createComposedTemplate: {
      readonly payload: {
        readonly base_template_id: string
        readonly base_variable_values?: Readonly<Record<string, string>> | undefined
        /** At most 1000 items. */
        readonly modules?: ReadonlyArray<{
          readonly id?: string | undefined
          readonly variables?: Readonly<Record<string, string>> | undefined
        }> | undefined
        /** A UUID. */
        readonly organization_id: string
        readonly name: string
        readonly display_name?: string | undefined
        readonly description?: string | undefined
        readonly icon?: string | undefined
        readonly provisioner_tags?: Readonly<Record<string, string>> | undefined
      }
    }
    readonly recordTemplateBuilderSession: {
      readonly payload: {
        /** A UUID. */
        readonly session_id: string
        readonly event_type: string
        readonly base_template_id?: string | undefined
        /** At most 1000 items. */
        readonly module_ids?: ReadonlyArray<string> | undefined
        /** a number between 0 and 1000000000. Seconds. */
        readonly duration_seconds?: number | undefined
        readonly success?: boolean | undefined
      }
    }
  }
  readonly templateSharing: {
    readonly listAvailableForTemplate: {
      readonly path: {
        /** A UUID. */
        readonly template: string
      }
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly q?: string | undefined
        /** A UUID. */
        readonly after_id?: string | undefined
        /** From 0 to 2147483647. */
        readonly limit?: number | undefined
        /** From 0 to 2147483647. */
        readonly offset?: number | undefined
      } | undefined
    }
    readonly getTemplateAcl: {
      readonly path: {
        /** A UUID. */
        readonly template: string
      }
    }
    readonly updateTemplateAcl: {
      readonly path: {
        /** A UUID. */
        readonly template: string
      }
      readonly payload: {
        readonly user_perms?: Readonly<Record<string, string>> | undefined
        readonly group_perms?: Readonly<Record<string, string>> | undefined
      }
    }
  }
  readonly templateVersions: {
    readonly createTemplateVersion: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly payload: {
        readonly storage_method: "file"
        readonly provisioner: "terraform" | "echo"
        /** A UUID. */
        readonly file_id?: string | undefined
        readonly example_id?: string | undefined
        readonly name?: string | undefined
        readonly message?: string | undefined
        /** A UUID. */
        readonly template_id?: string | undefined
        readonly tags?: Readonly<Record<string, string>> | undefined
        /** At most 1000 items. */
        readonly user_variable_values?: ReadonlyArray<{
          readonly name?: string | undefined
          readonly value?: string | undefined
        }> | undefined
      }
    }
    readonly listTemplateVersions: {
      readonly path: {
        /** A UUID. */
        readonly template: string
      }
      readonly urlParams?: {
        /** A UUID. */
        readonly after_id?: string | undefined
        /** From 0 to 2147483647. */
        readonly limit?: number | undefined
        /** From 0 to 2147483647. */
        readonly offset?: number | undefined
        readonly include_archived?: boolean | undefined
      } | undefined
    }
    readonly promoteTemplateVersion: {
      readonly path: {
        /** A UUID. */
        readonly template: string
      }
      readonly payload: {
        /** A UUID. */
        readonly id: string
      }
    }
    readonly getTemplateVersionByName: {
      readonly path: {
        /** A UUID. */
        readonly template: string
        /** At most 1024 characters. */
        readonly templateversionname: string
      }
    }
    readonly getTemplateVersionByNames: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
        /** At most 1024 characters. */
        readonly templatename: string
        /** At most 1024 characters. */
        readonly templateversionname: string
      }
    }
    readonly getPreviousTemplateVersion: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
        /** At most 1024 characters. */
        readonly templatename: string
        /** At most 1024 characters. */
        readonly templateversionname: string
      }
    }
    readonly getTemplateVersion: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
      }
    }
    readonly updateTemplateVersion: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
      }
      readonly payload: {
        readonly name?: string | undefined
        readonly message?: string | undefined
      }
    }
    readonly cancelTemplateVersion: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
      }
    }
    readonly getTemplateVersionLogs: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
      }
      readonly urlParams?: {
        /** Returns rows with greater ids. */
        readonly after?: number | undefined
        /** At most 4096 characters. */
        readonly before?: string | undefined
        /** At most 4096 characters. */
        readonly follow?: string | undefined
        readonly format?: "json" | "text" | undefined
      } | undefined
    }
    readonly getTemplateVersionResources: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
      }
    }
    readonly getTemplateVersionParameters: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
      }
    }
    readonly getTemplateVersionVariables: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
      }
    }
    readonly getTemplateVersionExternalAuth: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
      }
      readonly urlParams?: {
        readonly user_id?: string | "me" | undefined
      } | undefined
    }
    readonly getTemplateVersionPresets: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
      }
    }
    readonly evaluateDynamicParameters: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
      }
      readonly payload: DynamicParametersRequest
    }
    readonly openDynamicParameters: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
      }
      readonly urlParams?: {
        readonly user_id?: string | "me" | undefined
      } | undefined
    }
    readonly createDryRun: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
      }
      readonly payload: {
        readonly workspace_name?: string | undefined
        /** At most 1000 items. */
        readonly rich_parameter_values?: ReadonlyArray<{
          readonly name?: string | undefined
          readonly value?: string | undefined
        }> | undefined
        /** At most 1000 items. */
        readonly user_variable_values?: ReadonlyArray<{
          readonly name?: string | undefined
          readonly value?: string | undefined
        }> | undefined
      }
    }
    readonly getDryRun: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
        /** A UUID. */
        readonly jobID: string
      }
    }
    readonly getDryRunMatchedProvisioners: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
        /** A UUID. */
        readonly jobID: string
      }
    }
    readonly getDryRunResources: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
        /** A UUID. */
        readonly jobID: string
      }
    }
    readonly getDryRunLogs: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
        /** A UUID. */
        readonly jobID: string
      }
      readonly urlParams?: {
        /** Returns rows with greater ids. */
        readonly after?: number | undefined
        /** At most 4096 characters. */
        readonly before?: string | undefined
        /** At most 4096 characters. */
        readonly follow?: string | undefined
        readonly format?: "json" | "text" | undefined
      } | undefined
    }
    readonly cancelDryRun: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
        /** A UUID. */
        readonly jobID: string
      }
    }
    readonly archiveTemplateVersions: {
      readonly path: {
        /** A UUID. */
        readonly template: string
      }
      readonly payload: {
        readonly all?: boolean | undefined
      }
    }
    readonly archiveTemplateVersion: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
      }
    }
    readonly unarchiveTemplateVersion: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
      }
    }
    readonly getTemplateVersionLegacyParameters: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
      }
    }
    readonly getTemplateVersionSchema: {
      readonly path: {
        /** A UUID. */
        readonly templateversion: string
      }
    }
  }
  readonly templates: {
    readonly createTemplate: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly payload: {
        readonly display_name?: string | undefined
        readonly description?: string | undefined
        readonly icon?: string | undefined
        /** Milliseconds. */
        readonly default_ttl_ms?: number | undefined
        /** Milliseconds. */
        readonly activity_bump_ms?: number | undefined
        /** Milliseconds. */
        readonly time_til_autostop_notify_ms?: number | undefined
        readonly autostop_requirement?: {
          /** At most 1000 items. */
          readonly days_of_week?: ReadonlyArray<string> | undefined
          readonly weeks?: number | undefined
        } | undefined
        readonly autostart_requirement?: {
          /** At most 1000 items. */
          readonly days_of_week?: ReadonlyArray<string> | undefined
        } | undefined
        readonly allow_user_autostart?: boolean | undefined
        readonly allow_user_autostop?: boolean | undefined
        readonly allow_user_cancel_workspace_jobs?: boolean | undefined
        /** Milliseconds. */
        readonly failure_ttl_ms?: number | undefined
        readonly require_active_version?: boolean | undefined
        readonly disable_everyone_group_access?: boolean | undefined
        readonly agents_allowed?: boolean | undefined
        readonly name: string
        /** A UUID. */
        readonly template_version_id: string
        /** Milliseconds. */
        readonly dormant_ttl_ms?: number | undefined
        /** Milliseconds. */
        readonly delete_ttl_ms?: number | undefined
        readonly template_use_classic_parameter_flow?: boolean | undefined
        readonly max_port_share_level?: "owner" | "organization" | "authenticated" | "public" | undefined
        readonly cors_behavior?: "" | "simple" | "passthru" | undefined
      }
    }
    readonly listOrganizationTemplates: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly q?: string | undefined
      } | undefined
    }
    readonly listOrganizationTemplateExamples: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
      }
    }
    readonly getTemplateByName: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
        /** At most 1024 characters. */
        readonly templatename: string
      }
    }
    readonly listTemplates: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly q?: string | undefined
      } | undefined
    }
    readonly listTemplateExamples: {}
    readonly getTemplate: {
      readonly path: {
        /** A UUID. */
        readonly template: string
      }
    }
    readonly updateTemplate: {
      readonly path: {
        /** A UUID. */
        readonly template: string
      }
      readonly payload: {
        readonly display_name?: string | undefined
        readonly description?: string | undefined
        readonly icon?: string | undefined
        /** Milliseconds. */
        readonly default_ttl_ms?: number | undefined
        /** Milliseconds. */
        readonly activity_bump_ms?: number | undefined
        /** Milliseconds. */
        readonly time_til_autostop_notify_ms?: number | undefined
        readonly autostop_requirement?: {
          /** At most 1000 items. */
          readonly days_of_week?: ReadonlyArray<string> | undefined
          readonly weeks?: number | undefined
        } | undefined
        readonly autostart_requirement?: {
          /** At most 1000 items. */
          readonly days_of_week?: ReadonlyArray<string> | undefined
        } | undefined
        readonly allow_user_autostart?: boolean | undefined
        readonly allow_user_autostop?: boolean | undefined
        readonly allow_user_cancel_workspace_jobs?: boolean | undefined
        /** Milliseconds. */
        readonly failure_ttl_ms?: number | undefined
        readonly require_active_version?: boolean | undefined
        readonly disable_everyone_group_access?: boolean | undefined
        readonly agents_allowed?: boolean | undefined
        readonly name?: string | undefined
        /** Milliseconds. */
        readonly time_til_dormant_ms?: number | undefined
        /** Milliseconds. */
        readonly time_til_dormant_autodelete_ms?: number | undefined
        readonly deprecation_message?: string | undefined
        readonly use_classic_parameter_flow?: boolean | undefined
        readonly disable_module_cache?: boolean | undefined
        readonly update_workspace_last_used_at?: boolean | undefined
        readonly update_workspace_dormant_at?: boolean | undefined
        readonly max_port_share_level?: "owner" | "organization" | "authenticated" | "public" | undefined
        readonly cors_behavior?: "" | "simple" | "passthru" | undefined
      }
    }
    readonly deleteTemplate: {
      readonly path: {
        /** A UUID. */
        readonly template: string
      }
    }
  }
  readonly terminals: {
    readonly openTerminal: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly reconnect?: string | undefined
        /** At most 4096 characters. */
        readonly height?: string | undefined
        /** At most 4096 characters. */
        readonly width?: string | undefined
        /** At most 4096 characters. */
        readonly command?: string | undefined
        /** At most 4096 characters. */
        readonly container?: string | undefined
        /** At most 4096 characters. */
        readonly container_user?: string | undefined
        /** At most 4096 characters. */
        readonly backend_type?: string | undefined
      } | undefined
    }
    readonly connectPort: {
      readonly path: {
        /** A UUID. */
        readonly workspaceagent: string
      }
      readonly urlParams: {
        readonly port: number
      }
    }
    readonly issueTerminalToken: {
      readonly payload: {
        readonly url: string
        /** A UUID. */
        readonly agentID: string
      }
    }
  }
  readonly userAiBudgets: {
    readonly getAiBudgetOverride: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly setAiBudgetOverride: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly payload: {
        /** A UUID. */
        readonly group_id: string
        /** Millionths of a unit of the currency. */
        readonly spend_limit_micros?: number | undefined
      }
    }
    readonly deleteAiBudgetOverride: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly getUserAiSpend: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
  }
  readonly userSecrets: {
    readonly createUserSecret: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly payload: {
        readonly name: string
        readonly value: string
        readonly description?: string | undefined
        readonly env_name?: string | undefined
        readonly file_path?: string | undefined
        readonly enabled?: boolean | undefined
      }
    }
    readonly listUserSecrets: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly importUserSecrets: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly payload: {
        readonly format: SecretsFileFormat
        readonly content: string
      }
    }
    readonly getUserSecret: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
        /** At most 1024 characters. */
        readonly name: string
      }
    }
    readonly updateUserSecret: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
        /** At most 1024 characters. */
        readonly name: string
      }
      readonly payload: {
        readonly value?: string | undefined
        readonly description?: string | undefined
        readonly env_name?: string | undefined
        readonly file_path?: string | undefined
        readonly enabled?: boolean | undefined
      }
    }
    readonly deleteUserSecret: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
        /** At most 1024 characters. */
        readonly name: string
      }
    }
  }
  readonly users: {
    readonly listUsers: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly q?: string | undefined
        /** A UUID. */
        readonly after_id?: string | undefined
        /** From 0 to 2147483647. */
        readonly limit?: number | undefined
        /** From 0 to 2147483647. */
        readonly offset?: number | undefined
      } | undefined
    }
    readonly createUser: {
      readonly payload: {
        readonly email: string
        readonly username: string
        readonly name?: string | undefined
        readonly password?: string | undefined
        readonly login_type?: LoginType | undefined
        readonly user_status?: UserStatus | undefined
        readonly service_account?: boolean | undefined
        /** At most 1000 items. */
        readonly organization_ids?: ReadonlyArray<string> | undefined
        /** A UUID. */
        readonly organization_id?: string | undefined
        /** At most 1000 items. */
        readonly roles?: ReadonlyArray<string> | undefined
      }
    }
    readonly getUser: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly deleteUser: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly updateProfile: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly payload: {
        readonly username: string
        readonly name?: string | undefined
        readonly avatar_url?: string | undefined
      }
    }
    readonly suspendUser: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly activateUser: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly listSiteRoles: {}
    readonly getUserRoles: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly updateUserRoles: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly payload: {
        /** At most 1000 items. */
        readonly roles?: ReadonlyArray<string> | undefined
      }
    }
    readonly listUserOrganizations: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
    readonly getUserOrganization: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
        /** At most 1024 characters. */
        readonly organizationname: string
      }
    }
    readonly hasFirstUser: {}
    readonly createFirstUser: {
      readonly payload: {
        readonly email: string
        readonly username: string
        readonly name?: string | undefined
        readonly password: string
        readonly trial?: boolean | undefined
        readonly trial_info?: {
          readonly first_name?: string | undefined
          readonly last_name?: string | undefined
          readonly phone_number?: string | undefined
          readonly job_title?: string | undefined
          readonly company_name?: string | undefined
          readonly country?: string | undefined
          readonly developers?: string | undefined
        } | undefined
        readonly onboarding_info?: {
          readonly newsletter_marketing?: boolean | undefined
          readonly newsletter_releases?: boolean | undefined
        } | undefined
      }
    }
  }
  readonly webPush: {
    readonly createWebpushSubscription: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly payload: {
        readonly endpoint: string
        readonly p256dh_key: string
        readonly auth_key: string
      }
    }
    readonly deleteWebpushSubscription: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly payload: {
        readonly endpoint?: string | undefined
      }
    }
    readonly sendTestPush: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
    }
  }
  readonly workspaceProxies: {
    readonly listWorkspaceProxies: {}
    readonly createWorkspaceProxy: {
      readonly payload: {
        readonly name: string
        readonly display_name?: string | undefined
        readonly icon?: string | undefined
      }
    }
    readonly getWorkspaceProxy: {
      readonly path: {
        /** At most 1024 characters. */
        readonly workspaceproxy: string
      }
    }
    readonly updateWorkspaceProxy: {
      readonly path: {
        /** At most 1024 characters. */
        readonly workspaceproxy: string
      }
      readonly payload: {
        readonly id: string
        readonly name: string
        readonly display_name: string
        readonly icon: string
        readonly regenerate_token?: boolean | undefined
      }
    }
    readonly deleteWorkspaceProxy: {
      readonly path: {
        /** At most 1024 characters. */
        readonly workspaceproxy: string
      }
    }
  }
  readonly workspaceSettings: {
    readonly setWorkspaceBuildState: {
      readonly path: {
        /** A UUID. */
        readonly workspacebuild: string
      }
      readonly payload: {
        /** Base64. At most 4194304 characters. */
        readonly state?: string | undefined
      }
    }
    readonly listAvailableOwners: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly q?: string | undefined
        /** From 0 to 2147483647. */
        readonly limit?: number | undefined
        /** From 0 to 2147483647. */
        readonly offset?: number | undefined
      } | undefined
    }
    readonly setWorkspaceAutostart: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
      readonly payload: {
        readonly schedule?: string | undefined
      }
    }
    readonly setWorkspaceTtl: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
      readonly payload: {
        /** Milliseconds. */
        readonly ttl_ms?: number | undefined
      }
    }
    readonly extendWorkspace: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
      readonly payload: {
        /** A time as RFC 3339 writes it. */
        readonly deadline: string
      }
    }
    readonly setWorkspaceTimeout: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
      readonly payload: {
        /** Milliseconds. */
        readonly timeout_ms?: number | null | undefined
      }
    }
    readonly setWorkspaceDormant: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
      readonly payload: {
        readonly dormant?: boolean | undefined
      }
    }
    readonly setWorkspaceAutoupdates: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
      readonly payload: {
        readonly automatic_updates: string
      }
    }
    readonly addFavoriteWorkspace: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
    }
    readonly removeFavoriteWorkspace: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
    }
    readonly reportWorkspaceUsage: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
      readonly payload: {
        /** A UUID. */
        readonly agent_id?: string | undefined
        readonly app_name?: string | undefined
      }
    }
    readonly resolveWorkspaceAutostart: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
    }
    readonly getWorkspaceTimings: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
    }
    readonly getWorkspaceBuildTimings: {
      readonly path: {
        /** A UUID. */
        readonly workspacebuild: string
      }
    }
    readonly getExternalAgentCredentials: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
        /** At most 1024 characters. */
        readonly agent: string
      }
    }
  }
  readonly workspaceSharing: {
    readonly getWorkspaceAcl: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
    }
    readonly updateWorkspaceAcl: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
      readonly payload: {
        readonly user_roles?: Readonly<Record<string, string>> | undefined
        readonly group_roles?: Readonly<Record<string, string>> | undefined
      }
    }
    readonly clearWorkspaceAcl: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
    }
  }
  readonly workspaces: {
    readonly createMemberWorkspace: {
      readonly path: {
        /** An id, a name, or `default`. At most 1024 characters. */
        readonly organization: string
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly payload: {
        readonly name: string
        /** A UUID. */
        readonly template_id?: string | undefined
        /** A UUID. */
        readonly template_version_id?: string | undefined
        /** A UUID. */
        readonly template_version_preset_id?: string | undefined
        readonly autostart_schedule?: string | undefined
        /** Milliseconds. */
        readonly ttl_ms?: number | undefined
        /** Milliseconds. */
        readonly timeout_ms?: number | null | undefined
        readonly automatic_updates?: string | undefined
        /** At most 1000 items. */
        readonly rich_parameter_values?: ReadonlyArray<{
          readonly name?: string | undefined
          readonly value?: string | undefined
        }> | undefined
      }
    }
    readonly createWorkspace: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
      }
      readonly payload: {
        readonly name: string
        /** A UUID. */
        readonly template_id?: string | undefined
        /** A UUID. */
        readonly template_version_id?: string | undefined
        /** A UUID. */
        readonly template_version_preset_id?: string | undefined
        readonly autostart_schedule?: string | undefined
        /** Milliseconds. */
        readonly ttl_ms?: number | undefined
        /** Milliseconds. */
        readonly timeout_ms?: number | null | undefined
        readonly automatic_updates?: string | undefined
        /** At most 1000 items. */
        readonly rich_parameter_values?: ReadonlyArray<{
          readonly name?: string | undefined
          readonly value?: string | undefined
        }> | undefined
      }
    }
    readonly listWorkspaces: {
      readonly urlParams?: {
        /** At most 4096 characters. */
        readonly q?: string | undefined
        /** A UUID. */
        readonly after_id?: string | undefined
        /** From 0 to 2147483647. */
        readonly limit?: number | undefined
        /** From 0 to 2147483647. */
        readonly offset?: number | undefined
      } | undefined
    }
    readonly getWorkspace: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
      readonly urlParams?: {
        readonly include_deleted?: boolean | undefined
      } | undefined
    }
    readonly updateWorkspace: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
      readonly payload: {
        readonly name: string
      }
    }
    readonly getWorkspaceByName: {
      readonly path: {
        /** An id, a username, or `me`. At most 1024 characters. */
        readonly user: string
        /** At most 1024 characters. */
        readonly workspacename: string
      }
      readonly urlParams?: {
        readonly include_deleted?: boolean | undefined
      } | undefined
    }
    readonly watchWorkspace: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
    }
    readonly watchWorkspaceSocket: {
      readonly path: {
        /** A UUID. */
        readonly workspace: string
      }
    }
  }
}

export type AuditAction = "create" | "write" | "delete" | "start" | "stop" | "login" | "logout" | "register" | "request_password_reset" | "connect" | "disconnect" | "open" | "close"

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

export interface DynamicParametersRequest {
  readonly id?: number | undefined
  readonly inputs?: Readonly<Record<string, string>> | undefined
  /** A UUID. */
  readonly owner_id?: string | undefined
}

export type HealthSection = "DERP" | "AccessURL" | "Websocket" | "Database" | "WorkspaceProxy" | "ProvisionerDaemons"

export type InsightsReportInterval = "day" | "week"

export type LoginType = "" | "password" | "github" | "oidc" | "token" | "none"

export interface RequestedPermission {
  readonly negate?: boolean | undefined
  readonly resource_type?: string | undefined
  readonly action?: string | undefined
}

export type ResourceType = "template" | "template_version" | "user" | "workspace" | "workspace_build" | "git_ssh_key" | "api_key" | "group" | "license" | "convert_login" | "health_settings" | "notifications_settings" | "prebuilds_settings" | "oauth2_provider_settings" | "workspace_proxy" | "organization" | "oauth2_provider_app" | "oauth2_provider_app_secret" | "custom_role" | "organization_member" | "notification_template" | "idp_sync_settings_organization" | "idp_sync_settings_group" | "idp_sync_settings_role" | "workspace_agent" | "workspace_app" | "task" | "ai_seat" | "ai_provider" | "ai_provider_key" | "ai_gateway_key" | "group_ai_budget" | "user_ai_budget_override" | "chat" | "mcp_server_config" | "user_secret" | "user_ssh_key" | "user_skill" | "chat_instruction_settings"

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

export type SecretsFileFormat = "env" | "json" | "yaml"

export interface SignedAppRequest {
  readonly access_method: "path" | "subdomain" | "terminal"
  readonly base_path?: string | undefined
  readonly app_prefix?: string | undefined
  readonly username_or_id?: string | undefined
  readonly workspace_name_or_id?: string | undefined
  readonly agent_name_or_id?: string | undefined
  readonly app_slug_or_port?: string | undefined
}

export type UserStatus = "active" | "dormant" | "suspended"
