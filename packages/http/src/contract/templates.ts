/** Templates and their versions. templates-and-provisioning.md §2, §3. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import { Uuid } from "@atelier/core/platform"
import { ProvisionerType } from "@atelier/core/provisioning"
import {
  CorsBehavior,
  ParameterView,
  PortShareLevel,
  PresetView,
  TemplateVersionView,
  TemplateView,
  VariableView
} from "@atelier/core/templates"
import { Schema } from "effect"
import { refusals, Response } from "../errors.js"
import { Body, flag, flagParameter, list, page, Path, Query, required, text } from "../input.js"
import { WorkspaceResource } from "./agents.js"
import { TrailingSlash } from "./annotations.js"
import { Authenticated } from "./authentication.js"
import { JobLogQuery, MatchedProvisioners, ProvisionerJob, ProvisionerJobLog } from "./provisioning.js"

export const Template = TemplateView.annotations({ identifier: "Template" })

export const TemplateVersion = Schema.Struct({
  ...TemplateVersionView.fields,
  job: ProvisionerJob,
  matched_provisioners: Schema.optional(MatchedProvisioners)
}).annotations({ identifier: "TemplateVersion" })

export const TemplateVersionParameter = ParameterView.annotations({ identifier: "TemplateVersionParameter" })

export const TemplateVersionVariable = VariableView.annotations({ identifier: "TemplateVersionVariable" })

export const Preset = PresetView.annotations({ identifier: "Preset" })

export const TemplateExample = Schema.Struct({
  id: Schema.String,
  url: Schema.String,
  name: Schema.String,
  description: Schema.String,
  icon: Schema.String,
  tags: Schema.Array(Schema.String),
  markdown: Schema.String
}).annotations({ identifier: "TemplateExample" })

const optionalText = Schema.optional(Schema.String)
const optionalFlag = Schema.optional(Schema.Boolean)
/** Milliseconds. */
const duration = Schema.optional(Schema.Int)

const settings = {
  display_name: optionalText,
  description: optionalText,
  icon: optionalText,
  default_ttl_ms: duration,
  activity_bump_ms: duration,
  time_til_autostop_notify_ms: duration,
  autostop_requirement: Schema.optional(
    Body({ days_of_week: list(Schema.String), weeks: Schema.optionalWith(Schema.Int, { default: () => 0 }) })
  ),
  autostart_requirement: Schema.optional(Body({ days_of_week: list(Schema.String) })),
  allow_user_autostart: optionalFlag,
  allow_user_autostop: optionalFlag,
  allow_user_cancel_workspace_jobs: optionalFlag,
  failure_ttl_ms: duration,
  require_active_version: optionalFlag,
  disable_everyone_group_access: optionalFlag,
  agents_allowed: optionalFlag
}

const CreateTemplate = Body({
  ...settings,
  name: required(Schema.String),
  template_version_id: required(Uuid.Uuid),
  dormant_ttl_ms: duration,
  delete_ttl_ms: duration,
  template_use_classic_parameter_flow: optionalFlag,
  max_port_share_level: Schema.optional(PortShareLevel),
  cors_behavior: Schema.optional(CorsBehavior)
})

const UpdateTemplate = Body({
  ...settings,
  name: optionalText,
  time_til_dormant_ms: duration,
  time_til_dormant_autodelete_ms: duration,
  deprecation_message: optionalText,
  use_classic_parameter_flow: optionalFlag,
  disable_module_cache: optionalFlag,
  update_workspace_last_used_at: flag,
  update_workspace_dormant_at: flag,
  max_port_share_level: optionalText,
  cors_behavior: Schema.optional(Schema.Literal("", ...CorsBehavior.literals))
})

const CreateVersion = Body({
  storage_method: required(Schema.Literal("file")),
  provisioner: required(ProvisionerType),
  file_id: Schema.optional(Uuid.Uuid),
  example_id: text,
  name: text,
  message: text,
  template_id: Schema.optional(Uuid.Uuid),
  tags: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.String }), { default: () => ({}) }),
  user_variable_values: list(Body({ name: text, value: text }))
})

const inOrganization = Path({ organization: Schema.String })
const byId = Path({ template: Uuid.Uuid })
const search = Query({ q: text })

export const templates = HttpApiGroup.make("templates")
  .add(
    HttpApiEndpoint.post("createTemplate", "/api/v2/organizations/:organization/templates")
      .setPath(inOrganization)
      .setPayload(CreateTemplate)
      .addSuccess(Template, { status: 201 })
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listOrganizationTemplates", "/api/v2/organizations/:organization/templates")
      .setPath(inOrganization)
      .setUrlParams(search)
      .addSuccess(Schema.Array(Template))
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listOrganizationTemplateExamples", "/api/v2/organizations/:organization/templates/examples")
      .setPath(inOrganization)
      .addSuccess(Schema.Array(TemplateExample))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getTemplateByName", "/api/v2/organizations/:organization/templates/:templatename")
      .setPath(Path({ organization: Schema.String, templatename: Schema.String }))
      .addSuccess(Template)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("listTemplates", "/api/v2/templates")
      .setUrlParams(search)
      .addSuccess(Schema.Array(Template))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listTemplateExamples", "/api/v2/templates/examples")
      .addSuccess(Schema.Array(TemplateExample))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getTemplate", "/api/v2/templates/:template")
      .setPath(byId)
      .addSuccess(Template)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.patch("updateTemplate", "/api/v2/templates/:template")
      .setPath(byId)
      .setPayload(UpdateTemplate)
      .addSuccess(Template)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.del("deleteTemplate", "/api/v2/templates/:template")
      .setPath(byId)
      .addSuccess(Response)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .middlewareEndpoints(Authenticated)

const versionById = Path({ templateversion: Uuid.Uuid })

export const templateVersions = HttpApiGroup.make("templateVersions")
  .add(
    HttpApiEndpoint.post("createTemplateVersion", "/api/v2/organizations/:organization/templateversions")
      .setPath(inOrganization)
      .setPayload(CreateVersion)
      .addSuccess(TemplateVersion, { status: 201 })
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listTemplateVersions", "/api/v2/templates/:template/versions")
      .setPath(byId)
      .setUrlParams(Query({ ...page, include_archived: flagParameter }))
      .addSuccess(Schema.Array(TemplateVersion))
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.patch("promoteTemplateVersion", "/api/v2/templates/:template/versions")
      .setPath(byId)
      .setPayload(Body({ id: required(Uuid.Uuid) }))
      .addSuccess(Response)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getTemplateVersionByName", "/api/v2/templates/:template/versions/:templateversionname")
      .setPath(Path({ template: Uuid.Uuid, templateversionname: Schema.String }))
      .addSuccess(TemplateVersion)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get(
      "getTemplateVersionByNames",
      "/api/v2/organizations/:organization/templates/:templatename/versions/:templateversionname"
    )
      .setPath(Path({ organization: Schema.String, templatename: Schema.String, templateversionname: Schema.String }))
      .addSuccess(TemplateVersion)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getTemplateVersion", "/api/v2/templateversions/:templateversion")
      .setPath(versionById)
      .addSuccess(TemplateVersion)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.patch("updateTemplateVersion", "/api/v2/templateversions/:templateversion")
      .setPath(versionById)
      .setPayload(Body({ name: text, message: optionalText }))
      .addSuccess(TemplateVersion)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.patch("cancelTemplateVersion", "/api/v2/templateversions/:templateversion/cancel")
      .setPath(versionById)
      .addSuccess(Response)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getTemplateVersionLogs", "/api/v2/templateversions/:templateversion/logs")
      .setPath(versionById)
      .setUrlParams(JobLogQuery)
      .addSuccess(Schema.Array(ProvisionerJobLog))
      .addError(refusals("NotFound", "UpgradeRequired"))
  )
  .add(
    HttpApiEndpoint.get("getTemplateVersionResources", "/api/v2/templateversions/:templateversion/resources")
      .setPath(versionById)
      .addSuccess(Schema.Array(WorkspaceResource))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getTemplateVersionParameters", "/api/v2/templateversions/:templateversion/rich-parameters")
      .setPath(versionById)
      .addSuccess(Schema.Array(TemplateVersionParameter))
      .addError(refusals("NotFound", "NotReady"))
  )
  .add(
    HttpApiEndpoint.get("getTemplateVersionVariables", "/api/v2/templateversions/:templateversion/variables")
      .setPath(versionById)
      .addSuccess(Schema.Array(TemplateVersionVariable))
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getTemplateVersionPresets", "/api/v2/templateversions/:templateversion/presets")
      .setPath(versionById)
      .addSuccess(Schema.NullOr(Schema.Array(Preset)))
      .addError(refusals("NotFound"))
  )
  .middlewareEndpoints(Authenticated)
