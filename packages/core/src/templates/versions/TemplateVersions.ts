import { Context, Effect, type Option, type Stream } from "effect"
import type { CurrentActor } from "../../access/actors/Actor.js"
import { BuildResources } from "../../agents/resources/BuildResources.js"
import type { ResourceView } from "../../agents/resources/ResourceView.js"
import { Organizations } from "../../organizations/Organizations.js"
import type { Conflict, Forbidden, Invalid, NotFound, NotReady, UpstreamFailure } from "../../platform/Errors.js"
import type { Page } from "../../platform/lists/Pagination.js"
import type { Transactor } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { JobLog } from "../../provisioning/logs/JobLog.js"
import { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import { ExternalAuthRequirements } from "../../externalAuth/ExternalAuthRequirements.js"
import { TemplateRepository } from "../TemplateRepository.js"
import type { TemplateVersionId } from "./TemplateVersion.js"
import type { ParameterView, PresetView } from "./TemplateVersionDefinitionViews.js"
import { TemplateVersionRepository } from "./TemplateVersionRepository.js"
import type { TemplateVersionView } from "./TemplateVersionView.js"
import { visibleVersions } from "./VisibleVersion.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import type { Auditing } from "../../audit/Audit.js"
import type { TemplateVersionVariable } from "./TemplateVersionDefinitions.js"
import type { ExternalAuthView } from "../../externalAuth/ExternalAuthView.js"
import { versionAccess } from "./VersionAccess.js"
import { versionReads } from "./VersionReads.js"
import { versionChanges } from "./VersionChanges.js"
import { versionArchive } from "./VersionArchive.js"
import { versionContents } from "./VersionContents.js"
import type { Entitled } from "../../access/streams/StreamRights.js"

/** The methods of {@link TemplateVersions}. */
export interface TemplateVersionsService {
  /** A version by id. */
  readonly get: (id: TemplateVersionId) => Effect.Effect<TemplateVersionView, NotFound, CurrentActor>

  /** A version of a template by its exact name. */
  readonly getByName: (templateId: Uuid, name: string) => Effect.Effect<TemplateVersionView, NotFound, CurrentActor>

  /** As `getByName`, with the template named by organization and name. */
  readonly getByNames: (
    organization: string,
    templateName: string,
    name: string
  ) => Effect.Effect<TemplateVersionView, NotFound, CurrentActor>

  /**
   * Returns the version of the same template that was created last before the named one, whatever its import's status, and archived ones
   * too; None for the first version. templates-and-provisioning.md §3.4.
   */
  readonly previous: (
    organization: string,
    templateName: string,
    name: string
  ) => Effect.Effect<Option.Option<TemplateVersionView>, NotFound, CurrentActor>

  /**
   * A template's versions, oldest first; archived ones where they are asked for. Fails with `Invalid` for an unknown `after_id`.
   * templates-and-provisioning.md §3.4.
   */
  readonly list: (
    templateId: Uuid,
    page: Page & { readonly include_archived: boolean }
  ) => Effect.Effect<ReadonlyArray<TemplateVersionView>, Invalid | NotFound, CurrentActor>

  /**
   * Renames a version or changes its message; an empty name and an absent message stay. Fails with `Invalid` when the name is taken.
   * templates-and-provisioning.md §3.5.
   */
  readonly update: (
    id: TemplateVersionId,
    change: { readonly name: string; readonly message?: string | undefined }
  ) => Effect.Effect<TemplateVersionView, Invalid | Forbidden | NotFound, CurrentActor>

  /** Cancels the import. Fails with `Invalid` when it has ended or is canceled already. templates-and-provisioning.md §3.5. */
  readonly cancel: (id: TemplateVersionId) => Effect.Effect<void, Invalid | Forbidden | NotFound, CurrentActor | EventBus | Transactor>

  /**
   * Makes a version the one that new workspaces are built with. Fails with `Invalid` for an archived version or one of another
   * template, with `Forbidden` when its import has not succeeded. templates-and-provisioning.md §3.5.
   */
  readonly promote: (
    templateId: Uuid,
    id: TemplateVersionId
  ) => Effect.Effect<void, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  /**
   * Archives a version. Fails with `Invalid` for a version without a template or one that is archived, and with `Conflict` if it is the
   * active one, a workspace uses it, or its import runs. §3.5.
   */
  readonly archive: (id: TemplateVersionId) => Effect.Effect<void, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /** Brings a version back. Fails with `Invalid` for a version without a template or one that is not archived. §3.5. */
  readonly unarchive: (id: TemplateVersionId) => Effect.Effect<void, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  /** Archives the versions of a template that nothing uses: all of them, or those whose import failed. Returns their ids. §3.5. */
  readonly archiveUnused: (
    templateId: Uuid,
    all: boolean
  ) => Effect.Effect<{ readonly template_id: Uuid; readonly archived_ids: ReadonlyArray<Uuid> }, NotFound, CurrentActor | Auditing>

  /** Parameters and schemas of the form that versions had before rich parameters: none. §3.4. */
  readonly legacyDefinitions: (id: TemplateVersionId) => Effect.Effect<ReadonlyArray<never>, NotFound, CurrentActor>

  /** The rows of the import's log with ids larger than `after`. */
  readonly logs: (id: TemplateVersionId, after: number) => Effect.Effect<Stream.Stream<JobLog>, NotFound, CurrentActor>

  /** As `logs`, and then those that are written until the import ends. */
  readonly followLogs: (id: TemplateVersionId, after: number) => Effect.Effect<Entitled<JobLog>, NotFound, CurrentActor>

  /** The resources of a start and a stop, by name. Fails with `Invalid` until the import has ended. */
  readonly resources: (id: TemplateVersionId) => Effect.Effect<ReadonlyArray<ResourceView>, Invalid | NotFound, CurrentActor>

  /** The version's parameters in their order. Fails with `NotReady` until the import has ended. */
  readonly parameters: (id: TemplateVersionId) => Effect.Effect<ReadonlyArray<ParameterView>, NotFound | NotReady, CurrentActor>

  /** The version's variables, without what is sensitive. Fails with `Forbidden` until the import has ended. */
  readonly variables: (id: TemplateVersionId) => Effect.Effect<ReadonlyArray<TemplateVersionVariable>, Forbidden | NotFound, CurrentActor>

  /**
   * The external providers that a workspace of this version needs, as a user is signed in to them; by default the actor. Fails with
   * `Forbidden` for a user for whom the actor may not create workspaces, and with `NotFound` while a provider is not configured.
   * templates-and-provisioning.md §3.4.
   */
  readonly externalAuth: (
    id: TemplateVersionId,
    user?: Uuid
  ) => Effect.Effect<ReadonlyArray<ExternalAuthView>, Forbidden | NotFound | UpstreamFailure, CurrentActor>

  /** The version's presets in their order; null when it has none. */
  readonly presets: (id: TemplateVersionId) => Effect.Effect<ReadonlyArray<PresetView> | null, NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const requirements = yield* ExternalAuthRequirements
  const repository = yield* TemplateVersionRepository
  const templates = yield* TemplateRepository
  const jobs = yield* ProvisionerJobs
  const resources = yield* BuildResources
  const organizations = yield* Organizations

  const { load, objectOf, readable } = yield* visibleVersions

  const { loadForUpdate, liveTemplate, viewsOf, viewOf, jobOf } = versionAccess({ load, objectOf, templates, jobs })

  return {
    ...versionReads({ organizations, templates, readable, repository, viewOf, load, liveTemplate, viewsOf }),
    ...versionChanges({ loadForUpdate, repository, viewOf, jobs, liveTemplate, jobOf, templates }),
    ...versionArchive({ loadForUpdate, templates, repository, liveTemplate }),
    ...versionContents({ load, jobOf, jobs, resources, repository, requirements })
  }
})

/** The states of templates' sources. */
export class TemplateVersions extends Context.Tag("@atelier/core/TemplateVersions")<TemplateVersions, TemplateVersionsService>() {
  static readonly layer = standingOn(
    service(TemplateVersions, make),
    ExternalAuthRequirements.layer,
    ProvisionerJobs.layer,
    BuildResources.layer,
    Organizations.layer
  )
}
