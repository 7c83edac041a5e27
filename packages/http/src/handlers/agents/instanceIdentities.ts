import { InstanceIdentities } from "@atelier/core/agents"
import { Effect, type Redacted } from "effect"
import * as contract from "../../contract/agents/instanceIdentities.js"
import * as Handlers from "../Handlers.js"

const view = (session_token: Redacted.Redacted<string>) => ({ session_token })

export const instanceIdentities = Handlers.group(contract.instanceIdentities, (handlers) =>
  Effect.map(InstanceIdentities, ({ aws, azure, google }) =>
    handlers
      .handle("authenticateAwsInstance", ({ payload: { agent_name, ...proof } }) => Effect.map(aws(proof, agent_name), view))
      .handle("authenticateAzureInstance", ({ payload: { agent_name, ...proof } }) => Effect.map(azure(proof, agent_name), view))
      .handle("authenticateGoogleInstance", ({ payload: { agent_name, ...proof } }) => Effect.map(google(proof, agent_name), view))
  )
)
