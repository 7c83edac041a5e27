import { Context, type Effect, type Option } from "effect"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { File, FileId } from "./File.js"

export class ModuleArchiveRepository extends Context.Tag("@atelier/core/ModuleArchiveRepository")<
  ModuleArchiveRepository,
  {
    /** Notes the archive of the modules that a version's import has downloaded. */
    readonly link: (versionId: Uuid, fileId: FileId) => Effect.Effect<void>
    /**
     * Forgets the archives of versions whose template is deleted and has no workspace any more, and of versions without a template if no
     * import has used the archive since an instant.
     */
    readonly unlinkUnused: (before: Timestamp) => Effect.Effect<void>
    /** The archive of a version, which its forms read; None if its import has downloaded nothing. */
    readonly ofVersion: (versionId: Uuid) => Effect.Effect<Option.Option<FileId>>
    /** The archive for a job's build; None if its version has none, its template does not want it, or the job is no build. */
    readonly ofBuildJob: (jobId: Uuid) => Effect.Effect<Option.Option<FileId>>
    /** The file if it is the archive of a version of the organization. */
    readonly inOrganization: (fileId: FileId, organizationId: Uuid) => Effect.Effect<Option.Option<File>>
  }
>() {}
