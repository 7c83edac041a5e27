// Generated from the contract by `npm run generate`. Changes here are lost.
/** Tokens for agents that prove who they are by the instance of a cloud. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"

export interface AuthenticateAwsInstanceResult {
  readonly session_token: string
}

export interface AuthenticateAwsInstanceInput {
  readonly body: {
    readonly document: string
    readonly signature: string
    readonly agent_name?: string | undefined
  }
}

/**
 * Authenticate an agent on AWS. Returns the token of the agent that runs on an instance, for its signed document.
 *
 * `POST /api/v2/workspaceagents/aws-instance-identity`
 *
 * @throws AtelierError 401 Unauthenticated, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const authenticateAwsInstance = (client: Client, input: AuthenticateAwsInstanceInput, options?: CallOptions): Promise<AuthenticateAwsInstanceResult> =>
  call(client, "POST", "/api/v2/workspaceagents/aws-instance-identity", json, input, options)

export interface AuthenticateAzureInstanceResult {
  readonly session_token: string
}

export interface AuthenticateAzureInstanceInput {
  readonly body: {
    readonly encoding: string
    readonly signature: string
    readonly agent_name?: string | undefined
  }
}

/**
 * Authenticate an agent on Azure. Returns the token of the agent that runs on a machine, for its signed message.
 *
 * `POST /api/v2/workspaceagents/azure-instance-identity`
 *
 * @throws AtelierError 401 Unauthenticated, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const authenticateAzureInstance = (client: Client, input: AuthenticateAzureInstanceInput, options?: CallOptions): Promise<AuthenticateAzureInstanceResult> =>
  call(client, "POST", "/api/v2/workspaceagents/azure-instance-identity", json, input, options)

export interface AuthenticateGoogleInstanceResult {
  readonly session_token: string
}

export interface AuthenticateGoogleInstanceInput {
  readonly body: {
    readonly json_web_token: string
    readonly agent_name?: string | undefined
  }
}

/**
 * Authenticate an agent on Google Cloud. Returns the token of the agent that runs on an instance, for the instance's token.
 *
 * `POST /api/v2/workspaceagents/google-instance-identity`
 *
 * @throws AtelierError 401 Unauthenticated, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const authenticateGoogleInstance = (client: Client, input: AuthenticateGoogleInstanceInput, options?: CallOptions): Promise<AuthenticateGoogleInstanceResult> =>
  call(client, "POST", "/api/v2/workspaceagents/google-instance-identity", json, input, options)
