import { Effect } from "effect"
import { Unavailable } from "../../wire/errors.js"
import { requireFiles } from "./requireFiles.js"

/** Files that Node opens at once, at most, to load a group of endpoints. */
const maximumFiles = 64

const isOutOfFiles = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && (cause.code === "EMFILE" || cause.code === "ENFILE")

/** Loads code. Fails with `Unavailable` while files are short, and begins nothing then: Node 20 never loads a module again that it could not load once. */
export const loaded = <A>(load: () => Promise<A>): Effect.Effect<A, Unavailable> =>
  Effect.tryPromise({
    try: () => {
      requireFiles(maximumFiles)
      return load()
    },
    catch: (cause) => cause
  }).pipe(
    Effect.catchAll((cause) =>
      isOutOfFiles(cause)
        ? Effect.zipRight(
            Effect.logError("code cannot be loaded: too many files are open", cause),
            new Unavailable({ message: "The service has too many open files." })
          )
        : Effect.die(cause)
    )
  )
