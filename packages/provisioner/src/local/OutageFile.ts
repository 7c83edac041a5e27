/** The file in which an agent reports that it does not reach the service. Programs of the workspace can write it, too. */
import { Background } from "@atelier/core/platform"
import { Effect, Option } from "effect"
import { constants } from "node:fs"
import * as fs from "node:fs/promises"
import { attempt, attemptUnless, type DirectoryError } from "../engine/EngineDirectory.js"

/** Bytes that are read. */
const maximumSize = 1024

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

interface Report {
  /** Its first line. */
  readonly message: string
  /** Differs between two reports, even of one text. */
  readonly mark: string
}

/** Returns undefined if there is no report. A link is not followed, and a pipe is not waited for. */
const readOutage = (path: string): Effect.Effect<Report | undefined, DirectoryError> =>
  attemptUnless(["ENOENT", "ELOOP", "ENXIO"], `${path} cannot be read`, async () => {
    const file = await fs.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      const stat = await file.stat()
      if (!stat.isFile()) return undefined
      const { buffer, bytesRead } = await file.read(new Uint8Array(maximumSize), 0, maximumSize, 0)
      const [line = ""] = new TextDecoder().decode(buffer.subarray(0, bytesRead)).split("\n")
      const message = line.trim()
      return message === "" ? undefined : { message, mark: `${stat.ino} ${stat.mtimeMs}` }
    } finally {
      await file.close()
    }
  })

const removeOutage = (path: string): Effect.Effect<void, DirectoryError> =>
  attempt(`${path} cannot be removed`, () => fs.rm(path, { force: true }))

/** An agent's file, and what shows its report to the workspace's users. */
export interface WatchedOutage {
  readonly path: string
  readonly tell: (message: string) => Effect.Effect<void>
}

/**
 * Makes the effect that passes reports on and removes them. A report is passed on again until `tell` has succeeded, and then no more in this process,
 * even if its file cannot be removed.
 */
export const makeOutages = (): ((watched: ReadonlyArray<WatchedOutage>) => Effect.Effect<void>) => {
  /** The marks of reports that were passed on and whose files are still there, by path. */
  const told = new Map<string, string>()

  const passOn = ({ path, tell }: WatchedOutage) =>
    Effect.gen(function* () {
      const report = yield* readOutage(path)
      if (report === undefined) return void told.delete(path)
      const isTold = told.get(path) === report.mark
      if (!isTold) yield* tell(report.message)
      told.set(path, report.mark)
      // A failure of an earlier turn is no failure of this one
      const removed = isTold ? Effect.option(removeOutage(path)) : Effect.asSome(removeOutage(path))
      if (Option.isSome(yield* removed)) told.delete(path)
    })

  return (watched) =>
    Effect.suspend(() => {
      const paths = new Set(watched.map(({ path }) => path))
      for (const path of told.keys()) if (!paths.has(path)) told.delete(path)
      return Background.each("agent_outages", watched, passOn)
    })
}
