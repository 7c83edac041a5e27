import { reasonOf, StartError } from "@atelier/core/platform"
import { Effect, identity, type Scope } from "effect"
import { existsSync } from "node:fs"
import * as fs from "node:fs/promises"
import { connect } from "./Driver.js"

/** What a server adds to the refusal of a file in use, as workers of one cluster may get it. */
export const forServers = ": stop it first, or use PostgreSQL, which takes several servers"

/** The refusal of a database file that another server has open. */
export const inUse = (filename: string, advice = ""): StartError =>
  new StartError({ option: "storage.filename", value: filename, reason: `another server uses it${advice}` })

/**
 * Makes a file for its owner alone: it holds what templates keep secret, and what SQLite puts beside it has its permissions. One that is there
 * is not opened, as closing it would give up the locks that this process has on it. A file that cannot be made is SQLite's to complain about.
 */
const make = (filename: string): Effect.Effect<void> =>
  existsSync(filename) ? Effect.void : Effect.ignore(Effect.tryPromise(() => fs.open(filename, "a", 0o600).then((file) => file.close())))

/**
 * Owns a database file until the scope closes. Fails at once where another process does, or another layer of this one. SQLite's own locks
 * would let both in and have them wait for each other. The lock is SQLite's on a file beside the database, so it ends with its process.
 */
export const owned = (filename: string, advice?: string): Effect.Effect<void, StartError, Scope.Scope> =>
  Effect.gen(function* () {
    yield* make(filename)
    // Locks of the same database have one name, also where it is reached by a link
    const path = yield* Effect.promise(() => fs.realpath(filename).catch(() => filename))
    const lock = `${path}-lock`
    yield* make(lock)
    const opened = Effect.acquireRelease(connect(lock, { isThere: false }), (database) => Effect.sync(() => database.close()))
    // Nothing is written, so there is nothing to undo from a file
    const held = Effect.tryMap(opened, {
      try: (database) => database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE"),
      catch: identity
    })
    yield* Effect.mapError(held, (error) => {
      const reason = reasonOf(error)
      return reason === "database is locked"
        ? inUse(filename, advice)
        : new StartError({ option: "storage.filename", value: filename, reason })
    })
  })
