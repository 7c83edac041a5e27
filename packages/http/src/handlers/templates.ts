import { TemplateCreation, Templates, TemplateVersionCreation, TemplateVersions } from "@atelier/core/templates"
import { Effect, Layer } from "effect"
import { Contract } from "../contract/Contract.js"
import * as Handlers from "./Handlers.js"
import { answerJobLogs } from "./jobLogs.js"

const ofTemplates = Handlers.group(Contract, "templates", (handlers) =>
  Effect.map(Effect.all([Templates, TemplateCreation]), ([templates, creation]) =>
    handlers
      .handle("createTemplate", ({ path, payload }) => creation.create(path.organization, payload))
      .handle("listOrganizationTemplates", ({ path, urlParams }) => templates.listInOrganization(path.organization, urlParams.q))
      .handle("listOrganizationTemplateExamples", ({ path }) => templates.examplesInOrganization(path.organization))
      .handle("getTemplateByName", ({ path }) => templates.getByName(path.organization, path.templatename))
      .handle("listTemplates", ({ urlParams }) => templates.list(urlParams.q))
      .handle("listTemplateExamples", () => templates.examples())
      .handle("getTemplate", ({ path }) => templates.get(path.template))
      .handle("updateTemplate", ({ path, payload }) => templates.update(path.template, payload))
      .handle("deleteTemplate", ({ path }) => Effect.as(templates.delete(path.template), { message: "Template has been deleted!" }))
  )
)

const ofVersions = Handlers.group(Contract, "templateVersions", (handlers) =>
  Effect.map(Effect.all([TemplateVersions, TemplateVersionCreation]), ([versions, creation]) =>
    handlers
      .handle("createTemplateVersion", ({ path, payload }) => creation.create(path.organization, payload))
      .handle("listTemplateVersions", ({ path, urlParams }) => versions.list(path.template, urlParams))
      .handle("promoteTemplateVersion", ({ path, payload }) =>
        Effect.as(versions.promote(path.template, payload.id), { message: "Updated the active template version!" })
      )
      .handle("getTemplateVersionByName", ({ path }) => versions.getByName(path.template, path.templateversionname))
      .handle("getTemplateVersionByNames", ({ path }) =>
        versions.getByNames(path.organization, path.templatename, path.templateversionname)
      )
      .handle("getTemplateVersion", ({ path }) => versions.get(path.templateversion))
      .handle("updateTemplateVersion", ({ path, payload }) => versions.update(path.templateversion, payload))
      .handle("cancelTemplateVersion", ({ path }) =>
        Effect.as(versions.cancel(path.templateversion), { message: "Job has been marked as canceled..." })
      )
      .handle("getTemplateVersionLogs", ({ path, request, urlParams: { after, format } }) =>
        answerJobLogs({
          request,
          format,
          read: versions.logs(path.templateversion, after),
          follow: versions.followLogs(path.templateversion, after)
        })
      )
      .handle("getTemplateVersionResources", ({ path }) => versions.resources(path.templateversion))
      .handle("getTemplateVersionParameters", ({ path }) => versions.parameters(path.templateversion))
      .handle("getTemplateVersionVariables", ({ path }) => versions.variables(path.templateversion))
      .handle("getTemplateVersionPresets", ({ path }) => versions.presets(path.templateversion))
  )
)

export const templates = Layer.mergeAll(ofTemplates, ofVersions)
