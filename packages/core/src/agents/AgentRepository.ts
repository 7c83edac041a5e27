import { Context, type Effect, type Option } from "effect"
import type { SubjectInput } from "../access/actors/Subject.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { ApiKeyScope } from "../provisioning/engines/ProvisionedResource.js"
import type { AgentLifecycle, StartTimes } from "./AgentLifecycle.js"
import type { ScriptTiming } from "./manifest/AgentScript.js"
import type { AgentWorkspace } from "./AgentWorkspace.js"
import type { AgentSubsystem, WorkspaceAgentId } from "./WorkspaceAgent.js"
import type { AppHealth, AppState, AppStatus } from "./apps/WorkspaceApp.js"

/** An agent that may act now, with the rights it acts with. */
export interface AgentSession {
  readonly agent: AgentWorkspace
  readonly api_key_scope: ApiKeyScope
  readonly task_id: Uuid | null
  /** Of the workspace's owner; read only when they are new. */
  readonly owner_rights: {
    /** Equal for two agents exactly when what `read` answers is. */
    readonly fingerprint: string
    readonly read: () => Omit<SubjectInput, "scopes" | "allowList" | "options"> & { readonly userId: Uuid }
  }
}

/** An agent's report when it starts. */
export interface Startup {
  readonly version: string
  readonly expanded_directory: string
  readonly subsystems: ReadonlyArray<AgentSubsystem>
  readonly api_version: string
}

/** An agent, and a connection by which it has shown that it is there. */
export interface SignOfLife {
  readonly agentId: WorkspaceAgentId
  readonly connectionId: Uuid
}

/** A sign of life of a connection that lasts. */
export interface LastingSign extends SignOfLife {
  /** Whether the agent has been heard by it lately; otherwise it only has not been missed yet. */
  readonly isHeard: boolean
}

export class AgentRepository extends Context.Tag("@atelier/core/AgentRepository")<
  AgentRepository,
  {
    /** How far a workspace has come from a prebuilt one to its owner's: who initiated its first and latest builds, and whether the latter claims it. */
    readonly claimOf: (workspaceId: Uuid) => Effect.Effect<
      Option.Option<{
        readonly first_initiator_id: Uuid
        readonly latest_initiator_id: Uuid
        /** The workspace's. */
        readonly status: string
        readonly is_claim: boolean
      }>
    >
    /** The agent whose token has this hash, in one statement: it runs before every request of an agent. agents-and-apps.md §1. */
    readonly byToken: (hashedToken: Uint8Array) => Effect.Effect<Option.Option<AgentSession>>
    /** The same of any number of tokens, by the hexadecimal texts of their hashes. Those that authenticate no agent are left out. */
    readonly byTokens: (hashedTokens: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, AgentSession>>
    /** None for an agent, workspace or owner that is deleted, and for an agent of no workspace. */
    readonly byId: (id: WorkspaceAgentId) => Effect.Effect<Option.Option<AgentWorkspace>>
    /** Whether the agent exists and belongs to its workspace's latest build. */
    readonly isLatest: (id: WorkspaceAgentId) => Effect.Effect<boolean>
    /** Notes new connections of any number of agents, one of each, in one statement. Returns the agents that had none before. */
    readonly connect: (connections: ReadonlyArray<SignOfLife>, at: Timestamp) => Effect.Effect<ReadonlySet<WorkspaceAgentId>>
    /** Those among the agents that exist and belong to their workspace's latest build. */
    readonly latestAmong: (ids: ReadonlyArray<WorkspaceAgentId>) => Effect.Effect<ReadonlySet<WorkspaceAgentId>>
    /**
     * Notes signs of life of any number of agents in one statement. One of a connection that the agent has replaced counts for nothing, unless the other one has
     * ended and the agent is heard by this one: then the other one was noted late, by another process.
     */
    readonly touch: (signs: ReadonlyArray<LastingSign>, at: Timestamp) => Effect.Effect<void>
    /** Notes the end of a connection; false when the agent has made another one since. */
    readonly disconnect: (id: WorkspaceAgentId, connectionId: Uuid, at: Timestamp) => Effect.Effect<boolean>
    readonly updateStartup: (id: WorkspaceAgentId, startup: Startup, at: Timestamp) => Effect.Effect<void>
    /** The times of the agent's start, kept from being changed by others until the transaction ends. */
    readonly lockLifecycle: (id: WorkspaceAgentId) => Effect.Effect<StartTimes>
    readonly updateLifecycle: (id: WorkspaceAgentId, state: AgentLifecycle, times: StartTimes, at: Timestamp) => Effect.Effect<void>
    /** Where the agents of a build stand, sub agents left out. */
    readonly startsOf: (
      jobId: Uuid
    ) => Effect.Effect<ReadonlyArray<{ readonly lifecycle_state: AgentLifecycle; readonly ready_at: Timestamp | null }>>
    /** The data that health reports are checked against. */
    readonly appsOf: (
      id: WorkspaceAgentId
    ) => Effect.Effect<
      ReadonlyArray<{ readonly id: Uuid; readonly slug: string; readonly healthcheck_url: string; readonly health: AppHealth }>
    >
    readonly updateAppHealth: (appIds: ReadonlyArray<Uuid>, health: AppHealth) => Effect.Effect<void>
    /** Whether the agent has started, with its start scripts. */
    readonly isReady: (id: WorkspaceAgentId) => Effect.Effect<boolean>
    /** The state an app reported last. */
    readonly latestAppState: (appId: Uuid) => Effect.Effect<Option.Option<AppState>>
    readonly insertAppStatus: (status: AppStatus) => Effect.Effect<void>
    /** Notes a run of one of the agent's scripts; false when it has no such script. */
    readonly insertScriptTiming: (id: WorkspaceAgentId, timing: ScriptTiming) => Effect.Effect<boolean>
  }
>() {}
