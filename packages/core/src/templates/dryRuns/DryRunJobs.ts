import { Effect, Option } from "effect"
import { BuildResources } from "../../agents/resources/BuildResources.js"
import { UserRepository } from "../../identity/users/UserRepository.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { DryRunJobs } from "../../provisioning/jobs/DryRunJobs.js"
import { type Plan, ProvisionFailure } from "../../provisioning/engines/ProvisionerEngine.js"
import type { ParameterValue } from "../../provisioning/engines/SourceDefinitions.js"
import { OwnerMetadata } from "../parameters/OwnerMetadata.js"
import { parameterValueViolation } from "../parameters/ParameterValueRules.js"
import { TemplateVersionRepository } from "../versions/TemplateVersionRepository.js"

/** The problems of the given values, one line each; a parameter without a value is planned with none. */
const violationsOf = ({ parameters }: Plan, given: ReadonlyArray<ParameterValue>): ReadonlyArray<string> => {
  const values = new Map(given.map(({ name, value }) => [name, value]))
  return parameters.flatMap((parameter) => {
    const value = values.get(parameter.name)
    const violation = value === undefined ? undefined : parameterValueViolation(parameter, value, undefined)
    return violation === undefined ? [] : [`parameter ${parameter.name}: ${violation}`]
  })
}

const make = Effect.gen(function* () {
  const versions = yield* TemplateVersionRepository
  const users = yield* UserRepository
  const owners = yield* OwnerMetadata
  const resources = yield* BuildResources

  return DryRunJobs.of({
    run: (job, session, announce) =>
      Effect.gen(function* () {
        const { rich_parameter_values = [], template_version_id, workspace_name = "" } = job.input
        const version = template_version_id === undefined ? undefined : Option.getOrUndefined(yield* versions.byId(template_version_id))
        const owner = Option.getOrUndefined(yield* users.byId(job.initiator_id))
        if (version === undefined || owner === undefined) {
          return yield* new ProvisionFailure({ message: "The template version of the job, or its initiator, does not exist." })
        }

        yield* announce("Detecting persistent resources")
        const plan = yield* session.plan({
          metadata: yield* owners.ofPlannedStart(version, owner, workspace_name || "default"),
          variables: yield* versions.variables(version.id),
          parameters: rich_parameter_values,
          previous_parameters: [],
          state: new Uint8Array(0)
        })
        const violations = violationsOf(plan, rich_parameter_values)
        if (violations.length > 0) return yield* new ProvisionFailure({ message: violations.join("\n") })
        return Effect.asVoid(resources.insert({ job_id: job.id, transition: "start" }, plan.resources))
      })
  })
})

/** What jobs of type `template_version_dry_run` do: plan a start for their initiator, and keep its resources. templates-and-provisioning.md §3.6. */
export const dryRunJobs = standingOn(service(DryRunJobs, make), OwnerMetadata.layer, BuildResources.layer)
