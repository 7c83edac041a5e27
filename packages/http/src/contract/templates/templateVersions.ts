/** The versions of templates. templates-and-provisioning.md §3. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Uuid } from "@atelier/core/platform"
import { ProvisionerType } from "@atelier/core/provisioning"
import { ExternalAuthView } from "@atelier/core/externalAuth"
import { ParameterView, TemplateVersionView, VariableView } from "@atelier/core/templates"
import { Schema } from "effect"
import { dialectal, nullWhenEmpty } from "../../wire/dialect.js"
import { refusals, Response } from "../../wire/errors.js"
import { Body, flag, flagParameter, list, map, page, Path, Query, required, text, withOneOf } from "../../wire/input.js"
import { WorkspaceResource } from "../agents/agentViews.js"
import { AlsoAnswers, logForms, Messages, operation, Streaming, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"
import { DynamicParametersRequest, DynamicParametersResponse } from "./parameterForms.js"
import { Preset } from "./presets.js"
import { JobLogQuery, MatchedProvisioners, ProvisionerJob, ProvisionerJobLog } from "../provisioning/provisioning.js"

const VersionOnWire = Schema.Struct({
  ...TemplateVersionView.fields,
  job: ProvisionerJob,
  matched_provisioners: Schema.optional(MatchedProvisioners)
})

/** The reference has one engine and does not name it. */
export const TemplateVersion = dialectal({ standard: VersionOnWire, reference: VersionOnWire.omit("engine") }).annotations({
  identifier: "TemplateVersion"
})

export const TemplateVersionParameter = ParameterView.annotations({ identifier: "TemplateVersionParameter" })

export const TemplateVersionVariable = VariableView.annotations({ identifier: "TemplateVersionVariable" })

export const TemplateVersionExternalAuth = ExternalAuthView.annotations({ identifier: "TemplateVersionExternalAuth" })

const CreateVersion = withOneOf(
  Body({
    storage_method: required(Schema.Literal("file")),
    provisioner: required(ProvisionerType),
    file_id: Schema.optional(Uuid.Uuid),
    example_id: text,
    name: text,
    message: text,
    template_id: Schema.optional(Uuid.Uuid),
    tags: map(Schema.String),
    user_variable_values: list(Body({ name: text, value: text }))
  }),
  "file_id",
  "example_id"
)

const parameterValues = list(Body({ name: text, value: text }))

const CreateDryRun = Body({ workspace_name: text, rich_parameter_values: parameterValues, user_variable_values: parameterValues })

const Archived = Schema.Struct({ template_id: Uuid.Uuid, archived_ids: nullWhenEmpty(Schema.Array(Uuid.Uuid)) }).annotations({
  identifier: "ArchivedTemplateVersions"
})

/** The standard form is a message too. templates-and-provisioning.md §11. */
const ArchivedVersions = dialectal({
  standard: Schema.transform(
    Schema.Struct({ ...Archived.fields, ...Response.fields }).annotations({ identifier: "ArchivedTemplateVersionsMessage" }),
    Schema.typeSchema(Archived),
    {
      strict: true,
      decode: ({ archived_ids, template_id }) => ({ template_id, archived_ids }),
      encode: (archived) => ({ ...archived, message: `${archived.archived_ids.length} versions have been archived.` })
    }
  ),
  reference: Archived
})

/** A sentence: a message in the standard dialect, a plain text in the reference. */
const Sentence = dialectal({
  standard: Schema.transform(Response, Schema.String, {
    strict: true,
    decode: ({ message }) => message,
    encode: (message) => ({ message })
  }),
  reference: Schema.String
})

const inOrganization = Path({ organization: Schema.String })
const ofTemplate = Path({ template: Uuid.Uuid })
const byId = Path({ templateversion: Uuid.Uuid })
const dryRun = Path({ templateversion: Uuid.Uuid, jobID: Uuid.Uuid })

export const templateVersions = HttpApiGroup.make("templateVersions")
  .annotate(OpenApi.Description, "Versions of templates.")
  .add(
    HttpApiEndpoint.post("createTemplateVersion", "/api/v2/organizations/:organization/templateversions")
      .annotateContext(
        operation("Create a template version", "Creates a version from an archive or an example and starts the job that imports it.")
      )
      .setPath(inOrganization)
      .setPayload(CreateVersion)
      .addSuccess(TemplateVersion, { status: 201 })
      .addError(refusals("NotFound", "Forbidden", "Conflict", "TimedOut"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listTemplateVersions", "/api/v2/templates/:template/versions")
      .annotateContext(operation("List a template's versions", "Returns the versions of a template, oldest first, in pages."))
      .setPath(ofTemplate)
      .setUrlParams(Query({ ...page, include_archived: flagParameter }))
      .addSuccess(Schema.Array(TemplateVersion))
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.patch("promoteTemplateVersion", "/api/v2/templates/:template/versions")
      .annotateContext(operation("Promote a template version", "Makes a version the active one, which new workspaces are built from."))
      .setPath(ofTemplate)
      .setPayload(Body({ id: required(Uuid.Uuid) }))
      .addSuccess(Response)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getTemplateVersionByName", "/api/v2/templates/:template/versions/:templateversionname")
      .annotateContext(operation("Get a template version by name", "Returns a version of a template by its name."))
      .setPath(Path({ template: Uuid.Uuid, templateversionname: Schema.String }))
      .addSuccess(TemplateVersion)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get(
      "getTemplateVersionByNames",
      "/api/v2/organizations/:organization/templates/:templatename/versions/:templateversionname"
    )
      .annotateContext(
        operation(
          "Get a template version by template and name",
          "Returns a version by the names of its organization's template and of itself."
        )
      )
      .setPath(Path({ organization: Schema.String, templatename: Schema.String, templateversionname: Schema.String }))
      .addSuccess(TemplateVersion)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get(
      "getPreviousTemplateVersion",
      "/api/v2/organizations/:organization/templates/:templatename/versions/:templateversionname/previous"
    )
      .annotateContext(
        operation(
          "Get the previous template version",
          "Returns the version of the template that was created before this one, if there is one."
        )
      )
      .setPath(Path({ organization: Schema.String, templatename: Schema.String, templateversionname: Schema.String }))
      .addSuccess(TemplateVersion)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getTemplateVersion", "/api/v2/templateversions/:templateversion")
      .annotateContext(operation("Get a template version", "Returns a template version with its import job."))
      .setPath(byId)
      .addSuccess(TemplateVersion)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.patch("updateTemplateVersion", "/api/v2/templateversions/:templateversion")
      .annotateContext(operation("Update a template version", "Changes a version's name and message."))
      .setPath(byId)
      .setPayload(Body({ name: text, message: Schema.optional(Schema.String) }))
      .addSuccess(TemplateVersion)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.patch("cancelTemplateVersion", "/api/v2/templateversions/:templateversion/cancel")
      .annotateContext(operation("Cancel an import", "Cancels the job that imports a template version."))
      .setPath(byId)
      .addSuccess(Response)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getTemplateVersionLogs", "/api/v2/templateversions/:templateversion/logs")
      .annotateContext(
        operation(
          "Get an import's logs",
          "Returns the log lines of an import as JSON or text, or sends them over a WebSocket until the job ends."
        )
      )
      .setPath(byId)
      .setUrlParams(JobLogQuery)
      .addSuccess(Schema.Array(ProvisionerJobLog))
      .addError(refusals("NotFound", "UpgradeRequired"))
      .annotate(AlsoAnswers, logForms)
      .annotate(Streaming, true)
      .annotate(Messages, { schema: ProvisionerJobLog, framing: "values", resume: "after" })
  )
  .add(
    HttpApiEndpoint.get("getTemplateVersionResources", "/api/v2/templateversions/:templateversion/resources")
      .annotateContext(
        operation("List a version's resources", "Returns the resources and agents that a workspace of this version would have.")
      )
      .setPath(byId)
      .addSuccess(Schema.Array(WorkspaceResource))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getTemplateVersionParameters", "/api/v2/templateversions/:templateversion/rich-parameters")
      .annotateContext(operation("List a version's parameters", "Returns the parameters that a workspace of this version takes."))
      .setPath(byId)
      .addSuccess(Schema.Array(TemplateVersionParameter))
      .addError(refusals("NotFound", "NotReady"))
  )
  .add(
    HttpApiEndpoint.get("getTemplateVersionVariables", "/api/v2/templateversions/:templateversion/variables")
      .annotateContext(operation("List a version's variables", "Returns the variables of a version. Sensitive values are empty."))
      .setPath(byId)
      .addSuccess(Schema.Array(TemplateVersionVariable))
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getTemplateVersionExternalAuth", "/api/v2/templateversions/:templateversion/external-auth")
      .annotateContext(
        operation(
          "List a version's external providers",
          "Returns the external providers that a workspace of this version needs, and whether the user is signed in to each."
        )
      )
      .setPath(byId)
      .setUrlParams(Query({ user_id: Schema.optional(Schema.Union(Uuid.Uuid, Schema.Literal("me"))) }))
      .addSuccess(Schema.Array(TemplateVersionExternalAuth))
      .addError(refusals("NotFound", "Forbidden", "UpstreamFailure"))
  )
  .add(
    HttpApiEndpoint.get("getTemplateVersionPresets", "/api/v2/templateversions/:templateversion/presets")
      .annotateContext(
        operation("List a version's presets", "Returns the named sets of parameter values that a version offers; null if it has none.")
      )
      .setPath(byId)
      .addSuccess(Schema.NullOr(Schema.Array(Preset)))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.post("evaluateDynamicParameters", "/api/v2/templateversions/:templateversion/dynamic-parameters/evaluate")
      .annotateContext(
        operation("Evaluate a version's form", "Returns the parameters of a workspace as they are for the given values and owner.")
      )
      .setPath(byId)
      .setPayload(DynamicParametersRequest)
      .addSuccess(DynamicParametersResponse)
      .addError(refusals("NotFound", "NotReady"))
  )
  .add(
    HttpApiEndpoint.get("openDynamicParameters", "/api/v2/templateversions/:templateversion/dynamic-parameters")
      .annotateContext(
        operation(
          "Open a version's form",
          "Sends the parameters of a workspace over a WebSocket, and again for each set of values that the client sends."
        )
      )
      .setPath(byId)
      .setUrlParams(Query({ user_id: Schema.optional(Schema.Union(Uuid.Uuid, Schema.Literal("me"))) }))
      .addSuccess(HttpApiSchema.Empty(101))
      .addError(refusals("NotFound", "NotReady", "UpgradeRequired"))
      .annotate(Streaming, true)
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.post("createDryRun", "/api/v2/templateversions/:templateversion/dry-run")
      .annotateContext(operation("Start a dry run", "Starts a job that plans a workspace of a version without making it."))
      .setPath(byId)
      .setPayload(CreateDryRun)
      .addSuccess(ProvisionerJob, { status: 201 })
      .addError(refusals("NotFound", "NotReady"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getDryRun", "/api/v2/templateversions/:templateversion/dry-run/:jobID")
      .annotateContext(operation("Get a dry run", "Returns the job of a dry run."))
      .setPath(dryRun)
      .addSuccess(ProvisionerJob)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getDryRunMatchedProvisioners", "/api/v2/templateversions/:templateversion/dry-run/:jobID/matched-provisioners")
      .annotateContext(operation("Get a dry run's daemons", "Returns how many daemons could take the job of a dry run."))
      .setPath(dryRun)
      .addSuccess(MatchedProvisioners)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getDryRunResources", "/api/v2/templateversions/:templateversion/dry-run/:jobID/resources")
      .annotateContext(operation("List a dry run's resources", "Returns the resources and agents that the planned workspace would have."))
      .setPath(dryRun)
      .addSuccess(Schema.Array(WorkspaceResource))
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getDryRunLogs", "/api/v2/templateversions/:templateversion/dry-run/:jobID/logs")
      .annotateContext(
        operation(
          "Get a dry run's logs",
          "Returns the log lines of a dry run as JSON or text, or sends them over a WebSocket until the job ends."
        )
      )
      .setPath(dryRun)
      .setUrlParams(JobLogQuery)
      .addSuccess(Schema.Array(ProvisionerJobLog))
      .addError(refusals("NotFound", "Forbidden", "UpgradeRequired"))
      .annotate(AlsoAnswers, logForms)
      .annotate(Streaming, true)
      .annotate(Messages, { schema: ProvisionerJobLog, framing: "values", resume: "after" })
  )
  .add(
    HttpApiEndpoint.patch("cancelDryRun", "/api/v2/templateversions/:templateversion/dry-run/:jobID/cancel")
      .annotateContext(operation("Cancel a dry run", "Cancels the job of a dry run."))
      .setPath(dryRun)
      .addSuccess(Response)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.post("archiveTemplateVersions", "/api/v2/templates/:template/versions/archive")
      .annotateContext(
        operation("Archive a template's versions", "Archives the versions that nothing uses: all of them, or those whose import failed.")
      )
      .setPath(ofTemplate)
      .setPayload(Body({ all: flag }))
      .addSuccess(ArchivedVersions)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.post("archiveTemplateVersion", "/api/v2/templateversions/:templateversion/archive")
      .annotateContext(operation("Archive a template version", "Hides a version that nothing uses from lists."))
      .setPath(byId)
      .addSuccess(Sentence)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
  )
  .add(
    HttpApiEndpoint.post("unarchiveTemplateVersion", "/api/v2/templateversions/:templateversion/unarchive")
      .annotateContext(operation("Unarchive a template version", "Brings an archived version back."))
      .setPath(byId)
      .addSuccess(Sentence)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getTemplateVersionLegacyParameters", "/api/v2/templateversions/:templateversion/parameters")
      .annotateContext(operation("List a version's legacy parameters", "Returns an empty list: such parameters no longer exist."))
      .setPath(byId)
      .addSuccess(Schema.Array(Schema.String))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getTemplateVersionSchema", "/api/v2/templateversions/:templateversion/schema")
      .annotateContext(operation("List a version's legacy schemas", "Returns an empty list: such schemas no longer exist."))
      .setPath(byId)
      .addSuccess(Schema.Array(Schema.String))
      .addError(refusals("NotFound"))
  )
  .middlewareEndpoints(Authenticated)
