/**
 * One process at a time works in a directory of workspaces, so that two servers never supervise the same agents.
 */
import { Data, Effect, Option, Schedule, Schema, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import * as fs from "node:fs/promises"
import { dirname, join } from "node:path"
import { ProcessTable } from "./ProcessTable.js"
import { attempt, attemptUnless, type DirectoryError, ownerFolder } from "./EngineDirectory.js"

/** Another process that lives owns the directory. */
export class DirectoryInUse extends Data.TaggedError("DirectoryInUse")<{ readonly directory: string; readonly pid: number }> {
  override get message(): string {
    return `${this.directory} is in use by the process ${this.pid}`
  }
}

/** Another process won the race. */
class LostRace extends Data.TaggedError("LostRace")<{}> {}

/**
 * A claim is a symbolic link: its target is the text. Making one is a single step, and needs no free block of the disk, so a server whose
 * disk is full still starts.
 */
const textOf = ({ pid, started }: { readonly pid: number; readonly started: string }): string => `${pid} ${started}`

/** The target of a claim whose owner has let go. */
const released = "released"

/** A claim as earlier versions made it: a file. */
const FileClaim = Schema.parseJson(Schema.Struct({ pid: Schema.Int, started: Schema.String, released: Schema.Boolean }))

/** Reads a claim, of earlier versions too, as the target of a link. Undefined if it is gone. A file that was cut short names no process. */
const read = (path: string): Effect.Effect<string | undefined, DirectoryError> =>
  Effect.gen(function* () {
    const what = `${path} cannot be read`
    const target = yield* attemptUnless(["ENOENT", "EINVAL"], what, () => fs.readlink(path))
    if (target !== undefined) return target
    const text = yield* attemptUnless(["ENOENT"], what, () => fs.readFile(path, "utf8"))
    if (text === undefined) return undefined
    return Option.match(Schema.decodeOption(FileClaim)(text), {
      onNone: () => "",
      onSome: (claim) => (claim.released ? released : textOf(claim))
    })
  })

const replaceLink = async (path: string, target: string): Promise<void> => {
  const draft = join(dirname(path), `${randomUUID()}.draft`)
  await fs.symlink(target, draft)
  await fs.rename(draft, path)
}

const claims = (folder: string): Effect.Effect<ReadonlyArray<number>, DirectoryError> =>
  Effect.map(
    attempt(`${folder} cannot be read`, () => fs.readdir(folder)),
    (names) => names.filter((name) => /^\d+$/.test(name)).map(Number)
  )

/**
 * Claims are numbered. The highest number rules, and only the owner of a higher one removes it. Of two processes that find the same dead
 * owner, one makes the link of the next number, and the other sees that it lost.
 */
const claim = (root: string): Effect.Effect<() => Effect.Effect<void>, DirectoryInUse | DirectoryError | LostRace, ProcessTable> =>
  Effect.gen(function* () {
    const table = yield* ProcessTable
    const folder = ownerFolder(root)
    const highest = Math.max(0, ...(yield* claims(folder)))
    if (highest > 0) {
      const text = yield* read(join(folder, String(highest)))
      if (text === undefined) return yield* new LostRace()
      const pid = Number.parseInt(text, 10)
      const running = Number.isNaN(pid) ? undefined : yield* table.find(pid)
      if (running !== undefined && textOf(running) === text) return yield* new DirectoryInUse({ directory: root, pid })
    }
    const self = yield* table.find(process.pid)
    const path = join(folder, String(highest + 1))
    const linked = yield* attemptUnless(["EEXIST"], `${path} cannot be made`, () =>
      fs.symlink(textOf(self ?? { pid: process.pid, started: "" }), path).then(() => true)
    )
    if (linked === undefined) return yield* new LostRace()
    const others = (yield* claims(folder)).filter((number) => number !== highest + 1)
    const obsolete = others.some((number) => number > highest) ? [highest + 1] : others
    yield* Effect.forEach(obsolete, (number) =>
      Effect.ignore(attempt(`${folder} cannot be cleared`, () => fs.unlink(join(folder, String(number)))))
    )
    if (obsolete.includes(highest + 1)) return yield* new LostRace()
    return () => Effect.ignore(attempt(`${path} cannot be released`, () => replaceLink(path, released)))
  })

/** A server that is being replaced takes a moment to end. */
const patience = Schedule.spaced("250 millis").pipe(Schedule.upTo("30 seconds"))

/** Owns the directory until the scope closes; waits up to 30 seconds for another owner to end, and logs that it does. */
export const own = (root: string): Effect.Effect<void, DirectoryInUse | DirectoryError, ProcessTable | Scope.Scope> => {
  const claimed = Effect.acquireRelease(claim(root), (release) => release()).pipe(
    Effect.retry({ while: ({ _tag }) => _tag === "LostRace" }),
    Effect.catchTag("LostRace", Effect.die)
  )
  return claimed.pipe(
    Effect.tapErrorTag("DirectoryInUse", ({ message }) => Effect.logInfo(`${message}: waiting up to 30 seconds for its end`)),
    Effect.catchTag("DirectoryInUse", () => Effect.retry(claimed, { while: ({ _tag }) => _tag === "DirectoryInUse", schedule: patience }))
  )
}
