import { Context, Data, type Effect, type Option } from "effect"
import type { Sealed } from "../../platform/secrets/Encryption.js"
import type { SealedColumn, SealedRow } from "../../platform/store/Resealing.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type {
  AgentMetadataDescription,
  ApiKeyScope,
  DisplayApp,
  ProvisionedApp,
  ProvisionedMonitor,
  ProvisionedScript
} from "../../provisioning/engines/ProvisionedResource.js"
import type { ScriptTimingView } from "../manifest/AgentScript.js"
import type { AgentParts, ResourceParts } from "./BuildResource.js"
import type { TemplateDevcontainer } from "../manifest/Devcontainer.js"
import type { ManifestParts } from "../manifest/ManifestParts.js"
import type { WorkspaceAgent } from "../WorkspaceAgent.js"
import type { WorkspaceApp } from "../apps/WorkspaceApp.js"
import type { WorkspaceResource } from "./WorkspaceResource.js"

/** A new agent with all that belongs to it. */
export interface NewAgent {
  readonly row: WorkspaceAgent
  /** SHA-256 of what the agent authenticates with. */
  readonly hashed_token: Uint8Array
  /** The same encrypted, of an agent that its users start or that asks for it with the proof of its cloud. */
  readonly sealed_token: Sealed | null
  readonly apps: ReadonlyArray<WorkspaceApp>
  /** Each with the log source that is made for it. */
  readonly scripts: ReadonlyArray<{ readonly id: Uuid; readonly log_source_id: Uuid; readonly script: ProvisionedScript }>
  readonly metadata: ReadonlyArray<AgentMetadataDescription>
  readonly monitors: ReadonlyArray<ProvisionedMonitor>
  readonly devcontainers: ReadonlyArray<TemplateDevcontainer>
}

export interface NewResources {
  readonly job_id: Uuid
  readonly created_at: Timestamp
  readonly resources: ReadonlyArray<WorkspaceResource>
  readonly agents: ReadonlyArray<NewAgent>
}

/** An agent with the id of a stored one, and scripts with theirs. */
export interface HandedOverAgent extends Pick<NewAgent, "row" | "hashed_token" | "apps" | "metadata"> {
  readonly scripts: ReadonlyArray<{ readonly id: Uuid; readonly script: ProvisionedScript }>
}

/** The agents of a running workspace that get a new owner: they keep their ids. */
export interface HandedOverAgents {
  readonly job_id: Uuid
  readonly created_at: Timestamp
  readonly resources: ReadonlyArray<WorkspaceResource>
  readonly agents: ReadonlyArray<HandedOverAgent>
}

/** An external agent as it is stored. */
export interface StoredExternalAgent {
  readonly operating_system: string
  readonly architecture: string
  readonly token: SealedRow
}

/** An agent that proves who it is by its cloud's instance. */
export interface InstanceAgent {
  readonly name: string
  readonly is_latest: boolean
  readonly token: SealedRow
}

/** What sub agents have of their parent, and what limits them. */
export interface ParentAgent {
  readonly resource_id: Uuid
  readonly connection_timeout_seconds: number
  readonly troubleshooting_url: string
  readonly api_key_scope: ApiKeyScope
  /** Of the workspace's template. */
  readonly max_port_share_level: ProvisionedApp["sharing_level"]
  /** Whether an agent of the build has the name, in whatever case. */
  readonly is_taken: boolean
  /** Its sub agents that are not deleted. */
  readonly children: number
  /** All that it has made. */
  readonly made: number
}

/** A sub agent as its parent sees it. */
export interface StoredSubAgent {
  readonly id: Uuid
  readonly name: string
  readonly token: SealedRow
}

/** An app with this id exists in another workspace. */
export class ForeignApp extends Data.TaggedError("ForeignApp")<{ readonly id: Uuid }> {}

export class BuildResourceRepository extends Context.Tag("@atelier/core/BuildResourceRepository")<
  BuildResourceRepository,
  {
    /** Stores everything in a number of statements that does not depend on how much it is; apps that exist are replaced. */
    readonly insert: (rows: NewResources) => Effect.Effect<void, ForeignApp>
    /**
     * Stores new resources, and moves agents that exist to them, with new tokens, settings, apps and texts of scripts. Their earlier tokens end. What
     * was reported of the agents stays.
     */
    readonly handOver: (rows: HandedOverAgents) => Effect.Effect<void, ForeignApp>
    /** The resources of jobs, without deleted agents. */
    readonly ofJobs: (jobIds: ReadonlyArray<Uuid>) => Effect.Effect<ResourceParts>
    /** The first `limit` runs of the scripts of the job's agents that are not deleted, in the order in which they began. */
    readonly scriptTimings: (jobId: Uuid, limit: number) => Effect.Effect<ReadonlyArray<ScriptTimingView>>
    /** The agent of this name that a job made, if its token is stored and it is not deleted. */
    readonly externalAgent: (jobId: Uuid, name: string) => Effect.Effect<Option.Option<StoredExternalAgent>>
    /** The agents of an instance, newest first and without sub agents, unless they or their workspaces are deleted. */
    readonly agentsOfInstance: (instanceId: string) => Effect.Effect<ReadonlyArray<InstanceAgent>>
    /** An agent that gets a sub agent of a name, kept from getting another one until the transaction ends. */
    readonly lockParent: (id: Uuid, name: string) => Effect.Effect<ParentAgent>
    /** An agent's sub agents that are not deleted, oldest first. */
    readonly subAgentsOf: (parentId: Uuid) => Effect.Effect<ReadonlyArray<StoredSubAgent>>
    /** Changes a sub agent that its template has made; an empty directory leaves it. */
    readonly adoptSubAgent: (
      id: Uuid,
      changes: { readonly directory: string; readonly display_apps: ReadonlyArray<DisplayApp> },
      at: Timestamp
    ) => Effect.Effect<void>
    /** Marks a sub agent as deleted and forgets its token; false where the parent has none of this id. */
    readonly deleteSubAgent: (parentId: Uuid, id: Uuid) => Effect.Effect<boolean>
    /** In the form of `SealedColumn`. */
    readonly tokensSealedOtherwise: SealedColumn["sealedOtherwise"]
    /** In the form of `SealedColumn`. */
    readonly resealToken: SealedColumn["reseal"]
    /** One agent with its parts, by id, deleted or not. */
    readonly ofAgent: (id: Uuid) => Effect.Effect<AgentParts>
    /** What the manifest of an agent is made of, in any order and in one statement: thousands of agents ask for theirs after the start of a server. */
    readonly manifestOf: (agentId: Uuid) => Effect.Effect<Option.Option<ManifestParts>>
    /** Marks the agents of a workspace's builds as deleted, and forgets their tokens; those of one job are spared. */
    readonly deleteAgents: (workspaceId: Uuid, exceptJobId: Uuid | null) => Effect.Effect<void>
  }
>() {}
