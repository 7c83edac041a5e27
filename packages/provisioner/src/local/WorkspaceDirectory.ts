/**
 * Where workspaces live on the disk:
 *
 * ```
 * <root>/<workspace id>/                     the workspace's files; HOME of its agents
 * <root>/.engine/workspaces/<workspace id>/  what the engine notes of it, and its agents' output
 * <root>/.engine/workspaces/<workspace id>/started  the workspace has been started, so its files may be its owner's
 * <root>/.engine/trash/                      deleted workspaces until their last file is gone
 * <root>/.engine/owner/                      which process may touch all this
 * <root>/.engine/id                          tells this directory from those of other servers
 * ```
 *
 * Every path is made of ids and of names that have passed `localPath`; no link below the root is followed out of a workspace.
 */
import { Uuid } from "@atelier/core/platform"
import { Clock, Effect, Either, Option, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { constants, type Stats } from "node:fs"
import * as fs from "node:fs/promises"
import { dirname, join, sep } from "node:path"
import type { PlacedFile } from "../template/Evaluation.js"
import { attempt, attemptUnless, DirectoryError, engineFolder, trashFolder, workspacesFolder } from "../engine/EngineDirectory.js"
import { localPath } from "../engine/LocalPath.js"
import { WorkspaceRecord } from "./WorkspaceState.js"

const statOf = (path: string): Effect.Effect<Stats | undefined, DirectoryError> =>
  attemptUnless(["ENOENT"], `${path} cannot be read`, () => fs.lstat(path))

export interface WorkspacePaths {
  /** The workspace's files. */
  readonly home: string
  /** The engine's notes. */
  readonly notes: string
  readonly record: string
  /** There once a start has succeeded. */
  readonly started: string
  readonly log: (agent: string) => string
  /** Where an agent reports that it does not reach the service. */
  readonly outage: (agent: string) => string
}

export const pathsOf = (root: string, workspaceId: Uuid.Uuid): WorkspacePaths => {
  const notes = join(workspacesFolder(root), workspaceId)
  return {
    home: join(root, workspaceId),
    notes,
    record: join(notes, "state.json"),
    started: join(notes, "started"),
    log: (agent) => join(notes, `${agent}.log`),
    outage: (agent) => join(notes, `${agent}.outage`)
  }
}

/** The directory's own id, made when it has none; only its owner asks. */
export const identify = (root: string): Effect.Effect<Uuid.Uuid, DirectoryError> =>
  Effect.gen(function* () {
    const path = join(engineFolder(root), "id")
    const text = yield* attemptUnless(["ENOENT"], `${path} cannot be read`, () => fs.readFile(path, "utf8"))
    if (text === undefined) {
      const id = Uuid.Uuid.make(randomUUID())
      yield* replaceFile(path, new TextEncoder().encode(`${id}\n`), 0o600)
      return id
    }
    return Uuid.parse(text.trim()) ?? (yield* new DirectoryError({ message: `${path} holds no id` }))
  })

/** Makes a folder unless there is one. Returns whether it has made it. */
const makeFolder = (path: string): Effect.Effect<boolean, DirectoryError> =>
  Effect.gen(function* () {
    const isMade = yield* attemptUnless(["EEXIST"], `the folder ${path} cannot be made`, () =>
      fs.mkdir(path, { mode: 0o700 }).then(() => true)
    )
    if (isMade === true) return true
    const stat = yield* statOf(path)
    return stat?.isDirectory() === true ? false : yield* new DirectoryError({ message: `${path} is not a folder` })
  })

/** Makes the folders of one workspace. Returns whether there was none of them. */
export const prepareWorkspace = ({ home, notes }: WorkspacePaths): Effect.Effect<boolean, DirectoryError> =>
  Effect.map(
    // A folder without notes is taken for one of files to keep
    Effect.forEach([notes, home], makeFolder),
    (made) => made.every((isMade) => isMade)
  )

/** A folder beneath a workspace's own, made where it is missing. Links are followed as long as they stay beneath. */
export const folderIn = (home: string, path: string): Effect.Effect<string, DirectoryError> =>
  Effect.gen(function* () {
    const relative = yield* Either.mapLeft(
      localPath(path === "" ? "." : path),
      (cause) => new DirectoryError({ message: `the folder ${JSON.stringify(path)} ${cause}` })
    )
    const root = yield* attempt(`${home} cannot be read`, () => fs.realpath(home))
    let folder = root
    for (const name of relative.split("/").filter((name) => name !== "")) {
      const next = join(folder, name)
      if ((yield* statOf(next)) === undefined) yield* attempt(`the folder ${next} cannot be made`, () => fs.mkdir(next, { mode: 0o755 }))
      folder = yield* attempt(`the folder ${next} cannot be entered`, () => fs.realpath(next))
      if (!folder.startsWith(root + sep))
        return yield* new DirectoryError({ message: `the folder ${JSON.stringify(path)} leads out of the workspace` })
    }
    return folder
  })

/** Writes a template's file into a workspace. The file appears whole or not at all, and takes the place of a link instead of following it. */
export const placeFile = (home: string, { bytes, mode, overwrite, path }: PlacedFile): Effect.Effect<void, DirectoryError> =>
  Effect.gen(function* () {
    const folder = yield* folderIn(home, dirname(path))
    const target = join(folder, path.slice(path.lastIndexOf("/") + 1))
    const present = yield* statOf(target)
    if (present !== undefined && !overwrite) return
    if (present?.isDirectory() === true)
      return yield* new DirectoryError({ message: `the file ${JSON.stringify(path)} cannot be written: a folder is there` })
    yield* replaceFile(target, bytes, mode)
  })

/** Replaces a file in one step, or leaves everything as it was. */
export const replaceFile = (target: string, bytes: Uint8Array, mode: number): Effect.Effect<void, DirectoryError> => {
  const ownersOnly = 0o600
  const fresh = `${target}.${randomUUID()}.new`
  const { O_CREAT, O_EXCL, O_WRONLY } = constants
  return attempt(`the file ${target} cannot be written`, async () => {
    const file = await fs.open(fresh, O_WRONLY | O_CREAT | O_EXCL, ownersOnly)
    try {
      await file.writeFile(bytes)
      // The process's umask takes bits of other users from the mode that is given to open
      if (mode !== ownersOnly) await file.chmod(mode)
    } finally {
      await file.close()
    }
    await fs.rename(fresh, target)
  }).pipe(Effect.onError(() => Effect.promise(() => fs.rm(fresh, { force: true }).catch(() => {}))))
}

const RecordText = Schema.parseJson(WorkspaceRecord)

export const writeRecord = ({ record }: WorkspacePaths, value: WorkspaceRecord): Effect.Effect<void, DirectoryError> =>
  replaceFile(record, new TextEncoder().encode(Schema.encodeSync(RecordText)(value)), 0o600)

/** The engine's record of a workspace; undefined if it is missing or unreadable. */
export const readRecord = ({ record }: WorkspacePaths): Effect.Effect<WorkspaceRecord | undefined, DirectoryError> =>
  Effect.gen(function* () {
    const text = yield* attemptUnless(["ENOENT"], `${record} cannot be read`, () => fs.readFile(record, "utf8"))
    if (text === undefined) return undefined
    const decoded = Schema.decodeOption(RecordText)(text)
    if (Option.isNone(decoded)) yield* Effect.logWarning(`${record} is broken; processes are found by their environment alone`)
    return Option.getOrUndefined(decoded)
  })

/** The workspaces the engine knows of. */
export const knownWorkspaces = (root: string): Effect.Effect<ReadonlyArray<Uuid.Uuid>, DirectoryError> =>
  Effect.map(
    attempt(`${workspacesFolder(root)} cannot be read`, () => fs.readdir(workspacesFolder(root))),
    (names) => names.flatMap((name) => Option.toArray(Option.fromNullable(Uuid.parse(name))))
  )

/** Notes that a start has succeeded. */
export const noteStarted = ({ started }: WorkspacePaths): Effect.Effect<void, DirectoryError> =>
  attempt(`the file ${started} cannot be written`, () => fs.writeFile(started, "", { mode: 0o600 }))

/** Whether the folders come from a first start that has not succeeded. */
export const isUnfinished = ({ notes, started }: WorkspacePaths): Effect.Effect<boolean, DirectoryError> =>
  Effect.zipWith(statOf(notes), statOf(started), (noted, succeeded) => noted !== undefined && succeeded === undefined)

/** Moves folders of a workspace out of the way, at once; answers where they lie until they are gone. */
export const discard = (
  root: string,
  workspaceId: Uuid.Uuid,
  kinds: ReadonlyArray<"home" | "notes">
): Effect.Effect<ReadonlyArray<string>, DirectoryError> =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const paths = pathsOf(root, workspaceId)
    const asides: Array<string> = []
    for (const kind of kinds) {
      const path = paths[kind]
      if ((yield* statOf(path)) === undefined) continue
      const aside = join(trashFolder(root), `${workspaceId}.${kind}.${now}`)
      yield* attempt(`${path} cannot be removed`, () => fs.rename(path, aside))
      asides.push(aside)
    }
    return asides
  })

/** The folders that earlier deletions have left behind. */
export const discarded = (root: string): Effect.Effect<ReadonlyArray<string>, DirectoryError> =>
  Effect.map(
    attempt(`${trashFolder(root)} cannot be read`, () => fs.readdir(trashFolder(root))),
    (names) => names.map((name) => join(trashFolder(root), name))
  )

/** Removes a file or folder with all in it. Links are removed, not followed. */
export const removeTree = (path: string): Effect.Effect<void, DirectoryError> =>
  attempt(`${path} cannot be removed`, () => fs.rm(path, { recursive: true, force: true })).pipe(
    // Some tools, Go's module cache among them, leave folders that may not be written to
    Effect.catchAll(() =>
      Effect.zipRight(
        makeWritable(path),
        attempt(`${path} cannot be removed`, () => fs.rm(path, { recursive: true, force: true }))
      )
    )
  )

const makeWritable = (folder: string): Effect.Effect<void, DirectoryError> =>
  attempt(`${folder} cannot be made writable`, async () => {
    const pending = [folder]
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (!(await fs.lstat(next)).isDirectory()) continue
      await fs.chmod(next, 0o700)
      for (const entry of await fs.readdir(next, { withFileTypes: true })) if (entry.isDirectory()) pending.push(join(next, entry.name))
    }
  })

/** Bytes an agent's output may have before it is moved to the one older file that is kept. */
const maximumLogSize = 1024 * 1024

/** Keeps an agent's output bounded. The agent appends to the same file all along. */
export const boundLog = (log: string): Effect.Effect<void, DirectoryError> =>
  Effect.gen(function* () {
    const stat = yield* statOf(log)
    if (stat === undefined || stat.size <= maximumLogSize) return
    yield* attempt(`${log} cannot be shortened`, async () => {
      const kept = await fs.open(log, "r")
      try {
        const tail = new Uint8Array(maximumLogSize)
        const { bytesRead } = await kept.read(tail, 0, maximumLogSize, stat.size - maximumLogSize)
        await fs.writeFile(`${log}.1`, tail.subarray(0, bytesRead), { mode: 0o600 })
      } finally {
        await kept.close()
      }
      await fs.truncate(log)
    })
  })
