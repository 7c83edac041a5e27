/** Workspaces and their builds. workspaces.md §3, §4, §6. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Numbers, Timestamp, Uuid } from "@atelier/core/platform"
import { BuildView, RequestedBuildReason, SharedActorView, WorkspaceHealth, WorkspaceView } from "@atelier/core/workspaces"
import { Schema } from "effect"
import { NullableUuid, ReferenceStatus } from "../../wire/dialect.js"
import { refusals, Response } from "../../wire/errors.js"
import { keptText } from "../../wire/keptText.js"
import {
  Body,
  boundedText,
  flag,
  firstText,
  flagParameter,
  flagRefusedAs,
  integer,
  IntegerFromText,
  list,
  needed,
  page,
  Path,
  Query,
  required,
  text
} from "../../wire/input.js"
import { WorkspaceAppStatus, WorkspaceResource } from "../agents/agentViews.js"
import { AlsoAnswers, AlsoEvents, logForms, Messages, operation, Streaming, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"
import { JobLogQuery, MatchedProvisioners, ProvisionerJob, ProvisionerJobLog } from "../provisioning/provisioning.js"
import { BuildTransition, ParameterValue } from "@atelier/core/provisioning"

export const WorkspaceBuildParameter = ParameterValue.annotations({ identifier: "WorkspaceBuildParameter" })

export const WorkspaceBuild = Schema.Struct({
  ...BuildView.fields,
  job: ProvisionerJob,
  resources: Schema.Array(WorkspaceResource),
  matched_provisioners: MatchedProvisioners
}).annotations({ identifier: "WorkspaceBuild" })

export const Workspace = keptText(
  Schema.Struct({
    ...WorkspaceView.fields,
    latest_build: WorkspaceBuild,
    latest_app_status: Schema.NullOr(WorkspaceAppStatus),
    health: WorkspaceHealth.annotations({ identifier: "WorkspaceHealth" }),
    task_id: NullableUuid,
    shared_with: Schema.optional(Schema.Array(SharedActorView.annotations({ identifier: "SharedWorkspaceActor" })))
  }).annotations({ identifier: "Workspace" })
)

export const Workspaces = Schema.Struct({ workspaces: Schema.Array(Workspace), count: Numbers.Count }).annotations({
  identifier: "WorkspacesResponse"
})

const parameterValues = list(Body({ name: text, value: text }))
const id = Schema.optional(Uuid.Uuid)

/** Milliseconds; absent or null means never. */
export const timeout = Schema.optional(Schema.NullOr(Schema.Int))

const CreateWorkspace = Body({
  name: needed(text),
  template_id: id,
  template_version_id: id,
  template_version_preset_id: id,
  autostart_schedule: text,
  ttl_ms: integer,
  /** Milliseconds after which the workspace is deleted. */
  timeout_ms: timeout,
  automatic_updates: text,
  rich_parameter_values: parameterValues
})

/** The most bytes of a decoded body. */
export const Base64 = boundedText(4 * 1024 * 1024).pipe(
  Schema.compose(Schema.Uint8ArrayFromBase64),
  Schema.annotations({ jsonSchema: { type: "string", contentEncoding: "base64", maxLength: 4 * 1024 * 1024 } })
)

/** Core refuses other texts. */
const followingTransition = needed(text.annotations({ jsonSchema: { type: "string", enum: ["start"] } }))

const CreateBuild = Body({
  transition: required(BuildTransition),
  template_version_id: id,
  template_version_preset_id: id,
  rich_parameter_values: parameterValues,
  /** Base64. */
  state: Schema.optional(Base64),
  orphan: flag,
  log_level: Schema.optional(Schema.Literal("", "debug")),
  reason: Schema.optional(Schema.Literal("", ...RequestedBuildReason.literals)),
  /** Accepted and without effect. */
  dry_run: flag,
  /** A start that follows when this stop has succeeded. */
  on_success: Schema.optional(
    Body({
      transition: followingTransition,
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
  .annotate(OpenApi.Description, "Workspaces.")
  .add(
    HttpApiEndpoint.post("createMemberWorkspace", "/api/v2/organizations/:organization/members/:user/workspaces")
      .annotate(ReferenceStatus, 201)
      .annotateContext(
        operation("Create a workspace of a member", "Creates a workspace of a member of an organization and starts its first build.")
      )
      .setPath(Path({ organization: Schema.String, user: Schema.String }))
      .setPayload(CreateWorkspace)
      .addSuccess(Workspace)
      .addError(refusals("NotFound", "Forbidden", "Conflict", "Unacceptable", "UpstreamFailure", "TimedOut"))
  )
  .add(
    HttpApiEndpoint.post("createWorkspace", "/api/v2/users/:user/workspaces")
      .annotateContext(
        operation("Create a workspace", "Creates a workspace of a user, in the organization of its template, and starts its first build.")
      )
      .setPath(Path({ user: Schema.String }))
      .setPayload(CreateWorkspace)
      .addSuccess(Workspace, { status: 201 })
      .addError(refusals("NotFound", "Forbidden", "Conflict", "Unacceptable", "UpstreamFailure", "TimedOut"))
  )
  .add(
    HttpApiEndpoint.get("listWorkspaces", "/api/v2/workspaces")
      .annotateContext(
        operation(
          "List workspaces",
          "Returns the workspaces that the caller may see, filtered by `q`, in pages. `count` is the number of all matches."
        )
      )
      .setUrlParams(Query({ q: firstText, ...page }))
      .addSuccess(Workspaces)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getWorkspace", "/api/v2/workspaces/:workspace")
      .annotateContext(operation("Get a workspace", "Returns a workspace with its latest build."))
      .setPath(byId)
      .setUrlParams(Query({ include_deleted: flagRefusedAs("deleted") }))
      .addSuccess(Workspace)
      .addError(refusals("NotFound", "Forbidden", "Gone"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getWorkspaceByName", "/api/v2/users/:user/workspace/:workspacename")
      .annotateContext(operation("Get a workspace by name", "Returns a workspace of a user by its name, with its latest build."))
      .setPath(Path(byName))
      .setUrlParams(Query({ include_deleted: flagParameter }))
      .addSuccess(Workspace)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.patch("updateWorkspace", "/api/v2/workspaces/:workspace")
      .annotateContext(operation("Rename a workspace", "Changes a workspace's name if the deployment allows that."))
      .setPath(byId)
      .setPayload(Body({ name: needed(text) }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden", "Conflict", "NotAllowed"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("watchWorkspace", "/api/v2/workspaces/:workspace/watch")
      .annotateContext(operation("Watch a workspace", "Sends a workspace as a server-sent event at first and after each change."))
      .setPath(byId)
      .addSuccess(HttpApiSchema.Text({ contentType: "text/event-stream" }))
      .addError(refusals("NotFound"))
      .annotate(Streaming, true)
      .annotate(Messages, { schema: Workspace, framing: "events", resume: "snapshot" })
  )
  .add(
    HttpApiEndpoint.get("watchWorkspaceSocket", "/api/v2/workspaces/:workspace/watch-ws")
      .annotateContext(operation("Watch a workspace over a WebSocket", "Sends a workspace as a message at first and after each change."))
      .setPath(byId)
      .addSuccess(upgraded)
      .addError(refusals("NotFound", "UpgradeRequired"))
      .annotate(Streaming, true)
      .annotate(AlsoEvents, true)
      .annotate(Messages, { schema: Workspace, framing: "events", resume: "snapshot" })
  )
  .middlewareEndpoints(Authenticated)

/** The provisioner's state: JSON of any form, and empty if it keeps none. */
const ProvisionerState = HttpApiSchema.Uint8Array({ contentType: "application/json" })

const byBuild = Path({ workspacebuild: Uuid.Uuid })

/** The largest build number, 2³¹−1. */
const BuildNumber = IntegerFromText.pipe(Schema.between(-2_147_483_648, 2_147_483_647))

export const builds = HttpApiGroup.make("builds")
  .annotate(OpenApi.Description, "Builds of workspaces.")
  .add(
    HttpApiEndpoint.post("createWorkspaceBuild", "/api/v2/workspaces/:workspace/builds")
      .annotateContext(operation("Create a build", "Queues a build that starts, stops or deletes a workspace."))
      .setPath(byId)
      .setPayload(CreateBuild)
      .addSuccess(WorkspaceBuild, { status: 201 })
      .addError(refusals("NotFound", "Forbidden", "Conflict", "Unacceptable", "TimedOut"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listWorkspaceBuilds", "/api/v2/workspaces/:workspace/builds")
      .annotateContext(operation("List builds", "Returns a workspace's builds, newest first, in pages."))
      .setPath(byId)
      .setUrlParams(Query({ ...page, since: Schema.optional(Timestamp.TimestampFromInput) }))
      .addSuccess(Schema.Array(WorkspaceBuild))
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getWorkspaceBuildByNumber", "/api/v2/users/:user/workspace/:workspacename/builds/:buildnumber")
      .annotateContext(operation("Get a build by number", "Returns a build of a workspace that is found by its owner and name."))
      .setPath(Path({ ...byName, buildnumber: BuildNumber }))
      .addSuccess(WorkspaceBuild)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getWorkspaceBuild", "/api/v2/workspacebuilds/:workspacebuild")
      .annotateContext(operation("Get a build", "Returns a build with its job and resources."))
      .setPath(byBuild)
      .addSuccess(WorkspaceBuild)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getWorkspaceBuildParameters", "/api/v2/workspacebuilds/:workspacebuild/parameters")
      .annotateContext(operation("List a build's parameters", "Returns the parameter values that a build was made with."))
      .setPath(byBuild)
      .addSuccess(Schema.Array(WorkspaceBuildParameter))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getWorkspaceBuildResources", "/api/v2/workspacebuilds/:workspacebuild/resources")
      .annotateContext(operation("List a build's resources", "Returns the resources of a build with their agents."))
      .setPath(byBuild)
      .addSuccess(Schema.Array(WorkspaceResource))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getWorkspaceBuildState", "/api/v2/workspacebuilds/:workspacebuild/state")
      .annotateContext(operation("Get a build's state", "Returns the provisioner's state after a build, as the provisioner wrote it."))
      .setPath(byBuild)
      .addSuccess(ProvisionerState)
      .addError(refusals("NotFound", "Conflict"))
  )
  .add(
    HttpApiEndpoint.get("getWorkspaceBuildLogs", "/api/v2/workspacebuilds/:workspacebuild/logs")
      .annotateContext(
        operation(
          "Get a build's logs",
          "Returns the log lines of a build as JSON or text, or sends them over a WebSocket until the job ends."
        )
      )
      .setPath(byBuild)
      .setUrlParams(JobLogQuery)
      .addSuccess(Schema.Array(ProvisionerJobLog))
      .addError(refusals("NotFound", "UpgradeRequired"))
      .annotate(AlsoAnswers, logForms)
      .annotate(Streaming, true)
      .annotate(Messages, { schema: ProvisionerJobLog, framing: "values", resume: "after" })
  )
  .add(
    HttpApiEndpoint.patch("cancelWorkspaceBuild", "/api/v2/workspacebuilds/:workspacebuild/cancel")
      .annotateContext(operation("Cancel a build", "Cancels a build that waits or runs, optionally only if it is in the expected state."))
      .setPath(byBuild)
      .setUrlParams(Query({ expect_status: Schema.optional(Schema.Literal("running", "pending")) }))
      .addSuccess(Response)
      .addError(refusals("NotFound", "Forbidden", "ExpectationMismatch"))
  )
  .middlewareEndpoints(Authenticated)
