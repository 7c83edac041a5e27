/** Agents with their apps, scripts, logs and metadata, and resources, as clients see them. agents-and-apps.md §3, §5, §6, §8. */
import { AgentLog, AgentLogSource, AgentView, AppStatusView, AppView, ResourceView, ScriptView } from "@atelier/core/agents"
import { Numbers, Timestamp } from "@atelier/core/platform"
import { Schema } from "effect"
import { dialectal, NullableUuid } from "../../wire/dialect.js"

export const WorkspaceAppStatus = AppStatusView.annotations({ identifier: "WorkspaceAppStatus" })

export const WorkspaceApp = Schema.Struct({ ...AppView.fields, statuses: Schema.Array(WorkspaceAppStatus) }).annotations({
  identifier: "WorkspaceApp"
})

export const WorkspaceAgentScript = ScriptView.annotations({ identifier: "WorkspaceAgentScript" })

export const WorkspaceAgentLogSource = AgentLogSource.annotations({ identifier: "WorkspaceAgentLogSource" })

export const WorkspaceAgentLog = AgentLog.annotations({ identifier: "WorkspaceAgentLog" })

export const WorkspaceAgent = Schema.Struct({
  ...AgentView.fields,
  parent_id: NullableUuid,
  apps: Schema.Array(WorkspaceApp),
  scripts: Schema.Array(WorkspaceAgentScript),
  log_sources: Schema.Array(WorkspaceAgentLogSource)
}).annotations({ identifier: "WorkspaceAgent" })

const { metadata, ...resource } = ResourceView.fields
const Resource = Schema.Struct({ ...resource, agents: Schema.Array(WorkspaceAgent), metadata })

/** A resource of a build or of a template version. The reference leaves out empty lists. */
export const WorkspaceResource = dialectal({
  standard: Resource,
  reference: Schema.transform(
    Schema.Struct({ ...Resource.fields, agents: Schema.optional(Resource.fields.agents), metadata: Schema.optional(metadata) }),
    Schema.typeSchema(Resource),
    {
      strict: true,
      decode: ({ agents = [], metadata = [], ...rest }) => ({ ...rest, agents, metadata }),
      encode: ({ agents, metadata, ...rest }) => ({
        ...rest,
        ...(agents.length === 0 ? {} : { agents }),
        ...(metadata.length === 0 ? {} : { metadata })
      })
    }
  )
}).annotations({ identifier: "WorkspaceResource" })

/** A metadata item of an agent: its description and its latest value. agents-and-apps.md §8. */
export const WorkspaceAgentMetadata = Schema.Struct({
  result: Schema.Struct({
    collected_at: Timestamp.Timestamp,
    age: Numbers.described(Numbers.Integer, "Seconds since the value was collected."),
    value: Schema.String,
    error: Schema.String
  }).annotations({ identifier: "WorkspaceAgentMetadataResult" }),
  description: Schema.Struct({
    display_name: Schema.String,
    key: Schema.String,
    script: Schema.String,
    interval: Numbers.described(Numbers.Count, "Seconds between two runs of the script."),
    timeout: Numbers.described(Numbers.Count, "Seconds that a run may take.")
  }).annotations({ identifier: "WorkspaceAgentMetadataDescription" })
}).annotations({ identifier: "WorkspaceAgentMetadata" })
