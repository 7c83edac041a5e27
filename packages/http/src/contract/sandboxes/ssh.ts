/** SSH into workspaces. agents-and-apps.md §17b. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Uuid } from "@atelier/core/platform"
import { WorkspaceHostKey } from "@atelier/core/workspaces"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Path, Query } from "../../wire/input.js"
import { operation, Streaming } from "../annotations.js"
import { Authenticated } from "../authentication.js"

export const ssh = HttpApiGroup.make("ssh")
  .annotate(OpenApi.Description, "SSH into workspaces.")
  .add(
    HttpApiEndpoint.get("openSsh", "/api/v2/workspaceagents/:workspaceagent/ssh")
      .annotateContext(
        operation(
          "Connect to SSH",
          "Upgrades to a WebSocket whose binary messages carry the bytes of an SSH connection to an agent's own server. That server asks for no password or key, since this request was authorized."
        )
      )
      .setPath(Path({ workspaceagent: Uuid.Uuid }))
      .setUrlParams(
        Query({
          /** What uses the connection, as the connection log and the statistics name it. Default `ssh`. */
          client: Schema.optional(Schema.Literal("ssh", "vscode", "jetbrains"))
        })
      )
      .addSuccess(HttpApiSchema.Empty(101))
      .addError(refusals("NotFound", "Forbidden", "Conflict", "UpstreamFailure", "UpgradeRequired"))
      .annotate(Streaming, true)
  )
  .add(
    HttpApiEndpoint.get("getSshHostKey", "/api/v2/workspaceagents/:workspaceagent/ssh-host-key")
      .annotateContext(
        operation(
          "Get the SSH host key",
          "Returns the public key by which SSH clients know the agent's workspace. It stays the same for the workspace's life, and the agent need not be connected."
        )
      )
      .setPath(Path({ workspaceagent: Uuid.Uuid }))
      .addSuccess(WorkspaceHostKey)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
  )
  .middlewareEndpoints(Authenticated)
