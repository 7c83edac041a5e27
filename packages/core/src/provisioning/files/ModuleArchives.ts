import { Context, Effect, Option } from "effect"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { File, FileId } from "./File.js"
import { FileRepository } from "./FileRepository.js"
import { Files } from "./Files.js"
import { ModuleArchiveRepository } from "./ModuleArchiveRepository.js"

/** The methods of {@link ModuleArchives}. */
export interface ModuleArchivesService {
  /** Stores an archive, a tar, once for the same content. It is purged after a day unless it is linked to a version. */
  readonly store: (tar: Uint8Array<ArrayBufferLike>) => Effect.Effect<Uuid>

  /** Notes the archive of the modules that a version's import has downloaded. */
  readonly link: (versionId: Uuid, fileId: Uuid) => Effect.Effect<void>

  /** The archive of a version; None if its import has downloaded nothing. */
  readonly ofVersion: (versionId: Uuid) => Effect.Effect<Option.Option<Uuid>>

  /** An archive for a daemon of an organization; None if it belongs to no version of the organization. */
  readonly inOrganization: (id: FileId, organizationId: Uuid) => Effect.Effect<Option.Option<ModuleArchive>>
}

const make = Effect.gen(function* () {
  const files = yield* Files
  const contents = yield* FileRepository
  const repository = yield* ModuleArchiveRepository

  return {
    store: files.storeModules,

    link: repository.link,

    ofVersion: repository.ofVersion,

    inOrganization: (id: FileId, organizationId: Uuid): Effect.Effect<Option.Option<ModuleArchive>> =>
      Effect.map(
        repository.inOrganization(id, organizationId),
        Option.map((file) => ({ ...file, content: contents.content(id) }))
      )
  }
})

/** A stored archive; its content is read while it is sent. */
export interface ModuleArchive extends File {
  readonly content: ReturnType<FileRepository["Type"]["content"]>
}

/** The modules that imports have downloaded, which the builds of their versions use again. templates-and-provisioning.md §8.4. */
export class ModuleArchives extends Context.Tag("@atelier/core/ModuleArchives")<ModuleArchives, ModuleArchivesService>() {
  static readonly layer = standingOn(service(ModuleArchives, make), Files.layer)
}
