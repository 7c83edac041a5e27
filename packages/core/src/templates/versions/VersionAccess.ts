import { Effect } from "effect"
import * as Access from "../../access/Access.js"
import type { NotFound } from "../../platform/Errors.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { jobStatus, type QueuedJob } from "../../provisioning/jobs/ProvisionerJob.js"
import type { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import type { TemplateRepository } from "../TemplateRepository.js"
import type { AuthoredVersion, TemplateVersion, TemplateVersionId } from "./TemplateVersion.js"
import { type TemplateVersionView, templateVersionView } from "./TemplateVersionView.js"
import { visibleTemplate } from "../VisibleTemplate.js"
import { missingVersion as missing, type visibleVersions } from "./VisibleVersion.js"

interface Needs extends Pick<Effect.Effect.Success<typeof visibleVersions>, "load" | "objectOf"> {
  readonly templates: TemplateRepository["Type"]
  readonly jobs: ProvisionerJobs["Type"]
}

/** How a version is found for an actor, and how it is shown with its job. */
export const versionAccess = ({ load, objectOf, templates, jobs }: Needs) => {
  /** A version that the actor may change. */
  const loadForUpdate = (id: TemplateVersionId) =>
    Effect.gen(function* () {
      const version = yield* load(id)
      yield* Access.authorize("update", yield* objectOf(version))
      return version
    })

  /** A template that the actor may read; deleted ones are not found. */
  const liveTemplate = (id: Uuid) => Effect.flatMap(templates.byId(id), visibleTemplate)

  /** Versions with their jobs. Three statements, for any number of versions. */
  const viewsOf = (versions: ReadonlyArray<AuthoredVersion>): Effect.Effect<ReadonlyArray<TemplateVersionView>> =>
    Effect.gen(function* () {
      const found = yield* jobs.byIds(versions.map(({ job_id }) => job_id))
      const pending = [...found.values()].filter((job) => jobStatus(job) === "pending").map(({ id }) => id)
      const matched = yield* jobs.matchedProvisioners(pending)
      return versions.flatMap((version): ReadonlyArray<TemplateVersionView> => {
        const job = found.get(version.job_id)
        return job === undefined ? [] : [templateVersionView(version, job, matched.get(job.id))]
      })
    })

  const viewOf = (version: AuthoredVersion): Effect.Effect<TemplateVersionView, NotFound> =>
    Effect.flatMap(viewsOf([version]), ([view]) => (view === undefined ? missing : Effect.succeed(view)))

  const jobOf = (version: TemplateVersion): Effect.Effect<QueuedJob> => Effect.orDie(jobs.get(version.job_id))

  return { loadForUpdate, liveTemplate, viewsOf, viewOf, jobOf }
}

/** The result of {@link versionAccess}. */
export type VersionAccess = ReturnType<typeof versionAccess>
