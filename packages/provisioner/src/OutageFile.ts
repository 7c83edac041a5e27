/** The file in which an agent reports that it does not reach the service. Programs of the workspace can write it, too. */
import { Effect } from "effect"
import { constants } from "node:fs"
import * as fs from "node:fs/promises"
import { attempt, attemptUnless, type DirectoryError } from "./WorkspaceDirectory.js"

/** Bytes that are read. */
const maximumSize = 1024

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** The first line of the report; undefined if there is no report. A link is not followed, and a pipe is not waited for. */
export const readOutage = (path: string): Effect.Effect<string | undefined, DirectoryError> =>
  attemptUnless(["ENOENT", "ELOOP", "ENXIO"], `${path} cannot be read`, async () => {
    const file = await fs.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      if (!(await file.stat()).isFile()) return undefined
      const { buffer, bytesRead } = await file.read(new Uint8Array(maximumSize), 0, maximumSize, 0)
      const [line = ""] = new TextDecoder().decode(buffer.subarray(0, bytesRead)).split("\n")
      return line.trim() === "" ? undefined : line.trim()
    } finally {
      await file.close()
    }
  })

export const removeOutage = (path: string): Effect.Effect<void, DirectoryError> =>
  attempt(`${path} cannot be removed`, () => fs.rm(path, { force: true }))
