import { Context, type Effect, type Option, type Stream } from "effect"
import type { AccessPredicate } from "../access/AccessPredicate.js"
import type { Duplicate } from "../platform/Errors.js"
import type { Uuid } from "../platform/Uuid.js"
import type { File, FileId } from "./File.js"

export class FileRepository extends Context.Tag("@atelier/core/FileRepository")<
  FileRepository,
  {
    readonly byId: (id: FileId) => Effect.Effect<Option.Option<File>>
    readonly byHash: (hash: string, createdBy: Uuid) => Effect.Effect<Option.Option<File>>
    /** Stores a file with its content, in a transaction. Fails with the index `files_hash_created_by`. */
    readonly insert: (file: File, content: Uint8Array) => Effect.Effect<void, Duplicate>
    /** The content in pieces of at most 1 MiB, read as they are consumed. */
    readonly content: (id: FileId) => Stream.Stream<Uint8Array>
    /** Whether the import of a version of one of the templates that the predicate admits used it. */
    readonly isSourceOf: (id: FileId, templates: AccessPredicate) => Effect.Effect<boolean>
  }
>() {}
