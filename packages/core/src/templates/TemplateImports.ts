import { Context, Effect, Either, Layer, Option } from "effect"
import { BuildResources } from "../agents/BuildResources.js"
import { DeploymentOptions } from "../deployment/DeploymentOptions.js"
import { Invalid } from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import * as Timestamp from "../platform/Timestamp.js"
import { nil } from "../platform/Uuid.js"
import { type Plan, type PlanInput, ProvisionFailure, type ProvisionerSession } from "../provisioning/ProvisionerEngine.js"
import type { ProvisionerJob } from "../provisioning/ProvisionerJob.js"
import { definitionsFlaw } from "./DefinitionRules.js"
import type { AuthoredVersion } from "./TemplateVersion.js"
import type { TemplateVersionPreset, TemplateVersionVariable } from "./TemplateVersionDefinitions.js"
import { TemplateVersionRepository } from "./TemplateVersionRepository.js"
import { resolveVariables } from "./Variables.js"

/** Characters of a readme that are kept; at most four bytes each. */
const maximumReadme = 256 * 1024

/** How the job hears of the import while it runs. */
export interface ImportProgress<E, R> {
  readonly announce: (stage: string) => Effect.Effect<void>
  /** Writes in a transaction, or fails when the job is somebody else's by now. */
  readonly store: (write: Effect.Effect<void>) => Effect.Effect<void, E, R>
}

const make = Effect.gen(function* () {
  const versions = yield* TemplateVersionRepository
  const resources = yield* BuildResources
  const ids = yield* Ids

  /** Whom and what an import plans for: nobody in particular. */
  const metadataFor = (version: AuthoredVersion, transition: "start" | "stop") =>
    Effect.map(DeploymentOptions, ({ access_url }): PlanInput["metadata"] => ({
      access_url,
      transition,
      workspace_id: nil,
      workspace_name: "default",
      workspace_build_id: nil,
      owner_id: nil,
      owner_username: "default",
      owner_name: "default",
      owner_email: "default@example.com",
      owner_login_type: "",
      owner_groups: ["Everyone"],
      owner_ssh_public_key: "",
      template_id: version.template_id ?? nil,
      template_name: "",
      template_version: version.name
    }))

  const planFor = (
    version: AuthoredVersion,
    session: ProvisionerSession,
    variables: ReadonlyArray<TemplateVersionVariable>,
    transition: "start" | "stop"
  ) =>
    Effect.flatMap(metadataFor(version, transition), (metadata) =>
      session.plan({
        metadata,
        variables: variables.map(({ name, sensitive, value }) => ({ name, value, sensitive })),
        parameters: [],
        previous_parameters: [],
        state: new Uint8Array(0)
      })
    )

  const storePlans = (version: AuthoredVersion, start: Plan, stop: Plan) =>
    Effect.gen(function* () {
      const presets = yield* Effect.forEach(start.presets, (preset) =>
        Effect.map(ids.next, (id): TemplateVersionPreset => ({ ...preset, id, template_version_id: version.id }))
      )
      yield* versions.storePlanned(version.id, {
        parameters: start.parameters,
        presets,
        has_ai_task: start.has_ai_task,
        has_external_agent: start.has_external_agent,
        updated_at: yield* Timestamp.now
      })
      yield* resources.insert({ job_id: version.job_id, transition: "start" }, start.resources)
      yield* resources.insert({ job_id: version.job_id, transition: "stop" }, stop.resources)
    })

  return {
    /**
     * Runs the import of a version: parses its source, gives its variables their values, and plans a start and a stop. Answers what is to
     * be stored in the transaction that completes the job. templates-and-provisioning.md §4.1, §6.9, §9.
     */
    run: Effect.fn("TemplateImports.run")(function* <E, R>(
      job: Pick<ProvisionerJob, "input">,
      session: ProvisionerSession,
      { announce, store }: ImportProgress<E, R>
    ) {
      const { template_version_id, user_variable_values = [] } = job.input
      const found = template_version_id === undefined ? Option.none() : yield* versions.byId(template_version_id)
      if (Option.isNone(found)) return yield* new ProvisionFailure({ message: "The template version of the job does not exist." })
      const version = found.value

      yield* announce("Parsing template parameters")
      const parsed = yield* session.parse
      const active = version.template_id === null ? [] : yield* versions.activeVariables(version.template_id)
      const resolved = resolveVariables(parsed.variables, user_variable_values, active)
      yield* store(
        versions.storeParsed(version.id, {
          readme: parsed.readme.replaceAll("\0", "\uFFFD").slice(0, maximumReadme),
          workspace_tags: parsed.workspace_tags,
          // Clients ask for the variables of a failed import, to have the missing ones filled in
          variables: Either.getOrElse(resolved, () => parsed.variables.map((variable) => ({ ...variable, value: variable.default_value }))),
          updated_at: yield* Timestamp.now
        })
      )
      const variables = yield* resolved

      yield* announce("Detecting persistent resources")
      const start = yield* planFor(version, session, variables, "start")
      const flaw = definitionsFlaw(start)
      if (flaw !== undefined) return yield* new ProvisionFailure({ message: flaw })
      yield* announce("Detecting ephemeral resources")
      const stop = yield* planFor(version, session, variables, "stop")
      return storePlans(version, start, stop) satisfies Effect.Effect<void, Invalid, unknown>
    })
  }
})

/** What a job of type `template_version_import` does. */
export class TemplateImports extends Context.Tag("@atelier/core/TemplateImports")<TemplateImports, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(TemplateImports, make)
}
