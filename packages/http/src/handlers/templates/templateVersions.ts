import { DryRuns, ParameterForms, TemplateVersionCreation, TemplateVersions } from "@atelier/core/templates"
import { Effect, Option } from "effect"
import * as contract from "../../contract/templates/templateVersions.js"
import { DynamicParametersRequest, DynamicParametersResponse } from "../../contract/templates/parameterForms.js"
import { dialogueSocket } from "../../sockets/dialogue.js"
import * as Handlers from "../Handlers.js"
import { answerJobLogs } from "../provisioning/jobLogs.js"

/** What a form's socket exchanges, and for how long. templates-and-provisioning.md §4.6. */
const formDialogue = {
  incoming: DynamicParametersRequest,
  maximumMessage: 1024 * 1024,
  outgoing: DynamicParametersResponse,
  lasts: "30 minutes"
} as const

export const templateVersions = Handlers.group(contract.templateVersions, (handlers) =>
  Effect.map(Effect.all([TemplateVersions, TemplateVersionCreation, ParameterForms, DryRuns]), ([versions, creation, forms, dryRuns]) =>
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
      .handle("archiveTemplateVersions", ({ path, payload }) => versions.archiveUnused(path.template, payload.all))
      .handle("archiveTemplateVersion", ({ path }) =>
        Effect.as(versions.archive(path.templateversion), `template version "${path.templateversion}" archived`)
      )
      .handle("unarchiveTemplateVersion", ({ path }) =>
        Effect.as(versions.unarchive(path.templateversion), `template version "${path.templateversion}" unarchived`)
      )
      .handle("getTemplateVersionLegacyParameters", ({ path }) => versions.legacyDefinitions(path.templateversion))
      .handle("getTemplateVersionSchema", ({ path }) => versions.legacyDefinitions(path.templateversion))
      .handle("evaluateDynamicParameters", ({ path, payload }) => forms.get(path.templateversion, payload))
      .handle("openDynamicParameters", ({ path, request, urlParams: { user_id } }) =>
        Effect.gen(function* () {
          const { answers, right } = yield* forms.open(path.templateversion, user_id === "me" ? undefined : user_id)
          return yield* dialogueSocket(request, formDialogue, right, answers)
        })
      )
      .handle("createDryRun", ({ path, payload }) => dryRuns.create(path.templateversion, payload))
      .handle("getDryRun", ({ path }) => dryRuns.get(path.templateversion, path.jobID))
      .handle("getDryRunMatchedProvisioners", ({ path }) => dryRuns.matchedProvisioners(path.templateversion, path.jobID))
      .handle("getDryRunResources", ({ path }) => dryRuns.resources(path.templateversion, path.jobID))
      .handle("getDryRunLogs", ({ path, request, urlParams: { after, format } }) =>
        answerJobLogs({
          request,
          format,
          read: dryRuns.logs(path.templateversion, path.jobID, after),
          follow: dryRuns.followLogs(path.templateversion, path.jobID, after)
        })
      )
      .handle("cancelDryRun", ({ path }) =>
        Effect.as(dryRuns.cancel(path.templateversion, path.jobID), { message: "Job has been marked as canceled..." })
      )
  )
)
