/** What users set of their workspaces, and what they ask about builds beside what these made. workspaces.md §3.4 to §3.6, §4.3, §4.6. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { ScriptTimingView } from "@atelier/core/agents"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { JobTiming } from "@atelier/core/provisioning"
import { ConnectionTiming } from "@atelier/core/workspaces"
import { Schema } from "effect"
import { refusals, Response } from "../../wire/errors.js"
import { Body, firstText, flag, integer, needed, page, Path, Query, text } from "../../wire/input.js"
import { BodyLimit, operation, OptionalBody, TrailingSlash } from "../annotations.js"
import { Authenticated, UserOrAgentAuthenticated } from "../authentication.js"
import { User } from "../identity/users.js"
import { Base64, timeout, Workspace } from "./workspaces.js"

const workspace = Path({ workspace: Uuid.Uuid })
const build = Path({ workspacebuild: Uuid.Uuid })

const MinimalUser = User.pick("id", "username", "name", "avatar_url").annotations({ identifier: "MinimalUser" })

const BuildTimings = Schema.Struct({
  provisioner_timings: Schema.Array(JobTiming.annotations({ identifier: "ProvisionerTiming" })),
  agent_script_timings: Schema.Array(ScriptTimingView.annotations({ identifier: "AgentScriptTiming" })),
  agent_connection_timings: Schema.Array(ConnectionTiming.annotations({ identifier: "AgentConnectionTiming" }))
}).annotations({ identifier: "WorkspaceBuildTimings" })

const ExternalAgentCredentials = Schema.Struct({ agent_token: Schema.String, command: Schema.String }).annotations({
  identifier: "ExternalAgentCredentials"
})

const Mismatch = Schema.Struct({ parameter_mismatch: Schema.Boolean }).annotations({ identifier: "ResolveAutostartResponse" })

export const WorkspaceUse = Body({ agent_id: Schema.optional(Uuid.Uuid), app_name: text })

/** Bytes of a report of use. */
export const maximumUsage = 64 * 1024

export const workspaceSettings = HttpApiGroup.make("workspaceSettings")
  .annotate(OpenApi.Description, "Schedules, dormancy, favorites and use of workspaces.")
  .add(
    HttpApiEndpoint.get("listAvailableOwners", "/api/v2/organizations/:organization/members/:user/workspaces/available-users")
      .annotateContext(
        operation(
          "List users to create workspaces for",
          "Returns the users for whom the caller can create workspaces in an organization, filtered by `q`, in pages."
        )
      )
      .setPath(Path({ organization: Schema.String, user: Schema.String }))
      .setUrlParams(Query({ q: firstText, limit: page.limit, offset: page.offset }))
      .addSuccess(Schema.Array(MinimalUser))
      .addError(refusals("NotFound", "Forbidden"))
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.put("setWorkspaceAutostart", "/api/v2/workspaces/:workspace/autostart")
      .annotateContext(
        operation("Set a workspace's autostart schedule", "Sets when a workspace starts by itself; an empty schedule means never.")
      )
      .setPath(workspace)
      .setPayload(Body({ schedule: text }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .middleware(Authenticated)
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.put("setWorkspaceTtl", "/api/v2/workspaces/:workspace/ttl")
      .annotateContext(
        operation(
          "Set a workspace's time to live",
          "Sets for how many milliseconds a started workspace runs; 0 lets it run until it is stopped."
        )
      )
      .setPath(workspace)
      .setPayload(Body({ ttl_ms: integer }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .middleware(Authenticated)
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.put("extendWorkspace", "/api/v2/workspaces/:workspace/extend")
      .annotateContext(
        operation("Extend a running workspace", "Moves the deadline of a running workspace. Agents can move that of their own workspace.")
      )
      .setPath(workspace)
      .setPayload(Body({ deadline: needed(Schema.optional(Timestamp.TimestampFromInput)) }))
      .addSuccess(Response)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .middleware(UserOrAgentAuthenticated)
  )
  .add(
    HttpApiEndpoint.put("setWorkspaceTimeout", "/api/v2/workspaces/:workspace/timeout")
      .annotateContext(
        operation(
          "Set when a workspace is deleted",
          "Has a workspace deleted after a number of milliseconds from now, or never for null, and returns it."
        )
      )
      .setPath(workspace)
      .setPayload(Body({ timeout_ms: timeout }))
      .addSuccess(Workspace)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.put("setWorkspaceDormant", "/api/v2/workspaces/:workspace/dormant")
      .annotateContext(operation("Set a workspace's dormancy", "Makes a workspace dormant or wakes it, and returns it."))
      .setPath(workspace)
      .setPayload(Body({ dormant: flag }))
      .addSuccess(Workspace)
      .addError(refusals("NotFound", "Forbidden", "Conflict", "NotModified"))
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.put("setWorkspaceAutoupdates", "/api/v2/workspaces/:workspace/autoupdates")
      .annotateContext(
        operation("Set a workspace's automatic updates", "Sets whether scheduled starts move a workspace to its template's active version.")
      )
      .setPath(workspace)
      .setPayload(Body({ automatic_updates: needed(text) }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden"))
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.put("addFavoriteWorkspace", "/api/v2/workspaces/:workspace/favorite")
      .annotateContext(operation("Make a workspace a favorite", "Puts a workspace first in its owner's lists."))
      .setPath(workspace)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden"))
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.del("removeFavoriteWorkspace", "/api/v2/workspaces/:workspace/favorite")
      .annotateContext(operation("Remove a workspace from the favorites", "Puts a workspace back among its owner's others."))
      .setPath(workspace)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden"))
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.post("reportWorkspaceUsage", "/api/v2/workspaces/:workspace/usage")
      .annotateContext(operation("Report the use of a workspace", "Notes that a workspace is in use, and by which app."))
      .setPath(workspace)
      .setPayload(WorkspaceUse)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(BodyLimit, maximumUsage)
      .annotate(OptionalBody, true)
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.get("resolveWorkspaceAutostart", "/api/v2/workspaces/:workspace/resolve-autostart")
      .annotateContext(
        operation(
          "Check a scheduled start",
          "Says whether a scheduled start would need a parameter that has no value in the active version."
        )
      )
      .setPath(workspace)
      .addSuccess(Mismatch)
      .addError(refusals("NotFound", "Forbidden"))
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.get("getWorkspaceTimings", "/api/v2/workspaces/:workspace/timings")
      .annotateContext(operation("Get a workspace's timings", "Returns how long the parts of a workspace's latest build took."))
      .setPath(workspace)
      .addSuccess(BuildTimings)
      .addError(refusals("NotFound"))
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.get("getWorkspaceBuildTimings", "/api/v2/workspacebuilds/:workspacebuild/timings")
      .annotateContext(operation("Get a build's timings", "Returns how long the parts of a build took."))
      .setPath(build)
      .addSuccess(BuildTimings)
      .addError(refusals("NotFound"))
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.put("setWorkspaceBuildState", "/api/v2/workspacebuilds/:workspacebuild/state")
      .annotateContext(operation("Replace a build's state", "Replaces the provisioner's state after a build; the state is in base64."))
      .setPath(build)
      .setPayload(Body({ state: Schema.optional(Base64) }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound"))
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.get("getExternalAgentCredentials", "/api/v2/workspaces/:workspace/external-agent/:agent/credentials")
      .annotateContext(
        operation(
          "Get an external agent's credentials",
          "Returns the token of an agent that runs outside the template's machines, and a shell command that starts it. A scoped token needs the scope `workspace:ssh`."
        )
      )
      .setPath(Path({ workspace: Uuid.Uuid, agent: Schema.String }))
      .addSuccess(ExternalAgentCredentials)
      .addError(refusals("NotFound", "Forbidden"))
      .middleware(Authenticated)
  )
