/** Archives with the source of templates. templates-and-provisioning.md §1. */
import { Schema } from "effect"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"

export const FileId = Uuid
export type FileId = Uuid

export const File = Schema.Struct({
  id: FileId,
  /** SHA-256 of the stored bytes in lower-case hexadecimal; unique per uploader. */
  hash: Schema.String,
  created_at: Timestamp,
  /** The nil UUID for what the service made itself. */
  created_by: Uuid,
  mimetype: Schema.String,
  /** Bytes. */
  size: Schema.Number
})
export interface File extends Schema.Schema.Type<typeof File> {}

/** The largest file, uploaded or made from an upload, in bytes. */
export const maximumFileSize = 100 * 1024 * 1024

export const tarType = "application/x-tar"

/** Content types of archives that are stored as tar. */
export const zipTypes: ReadonlySet<string> = new Set(["application/zip", "application/x-zip-compressed"])
