/** Terminals and ports of workspaces. agents-and-apps.md §18. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, IntegerFromText, Path, Query, required, text } from "../../wire/input.js"
import { operation, Streaming, TrailingSlash } from "../annotations.js"
import { Authenticated, OptionallyAuthenticated } from "../authentication.js"

const byId = Path({ workspaceagent: Uuid.Uuid })

const upgraded = HttpApiSchema.Empty(101)

/** Terminals. A caller without a credential is told the same as one without the right. agents-and-apps.md §18. */
export const terminals = HttpApiGroup.make("terminals")
  .annotate(OpenApi.Description, "Terminals and ports of workspaces.")
  .add(
    HttpApiEndpoint.get("openTerminal", "/api/v2/workspaceagents/:workspaceagent/pty")
      .annotateContext(
        operation(
          "Open a terminal",
          "Upgrades to a WebSocket of binary messages: typed text and sizes as JSON objects to the terminal, and its output back. The same `reconnect` leads to the same terminal."
        )
      )
      .setPath(byId)
      .setUrlParams(
        Query({
          /** A UUID that the caller chooses. */
          reconnect: text,
          /** Rows; 80 if absent. */
          height: text,
          /** Columns; 80 if absent. */
          width: text,
          /** Runs in place of the login shell. */
          command: text,
          container: text,
          container_user: text,
          backend_type: text
        })
      )
      .addSuccess(upgraded)
      .addError(refusals("NotFound", "UpgradeRequired"))
      .annotate(Streaming, true)
  )
  .middlewareEndpoints(OptionallyAuthenticated)
  .add(
    HttpApiEndpoint.get("connectPort", "/api/v2/workspaceagents/:workspaceagent/tcp")
      .annotateContext(
        operation(
          "Connect to a port",
          "Upgrades to a WebSocket whose binary messages carry the bytes of a TCP connection to a port beside an agent."
        )
      )
      .setPath(byId)
      .setUrlParams(Query({ port: IntegerFromText }))
      .addSuccess(upgraded)
      .addError(refusals("Conflict", "Invalid", "NotFound", "UpgradeRequired"))
      .annotate(Streaming, true)
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.post("issueTerminalToken", "/api/v2/applications/reconnecting-pty-signed-token")
      .annotateContext(
        operation(
          "Issue a token for a terminal",
          "Returns a token that opens an agent's terminal at a workspace proxy, as a query parameter, for a minute."
        )
      )
      .setPayload(
        Body({
          /** The WebSocket address of the terminal at the proxy. */
          url: required(Schema.String),
          agentID: required(Uuid.Uuid)
        })
      )
      .addSuccess(Schema.Struct({ signed_token: Schema.String }).annotations({ identifier: "IssueReconnectingPTYSignedTokenResponse" }))
      .addError(refusals("Invalid", "NotFound"))
      .middleware(Authenticated)
      .annotate(TrailingSlash, true)
  )
