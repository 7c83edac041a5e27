import { Context, Data, type Effect, type Option, type Stream } from "effect"
import type { AccessPredicate } from "../../access/decisions/AccessPredicate.js"
import type { Duplicate } from "../../platform/Errors.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { File, FileId } from "./File.js"

/** The files of the uploader would take more bytes than it may keep. */
export class FileQuotaExceeded extends Data.TaggedError("FileQuotaExceeded")<{}> {}

export class FileRepository extends Context.Tag("@atelier/core/FileRepository")<
  FileRepository,
  {
    readonly byId: (id: FileId) => Effect.Effect<Option.Option<File>>
    readonly byHash: (hash: string, createdBy: Uuid) => Effect.Effect<Option.Option<File>>
    /**
     * Stores a file with its content, in a transaction, unless the files of its uploader would take more than `maximumBytes` then: of uploads
     * at once one waits for the other. Fails with the index `files_hash_created_by`.
     */
    readonly insert: (file: File, content: Uint8Array, maximumBytes: number) => Effect.Effect<void, Duplicate | FileQuotaExceeded>
    /** Whether a file is there and was last used since an instant. */
    readonly usedSince: (id: FileId, since: Timestamp) => Effect.Effect<boolean>
    /** Notes that a file is used, which keeps it from being purged; false where it is gone. */
    readonly use: (id: FileId, at: Timestamp) => Effect.Effect<boolean>
    /** Deletes at most `limit` files that were last used before an instant and that no job refers to; answers how many. */
    readonly purge: (before: Timestamp, limit: number) => Effect.Effect<number>
    /** The content in pieces of at most 1 MiB, read as they are consumed. */
    readonly content: (id: FileId) => Stream.Stream<Uint8Array>
    /** Whether the import of a version of one of the templates that the predicate admits used it. */
    readonly isSourceOf: (id: FileId, templates: AccessPredicate) => Effect.Effect<boolean>
  }
>() {}
