/**
 * One process at a time works in a directory of workspaces, so that two servers never supervise the same agents.
 */
import { Data, Effect, Option, Schedule, Schema, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { ProcessTable } from "./ProcessTable.js"
import { attempt, attemptUnless, type DirectoryError, ownerFolder, replaceFile } from "./WorkspaceDirectory.js"

/** Another process that lives owns the directory. */
export class DirectoryInUse extends Data.TaggedError("DirectoryInUse")<{ readonly directory: string; readonly pid: number }> {
  override get message(): string {
    return `${this.directory} is in use by the process ${this.pid}`
  }
}

/** Another process won the race. */
class LostRace extends Data.TaggedError("LostRace")<{}> {}

const Claim = Schema.parseJson(Schema.Struct({ pid: Schema.Int, started: Schema.String, released: Schema.Boolean }))

const encode = (claim: typeof Claim.Type): Uint8Array => new TextEncoder().encode(Schema.encodeSync(Claim)(claim))

const claims = (folder: string): Effect.Effect<ReadonlyArray<number>, DirectoryError> =>
  Effect.map(
    attempt(`${folder} cannot be read`, () => fs.readdir(folder)),
    (names) => names.filter((name) => /^\d+$/.test(name)).map(Number)
  )

/**
 * Claims are numbered files. The highest number rules, and only the owner of a higher one removes it. Of two processes that find the same
 * dead owner, `link` lets one take the next number, and the other sees that it lost.
 */
const claim = (root: string): Effect.Effect<() => Effect.Effect<void>, DirectoryInUse | DirectoryError | LostRace, ProcessTable> =>
  Effect.gen(function* () {
    const table = yield* ProcessTable
    const folder = ownerFolder(root)
    const highest = Math.max(0, ...(yield* claims(folder)))
    if (highest > 0) {
      const text = yield* attemptUnless(["ENOENT"], `${folder} cannot be read`, () => fs.readFile(join(folder, String(highest)), "utf8"))
      if (text === undefined) return yield* new LostRace()
      const holder = Option.getOrUndefined(Schema.decodeOption(Claim)(text))
      const running = holder === undefined ? undefined : yield* table.find(holder.pid)
      if (holder !== undefined && !holder.released && running?.started === holder.started) {
        return yield* new DirectoryInUse({ directory: root, pid: holder.pid })
      }
    }
    const self = yield* table.find(process.pid)
    const own = { pid: process.pid, started: self?.started ?? "", released: false }
    const draft = join(folder, `${randomUUID()}.draft`)
    const path = join(folder, String(highest + 1))
    yield* replaceFile(draft, encode(own), 0o600)
    const linked = yield* attemptUnless(["EEXIST"], `${path} cannot be made`, () => fs.link(draft, path).then(() => true))
    yield* Effect.ignore(attempt(`${draft} cannot be removed`, () => fs.unlink(draft)))
    if (linked === undefined) return yield* new LostRace()
    const others = (yield* claims(folder)).filter((number) => number !== highest + 1)
    const obsolete = others.some((number) => number > highest) ? [highest + 1] : others
    yield* Effect.forEach(obsolete, (number) =>
      Effect.ignore(attempt(`${folder} cannot be cleared`, () => fs.unlink(join(folder, String(number)))))
    )
    if (obsolete.includes(highest + 1)) return yield* new LostRace()
    return () => Effect.ignore(replaceFile(path, encode({ ...own, released: true }), 0o600))
  })

/** A server that is being replaced takes a moment to end. */
const patience = Schedule.spaced("250 millis").pipe(Schedule.upTo("30 seconds"))

/** Owns the directory until the scope closes; waits up to 30 seconds for another owner to end. */
export const own = (root: string): Effect.Effect<void, DirectoryInUse | DirectoryError, ProcessTable | Scope.Scope> =>
  Effect.acquireRelease(claim(root), (release) => release()).pipe(
    Effect.retry({ while: ({ _tag }) => _tag === "LostRace" }),
    Effect.catchTag("LostRace", Effect.die),
    Effect.retry({ while: ({ _tag }) => _tag === "DirectoryInUse", schedule: patience })
  )
