/** Templates. templates-and-provisioning.md §2. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Uuid } from "@atelier/core/platform"
import { CorsBehavior, PortShareLevel, TemplateView, TransitionStats } from "@atelier/core/templates"
import { Schema, Struct } from "effect"
import { dialectal } from "../../wire/dialect.js"
import { refusals, Response } from "../../wire/errors.js"
import { Body, flag, list, Path, Query, required, text } from "../../wire/input.js"
import { operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

/** Build times under the documented names too, which the reference has not. wire.md W2. */
const TransitionStatsOnWire = dialectal({
  standard: Schema.transform(
    Schema.Struct({ ...TransitionStats.fields, p50: TransitionStats.fields.P50, p95: TransitionStats.fields.P95 }),
    Schema.typeSchema(TransitionStats),
    { strict: true, decode: ({ P50, P95 }) => ({ P50, P95 }), encode: ({ P50, P95 }) => ({ P50, P95, p50: P50, p95: P95 }) }
  ),
  reference: TransitionStats
})

const { agents_allowed, ...common } = {
  ...TemplateView.fields,
  build_time_stats: Schema.Struct({ start: TransitionStatsOnWire, stop: TransitionStatsOnWire, delete: TransitionStatsOnWire })
}
const TemplateOnWire = Schema.Struct({ ...common, agents_allowed })

/** The reference's record has no `agents_allowed`. */
export const Template = dialectal({
  standard: TemplateOnWire,
  reference: Schema.transform(Schema.Struct(common), Schema.typeSchema(TemplateOnWire), {
    strict: true,
    decode: (template) => ({ ...template, agents_allowed: true }),
    encode: Struct.omit("agents_allowed")
  })
}).annotations({ identifier: "Template" })

const TemplateExample = Schema.Struct({
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
/** Core refuses other texts, together with what else is wrong with a template's settings. */
const portShareLevel = Schema.String.annotations({ jsonSchema: { type: "string", enum: [...PortShareLevel.literals] } })
const corsBehavior = Schema.String.annotations({ jsonSchema: { type: "string", enum: ["", ...CorsBehavior.literals] } })
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
  max_port_share_level: Schema.optional(portShareLevel),
  cors_behavior: Schema.optional(corsBehavior)
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
  max_port_share_level: Schema.optional(portShareLevel),
  cors_behavior: Schema.optional(corsBehavior)
})

const inOrganization = Path({ organization: Schema.String })
const byId = Path({ template: Uuid.Uuid })
const search = Query({ q: text })

export const templates = HttpApiGroup.make("templates")
  .annotate(OpenApi.Description, "Templates.")
  .add(
    HttpApiEndpoint.post("createTemplate", "/api/v2/organizations/:organization/templates")
      .annotateContext(operation("Create a template", "Creates a template from a template version that has been imported."))
      .setPath(inOrganization)
      .setPayload(CreateTemplate)
      .addSuccess(Template, { status: 201 })
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listOrganizationTemplates", "/api/v2/organizations/:organization/templates")
      .annotateContext(
        operation("List an organization's templates", "Returns the templates of an organization that the caller may see, filtered by `q`.")
      )
      .setPath(inOrganization)
      .setUrlParams(search)
      .addSuccess(Schema.Array(Template))
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listOrganizationTemplateExamples", "/api/v2/organizations/:organization/templates/examples")
      .annotateContext(
        operation(
          "List an organization's template examples",
          "Returns the starter templates that templates of an organization can be made from."
        )
      )
      .setPath(inOrganization)
      .addSuccess(Schema.Array(TemplateExample))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getTemplateByName", "/api/v2/organizations/:organization/templates/:templatename")
      .annotateContext(operation("Get a template by name", "Returns a template of an organization by its name."))
      .setPath(Path({ organization: Schema.String, templatename: Schema.String }))
      .addSuccess(Template)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listTemplates", "/api/v2/templates")
      .annotateContext(operation("List templates", "Returns the templates that the caller may see, filtered by `q`."))
      .setUrlParams(search)
      .addSuccess(Schema.Array(Template))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listTemplateExamples", "/api/v2/templates/examples")
      .annotateContext(operation("List template examples", "Returns the starter templates that come with the service."))
      .addSuccess(Schema.Array(TemplateExample))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getTemplate", "/api/v2/templates/:template")
      .annotateContext(operation("Get a template", "Returns a template by id."))
      .setPath(byId)
      .addSuccess(Template)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.patch("updateTemplate", "/api/v2/templates/:template")
      .annotateContext(operation("Update a template", "Changes the given settings of a template and keeps the others."))
      .setPath(byId)
      .setPayload(UpdateTemplate)
      .addSuccess(Template)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.del("deleteTemplate", "/api/v2/templates/:template")
      .annotateContext(operation("Delete a template", "Deletes a template that no workspace uses."))
      .setPath(byId)
      .addSuccess(Response)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .middlewareEndpoints(Authenticated)
