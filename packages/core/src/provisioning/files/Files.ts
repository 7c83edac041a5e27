import { Context, Duration, Effect, Encoding, Option, Stream } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { untilNotFull } from "../../platform/background/Batches.js"
import { Cryptography } from "../../platform/secrets/Cryptography.js"
import { Invalid, NotFound, TooLarge, type Forbidden } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import { makeKeyedLock } from "../../platform/collections/KeyedLock.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { nil, type Uuid } from "../../platform/texts/Uuid.js"
import type { Worker } from "../../platform/background/Worker.js"
import { Archives } from "./Archives.js"
import { type File, type FileId, maximumFileSize, tarType, zipTypes } from "./File.js"
import { FileRepository } from "./FileRepository.js"
import { ModuleArchiveRepository } from "./ModuleArchiveRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"

/** An upload and whether it made a new file, or found one with the same content. */
export interface Upload {
  readonly id: FileId
  readonly isNew: boolean
}

/** A file to send; `size` is in bytes, and unknown for content that is generated while it is sent. */
export interface Download {
  readonly mimetype: string
  readonly size: number | undefined
  readonly content: Stream.Stream<Uint8Array, Invalid>
}

/** Bytes of an upload that does not take turns: as many as any other body may have. */
const maximumSmall = 4 * 1024 * 1024

/** How long a file is kept that no job refers to. */
const unusedLifetime = Duration.days(1)

/** A file that was used so lately is not purged before a transaction of now ends. */
const safelyUsed = Duration.hours(12)

/** Files of one statement: each may have 100 MiB. */
const purgeBatch = 10

const missing = new NotFound({ resource: "file" })

/** The methods of {@link Files}. */
export interface FilesService {
  /**
   * Stores an archive of the actor, which is read when it may be stored. A zip, and content of more than 4 MiB or of a length that is not
   * known before, waits until no other such upload of the actor is under way. A zip becomes a tar. The same content is stored once per
   * user. Fails with `Invalid` for content types and archives that are not understood, with `TooLarge` above 100 MiB or beyond what one
   * user may keep. templates-and-provisioning.md §1.
   */
  readonly upload: <E, R>(
    contentType: string,
    read: Effect.Effect<Uint8Array, E, R>,
    length?: number
  ) => Effect.Effect<Upload, Invalid | Forbidden | TooLarge | E, CurrentActor | R>

  /** Stores a tar that the service has, such as a starter template, as a file of a user; authorized by who asks. Fails with `TooLarge` beyond what one user may keep. */
  readonly storeTar: (createdBy: Uuid, tar: Uint8Array) => Effect.Effect<Upload, TooLarge>

  /** Stores the modules that an import has downloaded, a tar. It belongs to no user, so no user's space limits it. */
  readonly storeModules: (tar: Uint8Array) => Effect.Effect<FileId>

  /** Keeps a file for a job that the caller's transaction queues. Fails with `NotFound` if the file has been purged. */
  readonly keep: (id: FileId) => Effect.Effect<void, NotFound>

  /**
   * Deletes files that nothing refers to, a day after they were uploaded. Modules go with the last workspace of a deleted template; those of a
   * version without a template go after a day.
   */
  readonly purge: Worker<never>

  /** A file. Fails with `NotFound` where the actor may not read it. */
  readonly get: (id: FileId) => Effect.Effect<File, NotFound, CurrentActor>

  /**
   * A file and its content as it is read; as a zip where that is asked for. Fails with `NotFound`, or with `Invalid` where it cannot be
   * a zip.
   */
  readonly download: (id: FileId, options: { readonly asZip: boolean }) => Effect.Effect<Download, Invalid | NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const repository = yield* FileRepository
  const modules = yield* ModuleArchiveRepository
  const archives = yield* Archives
  const ids = yield* Ids
  const { uploadBytesPerUser } = yield* DeploymentOptions
  const { sha256 } = yield* Cryptography

  /** Large uploads are in memory whole: those of one user take turns. A small one does not wait for a large one that is slow to arrive. */
  const inTurn = makeKeyedLock<Uuid>()

  /** Stores content once per owner: concurrent uploads of the same content get the same file. */
  const store = (
    createdBy: Uuid,
    mimetype: string,
    content: Uint8Array,
    maximumBytes = uploadBytesPerUser
  ): Effect.Effect<Upload, TooLarge> =>
    Effect.gen(function* () {
      const hash = Encoding.encodeHex(yield* sha256(content))
      const existing = yield* repository.byHash(hash, createdBy)
      if (Option.isSome(existing) && (yield* repository.use(existing.value.id, yield* Timestamp.now))) {
        return { id: existing.value.id, isNew: false }
      }
      const file: File = {
        id: yield* ids.next,
        hash,
        created_at: yield* Timestamp.now,
        created_by: createdBy,
        mimetype,
        size: content.length
      }
      return yield* repository.insert(file, content, maximumBytes).pipe(
        Effect.as({ id: file.id, isNew: true }),
        Effect.catchTag(
          "FileQuotaExceeded",
          () =>
            new TooLarge({
              message: "Your files would exceed the space of one user.",
              detail: `The maximum is ${uploadBytesPerUser} bytes. Files that no template uses are deleted a day after their upload.`
            })
        ),
        Effect.catchTag("Duplicate", () =>
          Effect.map(Effect.flatMap(repository.byHash(hash, createdBy), Effect.orDie), ({ id }) => ({ id, isNew: true }))
        )
      )
    })

  /** Readable with the right to read any file, by its uploader, and with the right to update a template that was imported from it. */
  const get = Traced.fn("Files.get")(function* (id: FileId) {
    const file = Option.getOrUndefined(yield* repository.byId(id))
    if (file === undefined) return yield* missing
    const isReadable =
      (yield* Access.can("read", AccessObjects.file(file))) ||
      (yield* repository.isSourceOf(id, yield* Access.predicate("update", "template")))
    return isReadable ? file : yield* missing
  })

  return {
    upload: Traced.fn("Files.upload")(function* <E, R>(contentType: string, read: Effect.Effect<Uint8Array, E, R>, length?: number) {
      const { userId } = yield* CurrentActor
      yield* Access.authorize("create", AccessObjects.ownedBy("file", userId))
      const isZip = zipTypes.has(contentType)
      if (!isZip && contentType !== tarType) return yield* new Invalid({ message: `Unsupported content type header "${contentType}".` })
      const stored = Effect.gen(function* () {
        const content = yield* read
        if (content.length > maximumFileSize) {
          return yield* new TooLarge({ message: "The file is too large.", detail: `The maximum is ${maximumFileSize} bytes.` })
        }
        return yield* store(userId, tarType, isZip ? yield* archives.tarFromZip(content, maximumFileSize) : content)
      })
      const isSmall = !isZip && length !== undefined && length <= maximumSmall
      return yield* isSmall ? stored : inTurn(userId)(stored)
    }),

    storeTar: (createdBy: Uuid, tar: Uint8Array): Effect.Effect<Upload, TooLarge> => store(createdBy, tarType, tar),

    storeModules: (tar: Uint8Array): Effect.Effect<FileId> =>
      Effect.orDie(Effect.map(store(nil, tarType, tar, Number.MAX_SAFE_INTEGER), ({ id }) => id)),

    keep: (id: FileId): Effect.Effect<void, NotFound> =>
      Effect.gen(function* () {
        const now = yield* Timestamp.now
        // A write would lock the row until the commit, so that the imports of one file waited for each other
        if (yield* repository.usedSince(id, Timestamp.minus(now, safelyUsed))) return
        if (!(yield* repository.use(id, now))) return yield* missing
      }),

    purge: {
      name: "purge_files",
      every: Duration.hours(1),
      run: Effect.gen(function* () {
        const before = Timestamp.minus(yield* Timestamp.now, unusedLifetime)
        yield* modules.unlinkUnused(before)
        const count = yield* untilNotFull(purgeBatch, (limit) => repository.purge(before, limit))
        if (count > 0) yield* Effect.logInfo(`deleted ${count} files that nothing refers to`)
      })
    } satisfies Worker<never>,

    get,

    download: Traced.fn("Files.download")(function* (id: FileId, options: { readonly asZip: boolean }) {
      const file = yield* get(id)
      const content = repository.content(id)
      const stored: Download = { mimetype: file.mimetype, size: file.size, content }
      if (!options.asZip) return stored
      if (file.mimetype !== tarType) return yield* new Invalid({ message: "Only tar files can be converted to zip." })
      // An answer that has begun cannot be refused any more
      yield* archives.checkTar(content)
      const converted: Download = { mimetype: "application/zip", size: undefined, content: archives.zipFromTar(content) }
      return converted
    })
  }
})

/** Archives with the source of templates. */
export class Files extends Context.Tag("@atelier/core/Files")<Files, FilesService>() {
  static readonly layer = service(Files, make)
}
