/** Archives that the engine writes into containers. */
import { Effect } from "effect"
import { buffer } from "node:stream/consumers"
import { pack } from "tar-stream"

export interface TarFile {
  /** Relative to where the archive is unpacked. A path that ends with a slash is a folder, and `./` the place itself. */
  readonly path: string
  readonly bytes: Uint8Array
  readonly mode: number
  readonly uid?: number
  readonly gid?: number
}

export const tarOf = (files: ReadonlyArray<TarFile>): Effect.Effect<Uint8Array> =>
  Effect.promise(() => {
    const archive = pack()
    for (const { bytes, gid = 0, mode, path, uid = 0 } of files)
      archive.entry({ name: path, mode, uid, gid, type: path.endsWith("/") ? "directory" : "file" }, Buffer.from(bytes))
    archive.finalize()
    return buffer(archive)
  })
