import { TemplateCreation, Templates } from "@atelier/core/templates"
import { Effect } from "effect"
import * as contract from "../../contract/templates/templates.js"
import * as Handlers from "../Handlers.js"

export const templates = Handlers.group(contract.templates, (handlers) =>
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
