/**
 * Copies of the write-ahead log into the database, in a thread of their own. SQLite copies within the commit that makes the log long, and waits for the disk twice:
 * requests would wait with it.
 */
import { Background } from "@atelier/core/platform"
import { SqlClient } from "@effect/sql"
import { Deferred, Effect, Exit, Option, Schedule, type Scope } from "effect"
import * as fs from "node:fs/promises"
import { resolve } from "node:path"
import { Worker } from "node:worker_threads"
import { driverPath } from "./Driver.js"

const work = "sqlite_checkpoints"

/** Pages of a log that SQLite copies by itself: its default, and what it is told while the thread copies. The second bounds the log at 32 MiB if the thread is slow. */
const ownPages = { alone: 1_000, beside: 8_192 }

/** Bytes of a log that is worth the memory of a thread, about ten megabytes. Smaller ones, and one whose thread has failed, are looked at again after a pause. */
const worthwhile = 4 * 2 ** 20
const lookAgain = "5 seconds"

/**
 * The thread. It copies what was written since it last did, without keeping readers or writers waiting. It pauses for 10 milliseconds after a megabyte or more, and
 * for up to half a second otherwise, because each copy waits for the disk.
 */
const thread = `
const { parentPort, workerData } = require("node:worker_threads")
const database = new (require(workerData.driver))(workerData.filename, { fileMustExist: true, timeout: 0 })
database.pragma("synchronous = NORMAL")
database.pragma("cache_size = -64")
const copy = database.prepare("PRAGMA wal_checkpoint(PASSIVE)")
let before = 0
let pause = 10
let timer
const turn = () => {
  const [{ checkpointed }] = copy.all()
  const pages = checkpointed < before ? checkpointed : checkpointed - before
  before = checkpointed
  pause = pages >= 256 ? 10 : Math.min(500, pause * 2)
  timer = setTimeout(turn, pause)
}
parentPort.once("message", () => {
  clearTimeout(timer)
  database.close()
})
turn()
parentPort.postMessage("ready")
`

/** Starts the thread, which ends with the scope. Returns once it copies. `ended` fails when it ends before. */
const started = (driver: string, filename: string) =>
  Effect.gen(function* () {
    const ready = yield* Deferred.make<void>()
    const ended = yield* Deferred.make<never, unknown>()
    const start = Effect.sync(() => {
      const worker = new Worker(thread, {
        eval: true,
        workerData: { driver, filename },
        env: {},
        execArgv: [],
        resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 }
      })
      worker.once("message", () => Deferred.unsafeDone(ready, Exit.void))
      worker.once("error", (error) => Deferred.unsafeDone(ended, Exit.fail(error)))
      worker.once("exit", () => Deferred.unsafeDone(ended, Exit.fail("the thread ended")))
      worker.unref()
      return worker
    })
    const end = (worker: Worker) =>
      Effect.sync(() => worker.postMessage("end", [])).pipe(
        Effect.zipRight(Background.lastly(Effect.exit(Deferred.await(ended)))),
        Effect.zipRight(Effect.sync(() => void worker.terminate()))
      )
    yield* Effect.acquireRelease(start, end)
    yield* Effect.raceFirst(Deferred.await(ready), Deferred.await(ended))
    return { ended: Deferred.await(ended) }
  })

const sizeOf = (file: string): Effect.Effect<number> =>
  Effect.promise(() =>
    fs.stat(file).then(
      ({ size }) => size,
      () => 0
    )
  )

/**
 * Starts the thread once the log of a file has been long, until the scope closes. SQLite copies by itself before, and between a failure of the thread, which is
 * logged, and the next start.
 */
export const checkpoints = (filename: string): Effect.Effect<void, never, Scope.Scope | SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const driver = yield* Effect.option(driverPath)
    if (Option.isNone(driver)) return
    // The program may change its directory before the thread starts
    const file = resolve(filename)
    const copying = Effect.gen(function* () {
      yield* Effect.repeat(sizeOf(`${file}-wal`), { until: (size) => size >= worthwhile, schedule: Schedule.spaced(lookAgain) })
      const { ended } = yield* started(driver.value, file)
      const setting = (pages: number) => sql.unsafe(`PRAGMA wal_autocheckpoint = ${pages}`)
      yield* Effect.acquireRelease(setting(ownPages.beside), () => Effect.ignore(setting(ownPages.alone)))
      yield* ended
    })
    const tried = Background.each(work, [copying], Effect.scoped)
    yield* Background.repeat(work, Effect.zipRight(tried, Effect.sleep(lookAgain)))
  })
