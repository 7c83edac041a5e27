/** How agents without a token get one, by the proof of their cloud. agents-and-apps.md §2. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, required, text } from "../../wire/input.js"
import { operation } from "../annotations.js"

const AgentToken = Schema.Struct({ session_token: Schema.Redacted(Schema.String) })

const mustBeText = required(Schema.String)

export const instanceIdentities = HttpApiGroup.make("instanceIdentities")
  .annotate(OpenApi.Description, "Tokens for agents that prove who they are by the instance of a cloud.")
  .add(
    HttpApiEndpoint.post("authenticateAwsInstance", "/api/v2/workspaceagents/aws-instance-identity")
      .annotateContext(
        operation("Authenticate an agent on AWS", "Returns the token of the agent that runs on an instance, for its signed document.")
      )
      .setPayload(Body({ document: mustBeText, signature: mustBeText, agent_name: text }))
      .addSuccess(AgentToken)
      .addError(refusals("Conflict", "Invalid", "NotFound", "Unauthenticated"))
  )
  .add(
    HttpApiEndpoint.post("authenticateAzureInstance", "/api/v2/workspaceagents/azure-instance-identity")
      .annotateContext(
        operation("Authenticate an agent on Azure", "Returns the token of the agent that runs on a machine, for its signed message.")
      )
      .setPayload(Body({ encoding: mustBeText, signature: mustBeText, agent_name: text }))
      .addSuccess(AgentToken)
      .addError(refusals("Conflict", "Invalid", "NotFound", "Unauthenticated"))
  )
  .add(
    HttpApiEndpoint.post("authenticateGoogleInstance", "/api/v2/workspaceagents/google-instance-identity")
      .annotateContext(
        operation(
          "Authenticate an agent on Google Cloud",
          "Returns the token of the agent that runs on an instance, for the instance's token."
        )
      )
      .setPayload(Body({ json_web_token: mustBeText, agent_name: text }))
      .addSuccess(AgentToken)
      .addError(refusals("Conflict", "Invalid", "NotFound", "Unauthenticated"))
  )
