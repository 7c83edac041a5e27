import { Effect, type Stream } from "effect"
import * as Access from "../../access/Access.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { type Entitled, rightTo } from "../../access/streams/StreamRights.js"
import { viewContext } from "../../agents/AgentView.js"
import type { BuildResource } from "../../agents/resources/BuildResource.js"
import type { BuildResources } from "../../agents/resources/BuildResources.js"
import { resourceViews } from "../../agents/resources/ResourceView.js"
import { Forbidden, Invalid, NotReady } from "../../platform/Errors.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { JobLog } from "../../provisioning/logs/JobLog.js"
import { jobStatus } from "../../provisioning/jobs/ProvisionerJob.js"
import type { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import type { ExternalAuthRequirements } from "../../externalAuth/ExternalAuthRequirements.js"
import type { TemplateVersionId } from "./TemplateVersion.js"
import { parameterView, presetView } from "./TemplateVersionDefinitionViews.js"
import type { TemplateVersionRepository } from "./TemplateVersionRepository.js"
import { withoutSecrets } from "./Variables.js"
import type { visibleVersions } from "./VisibleVersion.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { VersionAccess } from "./VersionAccess.js"

interface Needs extends Pick<Effect.Effect.Success<typeof visibleVersions>, "load">, Pick<VersionAccess, "jobOf"> {
  readonly jobs: ProvisionerJobs["Type"]
  readonly resources: BuildResources["Type"]
  readonly repository: TemplateVersionRepository["Type"]
  readonly requirements: ExternalAuthRequirements["Type"]
}

/** What the import of a version has found, and its log. templates-and-provisioning.md §3.4. */
export const versionContents = ({ load, jobOf, jobs, resources, repository, requirements }: Needs) => {
  /** The version when its import has ended; `refusal` before. */
  const imported = <E>(id: TemplateVersionId, refusal: (status: string) => E) =>
    Effect.gen(function* () {
      const version = yield* load(id)
      const job = yield* jobOf(version)
      if (job.completed_at === null) return yield* Effect.fail(refusal(jobStatus(job)))
      return version
    })

  return {
    legacyDefinitions: Traced.fn("TemplateVersions.legacyDefinitions")(function* (id: TemplateVersionId) {
      yield* load(id)
      return []
    }),

    logs: Traced.fn("TemplateVersions.logs")(function* (id: TemplateVersionId, after: number) {
      const version = yield* load(id)
      const logs: Stream.Stream<JobLog> = jobs.logs(version.job_id, after)
      return logs
    }),

    followLogs: Traced.fn("TemplateVersions.followLogs")(function* (id: TemplateVersionId, after: number) {
      const [right, version] = yield* rightTo(`template_version:${id}`, () => load(id))
      return { right, values: jobs.follow(version.job_id, after) } satisfies Entitled<JobLog>
    }),

    resources: Traced.fn("TemplateVersions.resources")(function* (id: TemplateVersionId) {
      const version = yield* imported(id, (status) => new Invalid({ message: "Job hasn't completed!", detail: `Its status is ${status}.` }))
      const found: ReadonlyArray<BuildResource> = (yield* resources.ofJobs([version.job_id])).get(version.job_id) ?? []
      return resourceViews(found, yield* viewContext(null))
    }),

    parameters: Traced.fn("TemplateVersions.parameters")(function* (id: TemplateVersionId) {
      const version = yield* imported(
        id,
        (status) => new NotReady({ message: "Job hasn't completed!", detail: `Its status is ${status}.` })
      )
      return (yield* repository.parameters(version.id)).map(parameterView)
    }),

    variables: Traced.fn("TemplateVersions.variables")(function* (id: TemplateVersionId) {
      const version = yield* imported(
        id,
        (status) => new Forbidden({ message: "Job hasn't completed!", detail: `Its status is ${status}.` })
      )
      return (yield* repository.variables(version.id)).map(withoutSecrets)
    }),

    externalAuth: Traced.fn("TemplateVersions.externalAuth")(function* (id: TemplateVersionId, user?: Uuid) {
      const version = yield* load(id)
      const { userId } = yield* CurrentActor
      if (user !== undefined && user !== userId) {
        yield* Access.authorize("create", AccessObjects.ownedIn("workspace", version.organization_id, user))
      }
      return yield* requirements.providers(version.id, user ?? userId)
    }),

    presets: Traced.fn("TemplateVersions.presets")(function* (id: TemplateVersionId) {
      const version = yield* load(id)
      const presets = yield* repository.presets(version.id)
      return presets.length === 0 ? null : presets.map(presetView)
    })
  }
}
