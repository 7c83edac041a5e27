import { constants, createWriteStream, mkdirSync, openSync } from "node:fs"
import { dirname } from "node:path"
import { Either } from "effect"

/** A file that holds the output of a script's latest run, as the script wrote it. */
export interface LogFile {
  /** Does not wait: what a slow disk cannot keep up with is left out. */
  readonly write: (chunk: Uint8Array) => void
  readonly end: () => void
}

/** Bytes waiting for the disk. */
const maximumWaitingBytes = 4 * 1024 * 1024

/**
 * Truncates the file, readable by its owner alone. In a folder that others may write to, a symbolic link in its place is refused. Opening
 * never blocks: a named pipe without a reader is refused, too.
 */
export const open = (path: string, options: { readonly inSharedFolder: boolean }): Either.Either<LogFile, string> =>
  Either.try({
    try: () => {
      mkdirSync(dirname(path), { recursive: true })
      const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_TRUNC, O_WRONLY } = constants
      const fd = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | (options.inSharedFolder ? O_NOFOLLOW : 0), 0o600)
      const stream = createWriteStream(path, { fd })
      let failed = false
      stream.once("error", () => {
        failed = true
      })
      return {
        write: (chunk) => {
          if (!failed && stream.writableLength < maximumWaitingBytes) stream.write(chunk)
        },
        end: () => stream.end()
      }
    },
    catch: (cause) => (cause instanceof Error ? cause.message : String(cause))
  })
