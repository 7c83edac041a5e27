// Generated from the contract by `npm run generate`. Changes here are lost.
/** Versions of templates. */
import type { Client } from "../Client.js"
import { call, json, text, type CallOptions } from "../call.js"
import { openSocket, socketValues, type Socket } from "../sockets.js"
import { behind, type StreamOptions } from "../stream.js"
import type { ArchivedTemplateVersionsMessage, DynamicParametersRequest, DynamicParametersResponse, MatchedProvisioners, Message, Preset, ProvisionerJob, ProvisionerJobLog, TemplateVersion, TemplateVersionExternalAuth, TemplateVersionParameter, TemplateVersionVariable, WorkspaceResource } from "./types.js"

export interface CreateTemplateVersionInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  readonly body: {
    readonly storage_method: "file"
    readonly provisioner: "terraform" | "echo"
    /** A UUID. */
    readonly file_id?: string | undefined
    readonly example_id?: string | undefined
    readonly name?: string | undefined
    readonly message?: string | undefined
    /** A UUID. */
    readonly template_id?: string | undefined
    readonly tags?: Readonly<Record<string, string>> | undefined
    /** At most 1000 items. */
    readonly user_variable_values?: ReadonlyArray<{
      readonly name?: string | undefined
      readonly value?: string | undefined
    }> | undefined
  }
}

/**
 * Create a template version. Creates a version from an archive or an example and starts the job that imports it.
 *
 * `POST /api/v2/organizations/{organization}/templateversions`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 504 TimedOut
 */
export const createTemplateVersion = (client: Client, input: CreateTemplateVersionInput, options?: CallOptions): Promise<TemplateVersion> =>
  call(client, "POST", "/api/v2/organizations/{organization}/templateversions", json, input, options)

export interface ListTemplateVersionsInput {
  /** A UUID. */
  readonly template: string
  /** A UUID. */
  readonly after_id?: string | undefined
  /** From 0 to 2147483647. */
  readonly limit?: number | undefined
  /** From 0 to 2147483647. */
  readonly offset?: number | undefined
  readonly include_archived?: boolean | undefined
}

/**
 * List a template's versions. Returns the versions of a template, oldest first, in pages.
 *
 * `GET /api/v2/templates/{template}/versions`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listTemplateVersions = (client: Client, input: ListTemplateVersionsInput, options?: CallOptions): Promise<ReadonlyArray<TemplateVersion>> =>
  call(client, "GET", "/api/v2/templates/{template}/versions", json, input, options)

export interface PromoteTemplateVersionInput {
  /** A UUID. */
  readonly template: string
  readonly body: {
    /** A UUID. */
    readonly id: string
  }
}

/**
 * Promote a template version. Makes a version the active one, which new workspaces are built from.
 *
 * `PATCH /api/v2/templates/{template}/versions`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const promoteTemplateVersion = (client: Client, input: PromoteTemplateVersionInput, options?: CallOptions): Promise<Message> =>
  call(client, "PATCH", "/api/v2/templates/{template}/versions", json, input, options)

export interface GetTemplateVersionByNameInput {
  /** A UUID. */
  readonly template: string
  /** At most 1024 characters. */
  readonly templateversionname: string
}

/**
 * Get a template version by name. Returns a version of a template by its name.
 *
 * `GET /api/v2/templates/{template}/versions/{templateversionname}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getTemplateVersionByName = (client: Client, input: GetTemplateVersionByNameInput, options?: CallOptions): Promise<TemplateVersion> =>
  call(client, "GET", "/api/v2/templates/{template}/versions/{templateversionname}", json, input, options)

export interface GetTemplateVersionByNamesInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** At most 1024 characters. */
  readonly templatename: string
  /** At most 1024 characters. */
  readonly templateversionname: string
}

/**
 * Get a template version by template and name. Returns a version by the names of its organization's template and of itself.
 *
 * `GET /api/v2/organizations/{organization}/templates/{templatename}/versions/{templateversionname}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getTemplateVersionByNames = (client: Client, input: GetTemplateVersionByNamesInput, options?: CallOptions): Promise<TemplateVersion> =>
  call(client, "GET", "/api/v2/organizations/{organization}/templates/{templatename}/versions/{templateversionname}", json, input, options)

export interface GetPreviousTemplateVersionInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** At most 1024 characters. */
  readonly templatename: string
  /** At most 1024 characters. */
  readonly templateversionname: string
}

/**
 * Get the previous template version. Returns the version of the template that was created before this one, if there is one.
 *
 * `GET /api/v2/organizations/{organization}/templates/{templatename}/versions/{templateversionname}/previous`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getPreviousTemplateVersion = (client: Client, input: GetPreviousTemplateVersionInput, options?: CallOptions): Promise<TemplateVersion | undefined> =>
  call(client, "GET", "/api/v2/organizations/{organization}/templates/{templatename}/versions/{templateversionname}/previous", json, input, options)

export interface GetTemplateVersionInput {
  /** A UUID. */
  readonly templateversion: string
}

/**
 * Get a template version. Returns a template version with its import job.
 *
 * `GET /api/v2/templateversions/{templateversion}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getTemplateVersion = (client: Client, input: GetTemplateVersionInput, options?: CallOptions): Promise<TemplateVersion> =>
  call(client, "GET", "/api/v2/templateversions/{templateversion}", json, input, options)

export interface UpdateTemplateVersionInput {
  /** A UUID. */
  readonly templateversion: string
  readonly body: {
    readonly name?: string | undefined
    readonly message?: string | undefined
  }
}

/**
 * Update a template version. Changes a version's name and message.
 *
 * `PATCH /api/v2/templateversions/{templateversion}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateTemplateVersion = (client: Client, input: UpdateTemplateVersionInput, options?: CallOptions): Promise<TemplateVersion> =>
  call(client, "PATCH", "/api/v2/templateversions/{templateversion}", json, input, options)

export interface CancelTemplateVersionInput {
  /** A UUID. */
  readonly templateversion: string
}

/**
 * Cancel an import. Cancels the job that imports a template version.
 *
 * `PATCH /api/v2/templateversions/{templateversion}/cancel`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const cancelTemplateVersion = (client: Client, input: CancelTemplateVersionInput, options?: CallOptions): Promise<Message> =>
  call(client, "PATCH", "/api/v2/templateversions/{templateversion}/cancel", json, input, options)

export interface GetTemplateVersionLogsInput {
  /** A UUID. */
  readonly templateversion: string
  /** Returns rows with greater ids. */
  readonly after?: number | undefined
}

/**
 * Get an import's logs. Returns the log lines of an import as JSON or text, or sends them over a WebSocket until the job ends.
 *
 * `GET /api/v2/templateversions/{templateversion}/logs`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const getTemplateVersionLogs = (client: Client, input: GetTemplateVersionLogsInput, options?: CallOptions): Promise<ReadonlyArray<ProvisionerJobLog>> =>
  call(client, "GET", "/api/v2/templateversions/{templateversion}/logs", json, input, options)

export interface GetTemplateVersionLogsTextInput {
  /** A UUID. */
  readonly templateversion: string
  /** Returns rows with greater ids. */
  readonly after?: number | undefined
}

/**
 * Get an import's logs. Returns the log lines of an import as JSON or text, or sends them over a WebSocket until the job ends.
 *
 * Returns lines of text.
 *
 * `GET /api/v2/templateversions/{templateversion}/logs`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const getTemplateVersionLogsText = (client: Client, input: GetTemplateVersionLogsTextInput, options?: CallOptions): Promise<string> =>
  call(client, "GET", "/api/v2/templateversions/{templateversion}/logs", text, { ...input, format: "text" }, options)

export interface FollowTemplateVersionLogsInput {
  /** A UUID. */
  readonly templateversion: string
  /** Returns rows with greater ids. */
  readonly after?: number | undefined
}

/**
 * Get an import's logs. Returns the log lines of an import as JSON or text, or sends them over a WebSocket until the job ends.
 *
 * Reconnects after an interruption and goes on behind the last value.
 *
 * `GET /api/v2/templateversions/{templateversion}/logs`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const followTemplateVersionLogs = (client: Client, input: FollowTemplateVersionLogsInput, options?: StreamOptions): AsyncGenerator<ProvisionerJobLog, void, undefined> =>
  socketValues(client, "/api/v2/templateversions/{templateversion}/logs", { ...input, follow: "" }, behind, options)

export interface GetTemplateVersionResourcesInput {
  /** A UUID. */
  readonly templateversion: string
}

/**
 * List a version's resources. Returns the resources and agents that a workspace of this version would have.
 *
 * `GET /api/v2/templateversions/{templateversion}/resources`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getTemplateVersionResources = (client: Client, input: GetTemplateVersionResourcesInput, options?: CallOptions): Promise<ReadonlyArray<WorkspaceResource>> =>
  call(client, "GET", "/api/v2/templateversions/{templateversion}/resources", json, input, options)

export interface GetTemplateVersionParametersInput {
  /** A UUID. */
  readonly templateversion: string
}

/**
 * List a version's parameters. Returns the parameters that a workspace of this version takes.
 *
 * `GET /api/v2/templateversions/{templateversion}/rich-parameters`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 425 NotReady, 431 HeadTooLarge
 */
export const getTemplateVersionParameters = (client: Client, input: GetTemplateVersionParametersInput, options?: CallOptions): Promise<ReadonlyArray<TemplateVersionParameter>> =>
  call(client, "GET", "/api/v2/templateversions/{templateversion}/rich-parameters", json, input, options)

export interface GetTemplateVersionVariablesInput {
  /** A UUID. */
  readonly templateversion: string
}

/**
 * List a version's variables. Returns the variables of a version. Sensitive values are empty.
 *
 * `GET /api/v2/templateversions/{templateversion}/variables`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getTemplateVersionVariables = (client: Client, input: GetTemplateVersionVariablesInput, options?: CallOptions): Promise<ReadonlyArray<TemplateVersionVariable>> =>
  call(client, "GET", "/api/v2/templateversions/{templateversion}/variables", json, input, options)

export interface GetTemplateVersionExternalAuthInput {
  /** A UUID. */
  readonly templateversion: string
  readonly user_id?: string | "me" | undefined
}

/**
 * List a version's external providers. Returns the external providers that a workspace of this version needs, and whether the user is signed in to each.
 *
 * `GET /api/v2/templateversions/{templateversion}/external-auth`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const getTemplateVersionExternalAuth = (client: Client, input: GetTemplateVersionExternalAuthInput, options?: CallOptions): Promise<ReadonlyArray<TemplateVersionExternalAuth>> =>
  call(client, "GET", "/api/v2/templateversions/{templateversion}/external-auth", json, input, options)

export interface GetTemplateVersionPresetsInput {
  /** A UUID. */
  readonly templateversion: string
}

/**
 * List a version's presets. Returns the named sets of parameter values that a version offers; null if it has none.
 *
 * `GET /api/v2/templateversions/{templateversion}/presets`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getTemplateVersionPresets = (client: Client, input: GetTemplateVersionPresetsInput, options?: CallOptions): Promise<ReadonlyArray<Preset> | null> =>
  call(client, "GET", "/api/v2/templateversions/{templateversion}/presets", json, input, options)

export interface EvaluateDynamicParametersInput {
  /** A UUID. */
  readonly templateversion: string
  readonly body: DynamicParametersRequest
}

/**
 * Evaluate a version's form. Returns the parameters of a workspace as they are for the given values and owner.
 *
 * `POST /api/v2/templateversions/{templateversion}/dynamic-parameters/evaluate`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 425 NotReady, 431 HeadTooLarge
 */
export const evaluateDynamicParameters = (client: Client, input: EvaluateDynamicParametersInput, options?: CallOptions): Promise<DynamicParametersResponse> =>
  call(client, "POST", "/api/v2/templateversions/{templateversion}/dynamic-parameters/evaluate", json, input, options)

export interface OpenDynamicParametersInput {
  /** A UUID. */
  readonly templateversion: string
  readonly user_id?: string | "me" | undefined
}

/**
 * Open a version's form. Sends the parameters of a workspace over a WebSocket, and again for each set of values that the client sends.
 *
 * Opens a WebSocket for both directions. Does not reconnect: the caller does, if that is right.
 *
 * `GET /api/v2/templateversions/{templateversion}/dynamic-parameters`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 425 NotReady, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const openDynamicParameters = (client: Client, input: OpenDynamicParametersInput, options?: CallOptions): Promise<Socket> =>
  openSocket(client, "/api/v2/templateversions/{templateversion}/dynamic-parameters", input, options)

export interface CreateDryRunInput {
  /** A UUID. */
  readonly templateversion: string
  readonly body: {
    readonly workspace_name?: string | undefined
    /** At most 1000 items. */
    readonly rich_parameter_values?: ReadonlyArray<{
      readonly name?: string | undefined
      readonly value?: string | undefined
    }> | undefined
    /** At most 1000 items. */
    readonly user_variable_values?: ReadonlyArray<{
      readonly name?: string | undefined
      readonly value?: string | undefined
    }> | undefined
  }
}

/**
 * Start a dry run. Starts a job that plans a workspace of a version without making it.
 *
 * `POST /api/v2/templateversions/{templateversion}/dry-run`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 425 NotReady, 431 HeadTooLarge
 */
export const createDryRun = (client: Client, input: CreateDryRunInput, options?: CallOptions): Promise<ProvisionerJob> =>
  call(client, "POST", "/api/v2/templateversions/{templateversion}/dry-run", json, input, options)

export interface GetDryRunInput {
  /** A UUID. */
  readonly templateversion: string
  /** A UUID. */
  readonly jobID: string
}

/**
 * Get a dry run. Returns the job of a dry run.
 *
 * `GET /api/v2/templateversions/{templateversion}/dry-run/{jobID}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getDryRun = (client: Client, input: GetDryRunInput, options?: CallOptions): Promise<ProvisionerJob> =>
  call(client, "GET", "/api/v2/templateversions/{templateversion}/dry-run/{jobID}", json, input, options)

export interface GetDryRunMatchedProvisionersInput {
  /** A UUID. */
  readonly templateversion: string
  /** A UUID. */
  readonly jobID: string
}

/**
 * Get a dry run's daemons. Returns how many daemons could take the job of a dry run.
 *
 * `GET /api/v2/templateversions/{templateversion}/dry-run/{jobID}/matched-provisioners`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getDryRunMatchedProvisioners = (client: Client, input: GetDryRunMatchedProvisionersInput, options?: CallOptions): Promise<MatchedProvisioners> =>
  call(client, "GET", "/api/v2/templateversions/{templateversion}/dry-run/{jobID}/matched-provisioners", json, input, options)

export interface GetDryRunResourcesInput {
  /** A UUID. */
  readonly templateversion: string
  /** A UUID. */
  readonly jobID: string
}

/**
 * List a dry run's resources. Returns the resources and agents that the planned workspace would have.
 *
 * `GET /api/v2/templateversions/{templateversion}/dry-run/{jobID}/resources`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getDryRunResources = (client: Client, input: GetDryRunResourcesInput, options?: CallOptions): Promise<ReadonlyArray<WorkspaceResource>> =>
  call(client, "GET", "/api/v2/templateversions/{templateversion}/dry-run/{jobID}/resources", json, input, options)

export interface GetDryRunLogsInput {
  /** A UUID. */
  readonly templateversion: string
  /** A UUID. */
  readonly jobID: string
  /** Returns rows with greater ids. */
  readonly after?: number | undefined
}

/**
 * Get a dry run's logs. Returns the log lines of a dry run as JSON or text, or sends them over a WebSocket until the job ends.
 *
 * `GET /api/v2/templateversions/{templateversion}/dry-run/{jobID}/logs`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const getDryRunLogs = (client: Client, input: GetDryRunLogsInput, options?: CallOptions): Promise<ReadonlyArray<ProvisionerJobLog>> =>
  call(client, "GET", "/api/v2/templateversions/{templateversion}/dry-run/{jobID}/logs", json, input, options)

export interface GetDryRunLogsTextInput {
  /** A UUID. */
  readonly templateversion: string
  /** A UUID. */
  readonly jobID: string
  /** Returns rows with greater ids. */
  readonly after?: number | undefined
}

/**
 * Get a dry run's logs. Returns the log lines of a dry run as JSON or text, or sends them over a WebSocket until the job ends.
 *
 * Returns lines of text.
 *
 * `GET /api/v2/templateversions/{templateversion}/dry-run/{jobID}/logs`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const getDryRunLogsText = (client: Client, input: GetDryRunLogsTextInput, options?: CallOptions): Promise<string> =>
  call(client, "GET", "/api/v2/templateversions/{templateversion}/dry-run/{jobID}/logs", text, { ...input, format: "text" }, options)

export interface FollowDryRunLogsInput {
  /** A UUID. */
  readonly templateversion: string
  /** A UUID. */
  readonly jobID: string
  /** Returns rows with greater ids. */
  readonly after?: number | undefined
}

/**
 * Get a dry run's logs. Returns the log lines of a dry run as JSON or text, or sends them over a WebSocket until the job ends.
 *
 * Reconnects after an interruption and goes on behind the last value.
 *
 * `GET /api/v2/templateversions/{templateversion}/dry-run/{jobID}/logs`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const followDryRunLogs = (client: Client, input: FollowDryRunLogsInput, options?: StreamOptions): AsyncGenerator<ProvisionerJobLog, void, undefined> =>
  socketValues(client, "/api/v2/templateversions/{templateversion}/dry-run/{jobID}/logs", { ...input, follow: "" }, behind, options)

export interface CancelDryRunInput {
  /** A UUID. */
  readonly templateversion: string
  /** A UUID. */
  readonly jobID: string
}

/**
 * Cancel a dry run. Cancels the job of a dry run.
 *
 * `PATCH /api/v2/templateversions/{templateversion}/dry-run/{jobID}/cancel`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const cancelDryRun = (client: Client, input: CancelDryRunInput, options?: CallOptions): Promise<Message> =>
  call(client, "PATCH", "/api/v2/templateversions/{templateversion}/dry-run/{jobID}/cancel", json, input, options)

export interface ArchiveTemplateVersionsInput {
  /** A UUID. */
  readonly template: string
  readonly body: {
    readonly all?: boolean | undefined
  }
}

/**
 * Archive a template's versions. Archives the versions that nothing uses: all of them, or those whose import failed.
 *
 * `POST /api/v2/templates/{template}/versions/archive`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const archiveTemplateVersions = (client: Client, input: ArchiveTemplateVersionsInput, options?: CallOptions): Promise<ArchivedTemplateVersionsMessage> =>
  call(client, "POST", "/api/v2/templates/{template}/versions/archive", json, input, options)

export interface ArchiveTemplateVersionInput {
  /** A UUID. */
  readonly templateversion: string
}

/**
 * Archive a template version. Hides a version that nothing uses from lists.
 *
 * `POST /api/v2/templateversions/{templateversion}/archive`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const archiveTemplateVersion = (client: Client, input: ArchiveTemplateVersionInput, options?: CallOptions): Promise<Message> =>
  call(client, "POST", "/api/v2/templateversions/{templateversion}/archive", json, input, options)

export interface UnarchiveTemplateVersionInput {
  /** A UUID. */
  readonly templateversion: string
}

/**
 * Unarchive a template version. Brings an archived version back.
 *
 * `POST /api/v2/templateversions/{templateversion}/unarchive`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const unarchiveTemplateVersion = (client: Client, input: UnarchiveTemplateVersionInput, options?: CallOptions): Promise<Message> =>
  call(client, "POST", "/api/v2/templateversions/{templateversion}/unarchive", json, input, options)

export interface GetTemplateVersionLegacyParametersInput {
  /** A UUID. */
  readonly templateversion: string
}

/**
 * List a version's legacy parameters. Returns an empty list: such parameters no longer exist.
 *
 * `GET /api/v2/templateversions/{templateversion}/parameters`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getTemplateVersionLegacyParameters = (client: Client, input: GetTemplateVersionLegacyParametersInput, options?: CallOptions): Promise<ReadonlyArray<string>> =>
  call(client, "GET", "/api/v2/templateversions/{templateversion}/parameters", json, input, options)

export interface GetTemplateVersionSchemaInput {
  /** A UUID. */
  readonly templateversion: string
}

/**
 * List a version's legacy schemas. Returns an empty list: such schemas no longer exist.
 *
 * `GET /api/v2/templateversions/{templateversion}/schema`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getTemplateVersionSchema = (client: Client, input: GetTemplateVersionSchemaInput, options?: CallOptions): Promise<ReadonlyArray<string>> =>
  call(client, "GET", "/api/v2/templateversions/{templateversion}/schema", json, input, options)
