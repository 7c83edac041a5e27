import { pack } from "tar-stream"
import { buffer } from "node:stream/consumers"
import { gzip } from "node:zlib"
import { promisify } from "node:util"
import { Effect } from "effect"
import type { PlacedFile } from "../template/Evaluation.js"

/** The archive of a template's files, from which the agent writes them into its home directory. Compressed; the same bytes for the same files. */
export const archiveOf = (files: ReadonlyArray<PlacedFile>): Effect.Effect<Uint8Array> =>
  Effect.promise(async () => {
    const packing = pack()
    for (const { bytes, mode, overwrite, path } of files)
      packing.entry({ name: `${overwrite ? "overwrite" : "once"}/${path}`, mode, mtime: new Date(0) }, Buffer.from(bytes))
    packing.finalize()
    return promisify(gzip)(await buffer(packing))
  })
