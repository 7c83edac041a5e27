/** The directory of an engine on the disk: the folders that all of its workspaces share, and how work on its files fails. */
import { Data, Effect } from "effect"
import * as fs from "node:fs/promises"
import { join } from "node:path"

/** A file or folder cannot be made, read or removed. */
export class DirectoryError extends Data.TaggedError("DirectoryError")<{ readonly message: string }> {}

/** Runs what may fail for reasons of the file system; `what` says what could not be done. */
export const attempt = <A>(what: string, run: () => Promise<A>): Effect.Effect<A, DirectoryError> =>
  Effect.tryPromise({
    try: run,
    catch: (error) => new DirectoryError({ message: `${what}: ${error instanceof Error ? error.message : String(error)}` })
  })

/** As `attempt`, with undefined in place of a failure of one of the codes. */
export const attemptUnless = <A>(
  codes: ReadonlyArray<string>,
  what: string,
  run: () => Promise<A>
): Effect.Effect<A | undefined, DirectoryError> => {
  const expected = (error: unknown): boolean =>
    error instanceof Error && "code" in error && typeof error.code === "string" && codes.includes(error.code)
  return attempt(what, () => run().catch((error: unknown) => (expected(error) ? undefined : Promise.reject(error))))
}

/** What an engine notes, beside the workspaces' files. */
export const engineFolder = (root: string): string => join(root, ".engine")
export const workspacesFolder = (root: string): string => join(engineFolder(root), "workspaces")
export const trashFolder = (root: string): string => join(engineFolder(root), "trash")
export const ownerFolder = (root: string): string => join(engineFolder(root), "owner")

/** Makes the folders that all workspaces share. */
export const prepareRoot = (root: string): Effect.Effect<void, DirectoryError> =>
  Effect.forEach(
    [root, engineFolder(root), workspacesFolder(root), trashFolder(root), ownerFolder(root)],
    (path) => attempt(`the folder ${path} cannot be made`, () => fs.mkdir(path, { recursive: true, mode: 0o700 })),
    { discard: true }
  )
