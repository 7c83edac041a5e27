import { TemplateVersionCreation, TemplateVersions } from "@atelier/core/templates"
import { Effect, Option } from "effect"
import { Contract } from "../contract/Contract.js"
import * as Handlers from "./Handlers.js"
import { answerJobLogs } from "./jobLogs.js"

export const templateVersions = Handlers.group(Contract, "templateVersions", (handlers) =>
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
      .handle("getPreviousTemplateVersion", ({ path }) =>
        Effect.map(versions.previous(path.organization, path.templatename, path.templateversionname), Option.getOrUndefined)
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
      .handle("getTemplateVersionExternalAuth", ({ path, urlParams }) =>
        versions.externalAuth(path.templateversion, urlParams.user_id === "me" ? undefined : urlParams.user_id)
      )
      .handle("getTemplateVersionPresets", ({ path }) => versions.presets(path.templateversion))
  )
)
