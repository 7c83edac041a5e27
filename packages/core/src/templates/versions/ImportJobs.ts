import { Effect, Option } from "effect"
import { BuildResources } from "../../agents/resources/BuildResources.js"
import { ExternalAuthClients } from "../../externalAuth/ExternalAuthClient.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { nil } from "../../platform/texts/Uuid.js"
import type { FileId } from "../../provisioning/files/File.js"
import { importMetadata } from "../../provisioning/engines/ImportMetadata.js"
import { ModuleArchives } from "../../provisioning/files/ModuleArchives.js"
import { type Plan, type ProvisionerSession, ProvisionFailure } from "../../provisioning/engines/ProvisionerEngine.js"
import { type ExternalAuthRequirement, noPrebuildPolicy } from "../../provisioning/engines/SourceDefinitions.js"
import { TemplateImportJobs } from "../../provisioning/jobs/TemplateImportJobs.js"
import { definitionsViolation } from "./DefinitionRules.js"
import type { AuthoredVersion } from "./TemplateVersion.js"
import type { TemplateVersionPreset, TemplateVersionVariable } from "./TemplateVersionDefinitions.js"
import { TemplateVersionRepository } from "./TemplateVersionRepository.js"
import { resolveVariables, variablesWithValues } from "./Variables.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"

/** Characters of a readme that are kept; at most four bytes each. */
const maximumReadme = 256 * 1024

/** The providers that a plan needs, each once, by their ids. */
const requirementsOf = ({ external_auth_providers = [] }: Plan): ReadonlyArray<ExternalAuthRequirement> => {
  const byId = new Map<string, boolean>()
  for (const { id, optional } of external_auth_providers) byId.set(id, optional && (byId.get(id) ?? true))
  return [...byId].map(([id, optional]) => ({ id, optional })).toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

const unknownProviders = (unknown: ReadonlyArray<ExternalAuthRequirement>): string =>
  `The template needs the external authentication ${unknown.length === 1 ? "provider" : "providers"} ${unknown
    .map(({ id }) => JSON.stringify(id))
    .join(", ")}, which the deployment does not have.`

const make = Effect.gen(function* () {
  const versions = yield* TemplateVersionRepository
  const known = new Set((yield* ExternalAuthClients).map(({ provider }) => provider.id))
  const resources = yield* BuildResources
  const modules = yield* ModuleArchives
  const ids = yield* Ids

  const planFor = (
    version: AuthoredVersion,
    session: Pick<ProvisionerSession, "plan">,
    variables: ReadonlyArray<TemplateVersionVariable>,
    transition: "start" | "stop"
  ) =>
    Effect.flatMap(DeploymentOptions, ({ accessUrl }) =>
      session.plan({
        metadata: importMetadata({
          access_url: accessUrl,
          transition,
          template_id: version.template_id ?? nil,
          template_version: version.name
        }),
        variables: variables.map(({ name, sensitive, value }) => ({ name, value, sensitive })),
        parameters: [],
        previous_parameters: [],
        state: new Uint8Array(0)
      })
    )

  const storePlans = (version: AuthoredVersion, engine: string | undefined, start: Plan, stop: Plan, downloaded: Option.Option<FileId>) =>
    Effect.gen(function* () {
      const presets = yield* Effect.forEach(start.presets, (preset) =>
        Effect.map(ids.next, (id): TemplateVersionPreset => ({
          ...preset,
          prebuild_policy: preset.prebuild_policy ?? noPrebuildPolicy,
          id,
          template_version_id: version.id
        }))
      )
      yield* versions.storePlanned(version.id, {
        parameters: start.parameters,
        presets,
        has_ai_task: start.has_ai_task,
        engine: engine ?? null,
        has_external_agent: start.has_external_agent,
        updated_at: yield* Timestamp.now
      })
      yield* resources.insert({ job_id: version.job_id, transition: "start" }, start.resources)
      yield* resources.insert({ job_id: version.job_id, transition: "stop" }, stop.resources)
      if (Option.isSome(downloaded)) yield* modules.link(version.id, downloaded.value)
    })

  return TemplateImportJobs.of({
    run: (job, session, { announce, store }) =>
      Effect.gen(function* () {
        const { template_version_id, user_variable_values = [] } = job.input
        const found = template_version_id === undefined ? Option.none() : yield* versions.byId(template_version_id)
        if (Option.isNone(found)) return yield* new ProvisionFailure({ message: "The template version of the job does not exist." })
        const version = found.value

        yield* session.prepare?.() ?? Effect.void
        yield* announce("Parsing template parameters")
        const parsed = yield* session.parse
        const active = version.template_id === null ? [] : yield* versions.activeVariables(version.template_id)
        yield* store(
          versions.storeParsed(version.id, {
            readme: parsed.readme.replaceAll("\0", "\uFFFD").slice(0, maximumReadme),
            workspace_tags: parsed.workspace_tags,
            // Clients ask for the variables of a failed import, to have the missing ones filled in
            variables: variablesWithValues(parsed.variables, user_variable_values, active),
            updated_at: yield* Timestamp.now
          })
        )
        const variables = yield* resolveVariables(parsed.variables, user_variable_values, active)

        yield* announce("Detecting persistent resources")
        const start = yield* planFor(version, session, variables, "start")
        const violation = definitionsViolation(start)
        if (violation !== undefined) return yield* new ProvisionFailure({ message: violation })
        const needed = requirementsOf(start)
        // Clients ask for the providers of a failed import too. An earlier run of the job has stored the same
        if (needed.length > 0) yield* store(versions.storeExternalAuth(version.id, needed))
        const unknown = needed.filter(({ id }) => !known.has(id))
        if (unknown.length > 0) return yield* new ProvisionFailure({ message: unknownProviders(unknown) })
        yield* announce("Detecting ephemeral resources")
        const stop = yield* planFor(version, session, variables, "stop")
        return storePlans(version, session.engine, start, stop, yield* session.modules)
      })
  })
})

/**
 * The work of jobs of type `template_version_import`: parse the source, give its variables their values, and plan a start and a stop.
 * templates-and-provisioning.md §4.1, §6.9, §9.
 */
export const importJobs = standingOn(service(TemplateImportJobs, make), BuildResources.layer, ModuleArchives.layer)
