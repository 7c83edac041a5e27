/** Workspaces and their builds. workspaces.md §3, §4, §6. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { BuildView, RequestedBuildReason, SharedActorView, WorkspaceHealth, WorkspaceView } from "@atelier/core/workspaces"
import { Schema } from "effect"
import { NullableUuid } from "../dialect.js"
import { refusals, Response } from "../errors.js"
import { Body, flag, flagParameter, integer, IntegerFromText, list, page, Path, Query, required, text } from "../input.js"
import { WorkspaceAppStatus, WorkspaceResource } from "./agents.js"
import { TrailingSlash } from "./annotations.js"
import { Authenticated } from "./authentication.js"
import { JobLogQuery, MatchedProvisioners, ProvisionerJob, ProvisionerJobLog } from "./provisioning.js"
import { BuildTransition, ParameterValue } from "@atelier/core/provisioning"

export const WorkspaceBuildParameter = ParameterValue.annotations({ identifier: "WorkspaceBuildParameter" })

export const WorkspaceBuild = Schema.Struct({
  ...BuildView.fields,
  job: ProvisionerJob,
  resources: Schema.Array(WorkspaceResource),
  matched_provisioners: MatchedProvisioners
}).annotations({ identifier: "WorkspaceBuild" })

export const Workspace = Schema.Struct({
  ...WorkspaceView.fields,
  latest_build: WorkspaceBuild,
  latest_app_status: Schema.NullOr(WorkspaceAppStatus),
  health: WorkspaceHealth.annotations({ identifier: "WorkspaceHealth" }),
  task_id: NullableUuid,
  shared_with: Schema.optional(Schema.Array(SharedActorView.annotations({ identifier: "SharedWorkspaceActor" })))
}).annotations({ identifier: "Workspace" })

export const Workspaces = Schema.Struct({ workspaces: Schema.Array(Workspace), count: Schema.Number }).annotations({
  identifier: "WorkspacesResponse"
})

const parameterValues = list(Body({ name: text, value: text }))
const id = Schema.optional(Uuid.Uuid)

const CreateWorkspace = Body({
  name: text,
  template_id: id,
  template_version_id: id,
  template_version_preset_id: id,
  autostart_schedule: text,
  ttl_ms: integer,
  automatic_updates: text,
  rich_parameter_values: parameterValues
})

const CreateBuild = Body({
  transition: required(BuildTransition),
  template_version_id: id,
  template_version_preset_id: id,
  rich_parameter_values: parameterValues,
  /** Base64. */
  state: Schema.optional(Schema.Uint8ArrayFromBase64),
  orphan: flag,
  log_level: Schema.optional(Schema.Literal("", "debug")),
  reason: Schema.optional(Schema.Literal("", ...RequestedBuildReason.literals)),
  /** Accepted and without effect. */
  dry_run: flag,
  /** A start that follows when this stop has succeeded. */
  on_success: Schema.optional(
    Body({
      transition: required(BuildTransition),
      template_version_id: id,
      template_version_preset_id: id,
      rich_parameter_values: parameterValues
    })
  )
})

const byId = Path({ workspace: Uuid.Uuid })
const byName = { user: Schema.String, workspacename: Schema.String }
const upgraded = HttpApiSchema.Empty(101)

export const workspaces = HttpApiGroup.make("workspaces")
  .add(
    HttpApiEndpoint.post("createMemberWorkspace", "/api/v2/organizations/:organization/members/:user/workspaces")
      .setPath(Path({ organization: Schema.String, user: Schema.String }))
      .setPayload(CreateWorkspace)
      .addSuccess(Workspace)
      .addError(refusals("NotFound", "Forbidden", "Conflict", "Unacceptable"))
  )
  .add(
    HttpApiEndpoint.post("createWorkspace", "/api/v2/users/:user/workspaces")
      .setPath(Path({ user: Schema.String }))
      .setPayload(CreateWorkspace)
      .addSuccess(Workspace, { status: 201 })
      .addError(refusals("NotFound", "Forbidden", "Conflict", "Unacceptable"))
  )
  .add(
    HttpApiEndpoint.get("listWorkspaces", "/api/v2/workspaces")
      .setUrlParams(Query({ q: text, limit: page.limit, offset: page.offset }))
      .addSuccess(Workspaces)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getWorkspace", "/api/v2/workspaces/:workspace")
      .setPath(byId)
      .setUrlParams(Query({ include_deleted: flagParameter }))
      .addSuccess(Workspace)
      .addError(refusals("NotFound", "Forbidden", "Gone"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getWorkspaceByName", "/api/v2/users/:user/workspace/:workspacename")
      .setPath(Path(byName))
      .setUrlParams(Query({ include_deleted: flagParameter }))
      .addSuccess(Workspace)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.patch("updateWorkspace", "/api/v2/workspaces/:workspace")
      .setPath(byId)
      .setPayload(Body({ name: text }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden", "Conflict", "NotAllowed"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("watchWorkspace", "/api/v2/workspaces/:workspace/watch")
      .setPath(byId)
      .addSuccess(HttpApiSchema.Text({ contentType: "text/event-stream" }))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("watchWorkspaceSocket", "/api/v2/workspaces/:workspace/watch-ws")
      .setPath(byId)
      .addSuccess(upgraded)
      .addError(refusals("NotFound", "UpgradeRequired"))
  )
  .middlewareEndpoints(Authenticated)

const byBuild = Path({ workspacebuild: Uuid.Uuid })

/** The largest build number, 2³¹−1. */
const BuildNumber = IntegerFromText.pipe(Schema.between(-2_147_483_648, 2_147_483_647))

export const builds = HttpApiGroup.make("builds")
  .add(
    HttpApiEndpoint.post("createWorkspaceBuild", "/api/v2/workspaces/:workspace/builds")
      .setPath(byId)
      .setPayload(CreateBuild)
      .addSuccess(WorkspaceBuild, { status: 201 })
      .addError(refusals("NotFound", "Forbidden", "Conflict", "Unacceptable"))
  )
  .add(
    HttpApiEndpoint.get("listWorkspaceBuilds", "/api/v2/workspaces/:workspace/builds")
      .setPath(byId)
      .setUrlParams(Query({ ...page, since: Schema.optional(Timestamp.TimestampFromInput) }))
      .addSuccess(Schema.Array(WorkspaceBuild))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getWorkspaceBuildByNumber", "/api/v2/users/:user/workspace/:workspacename/builds/:buildnumber")
      .setPath(Path({ ...byName, buildnumber: BuildNumber }))
      .addSuccess(WorkspaceBuild)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getWorkspaceBuild", "/api/v2/workspacebuilds/:workspacebuild")
      .setPath(byBuild)
      .addSuccess(WorkspaceBuild)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getWorkspaceBuildParameters", "/api/v2/workspacebuilds/:workspacebuild/parameters")
      .setPath(byBuild)
      .addSuccess(Schema.Array(WorkspaceBuildParameter))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getWorkspaceBuildResources", "/api/v2/workspacebuilds/:workspacebuild/resources")
      .setPath(byBuild)
      .addSuccess(Schema.Array(WorkspaceResource))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getWorkspaceBuildState", "/api/v2/workspacebuilds/:workspacebuild/state")
      .setPath(byBuild)
      .addSuccess(HttpApiSchema.Uint8Array({ contentType: "application/json" }))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getWorkspaceBuildLogs", "/api/v2/workspacebuilds/:workspacebuild/logs")
      .setPath(byBuild)
      .setUrlParams(JobLogQuery)
      .addSuccess(Schema.Array(ProvisionerJobLog))
      .addError(refusals("NotFound", "UpgradeRequired"))
  )
  .add(
    HttpApiEndpoint.patch("cancelWorkspaceBuild", "/api/v2/workspacebuilds/:workspacebuild/cancel")
      .setPath(byBuild)
      .setUrlParams(Query({ expect_status: Schema.optional(Schema.Literal("running", "pending")) }))
      .addSuccess(Response)
      .addError(refusals("NotFound", "Forbidden", "ExpectationMismatch"))
  )
  .middlewareEndpoints(Authenticated)
