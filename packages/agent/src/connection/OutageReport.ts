/**
 * The file by which an engine learns what an agent of its machine cannot reach: such an agent cannot tell the service itself. The engine
 * reads and removes the file.
 */
import * as fs from "node:fs/promises"
import { Clock, Effect } from "effect"
import type { AgentConfig } from "../AgentConfig.js"
import { addressOf } from "./Unreachable.js"

/** Milliseconds without a connection after which an outage is reported, with the failure of the next attempt. */
const reportedAfter = 30_000

/** Characters of a reason that are kept: a proxy may answer with a page. */
const maximumReason = 300

export interface OutageReport {
  /** An attempt to connect failed, or a connection was lost. */
  readonly failed: (reason: string) => Effect.Effect<void>
  /** The server has been reached: there is nothing to report any more. */
  readonly reached: Effect.Effect<void>
}

/** Reports each outage once, from the start of the agent on. */
export const make = ({ outageFile: file, url }: AgentConfig): Effect.Effect<OutageReport> =>
  Effect.gen(function* () {
    let since: number | undefined = yield* Clock.currentTimeMillis
    let isReported = false

    const change = (what: () => Promise<unknown>) =>
      Effect.catchAll(Effect.tryPromise({ try: what, catch: (cause) => cause }), (cause) =>
        Effect.logWarning(`The report of an outage cannot be written: ${String(cause)}`)
      )
    const remove = file === undefined ? Effect.void : change(() => fs.rm(file, { force: true }))

    /** The file appears whole or not at all. */
    const report = (text: string) =>
      file === undefined
        ? Effect.void
        : change(async () => {
            await fs.writeFile(`${file}.new`, `${text}\n`, { mode: 0o600 })
            await fs.rename(`${file}.new`, file)
          })

    // What an earlier process has reported may be over
    yield* remove

    return {
      failed: (reason) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          since ??= now
          if (isReported || now - since < reportedAfter) return
          isReported = true
          const shown = reason.replace(/\s+/g, " ").trim().slice(0, maximumReason)
          const seconds = Math.round((now - since) / 1000)
          yield* report(`The agent has not reached ${addressOf(url)} for ${seconds} seconds: ${shown}`)
        }),
      reached: Effect.suspend(() => {
        since = undefined
        const wasReported = isReported
        isReported = false
        return wasReported ? remove : Effect.void
      })
    }
  })
