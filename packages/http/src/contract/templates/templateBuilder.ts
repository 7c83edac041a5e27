/** The template builder. deployment.md §11. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Uuid } from "@atelier/core/platform"
import { builderEvents } from "@atelier/core/templates"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, list, map, needed, Query, required, text } from "../../wire/input.js"
import { operation } from "../annotations.js"
import { Authenticated } from "../authentication.js"
import { Template } from "./templates.js"

const largeNumber = Schema.Number.annotations({ jsonSchema: { type: "number", minimum: -1e15, maximum: 1e15 } })

const Variable = Schema.Struct({
  name: Schema.String,
  type: Schema.Literal("string", "number", "bool"),
  description: Schema.String,
  /** Absent if a value has to be given. */
  default: Schema.optional(Schema.NullOr(Schema.Union(Schema.String, largeNumber, Schema.Boolean))),
  required: Schema.Boolean,
  sensitive: Schema.Boolean
}).annotations({ identifier: "TemplateBuilderModuleVariable" })

const Bases = Schema.Struct({
  bases: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      name: Schema.String,
      description: Schema.String,
      icon: Schema.String,
      os: Schema.String,
      variables: Schema.Array(Variable),
      prerequisites: Schema.String
    }).annotations({ identifier: "TemplateBuilderBase" })
  )
}).annotations({ identifier: "TemplateBuilderBasesResponse" })

const Modules = Schema.Struct({
  modules: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      display_name: Schema.String,
      description: Schema.String,
      icon: Schema.String,
      category: Schema.String,
      version: Schema.String,
      compatible_os: Schema.Array(Schema.String),
      conflicts_with: Schema.Array(Schema.String),
      variables: Schema.Array(Variable)
    }).annotations({ identifier: "TemplateBuilderModule" })
  )
}).annotations({ identifier: "TemplateBuilderModulesResponse" })

const composition = {
  base_template_id: needed(text),
  base_variable_values: map(Schema.String),
  modules: list(Body({ id: text, variables: map(Schema.String) }))
}

const CreateTemplate = Body({
  ...composition,
  organization_id: required(Uuid.Uuid),
  name: required(Schema.String),
  display_name: Schema.optional(Schema.String),
  description: Schema.optional(Schema.String),
  icon: Schema.optional(Schema.String),
  provisioner_tags: map(Schema.String)
})

const Session = Body({
  session_id: needed(Schema.optional(Uuid.Uuid)),
  // The service refuses other texts, after it has judged the caller
  event_type: needed(text).annotations({ jsonSchema: { type: "string", enum: [...builderEvents] } }),
  base_template_id: text,
  module_ids: list(Schema.String),
  duration_seconds: Schema.optional(Schema.Number.pipe(Schema.between(0, 1e9))),
  success: Schema.optional(Schema.Boolean)
})

export const templateBuilder = HttpApiGroup.make("templateBuilder")
  .annotate(OpenApi.Description, "Templates that are composed of a base and modules.")
  .add(
    HttpApiEndpoint.get("listTemplateBuilderBases", "/api/v2/templatebuilder/bases")
      .annotateContext(operation("List bases of the template builder", "Returns the templates to begin with, by name."))
      .addSuccess(Bases)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("listTemplateBuilderModules", "/api/v2/templatebuilder/modules")
      .annotateContext(
        operation("List modules of the template builder", "Returns the modules, of those that work with a base if one is named.")
      )
      .setUrlParams(Query({ base: text }))
      .addSuccess(Modules)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.post("composeTemplate", "/api/v2/templatebuilder/compose")
      .annotateContext(operation("Compose a template", "Returns the archive of a template. The same request gives the same bytes."))
      .setPayload(Body(composition))
      .addSuccess(HttpApiSchema.Uint8Array({ contentType: "application/x-tar" }))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.post("createComposedTemplate", "/api/v2/templatebuilder/compose/template")
      .annotateContext(
        operation("Compose and create a template", "Composes a template, imports it, which may take two minutes, and creates it.")
      )
      .setPayload(CreateTemplate)
      .addSuccess(Schema.Struct({ template: Template }).annotations({ identifier: "TemplateBuilderCreateTemplateResponse" }), {
        status: 201
      })
      .addError(refusals("NotFound", "Forbidden", "Conflict", "TimedOut"))
  )
  .add(
    HttpApiEndpoint.post("recordTemplateBuilderSession", "/api/v2/templatebuilder/sessions")
      .annotateContext(operation("Record a use of the template builder", "Accepts usage events of the wizard. Nothing is stored."))
      .setPayload(Session)
      .addSuccess(Schema.Void, { status: 204 })
      .addError(refusals("NotFound"))
  )
  .middleware(Authenticated)
