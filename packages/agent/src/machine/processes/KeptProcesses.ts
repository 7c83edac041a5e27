/** The processes that stay, by their ids. */
import { randomUUID } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { Duration, Effect, Scope } from "effect"
import type { Place } from "../../environment/Place.js"
import { Refused } from "../Route.js"
import { endGroup, type Mark } from "./Group.js"
import { KeptProcess } from "./KeptProcess.js"
import { type Order, programOf } from "./Order.js"
import type { Running } from "./Running.js"
import { onPipes, onTerminal, type Source } from "./Source.js"

/** Ended processes that are known, and bytes of their output together: those that ended first are forgotten beyond that. */
const maximumEnded = 256
const maximumEndedBytes = 64 * 1024 * 1024

export interface KeptProcesses {
  readonly start: (request: IncomingMessage, order: Order) => Effect.Effect<KeptProcess, Refused>
  /** In the order of their starts. */
  readonly all: () => ReadonlyArray<KeptProcess>
  /** Fails with a refusal if no process has the id. */
  readonly get: (id: string | undefined) => Effect.Effect<KeptProcess, Refused>
  /** Ends a process and its group, and forgets it. */
  readonly remove: (id: string | undefined) => Effect.Effect<void, Refused>
}

const missing = new Refused({ status: 404, message: "There is no such process, or it has ended and was forgotten." })

const endOf = ({ leader }: Source, mark: Mark): Effect.Effect<void> => Effect.suspend(() => endGroup(leader(), mark))

const now = (): string => new Date().toISOString()

/** Makes what keeps processes. What it waits for ends with the scope. */
export const make = (place: Effect.Effect<Place>, running: Running): Effect.Effect<KeptProcesses, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const processes = new Map<string, { readonly kept: KeptProcess; readonly mark: Mark }>()

    const forget = (): void => {
      const ended = Array.from(processes.values()).filter(({ kept }) => kept.running === undefined)
      let bytes = ended.reduce((sum, { kept }) => sum + kept.size, 0)
      let count = ended.length
      for (const { kept } of ended) {
        if (count <= maximumEnded && bytes <= maximumEndedBytes) return
        processes.delete(kept.id)
        bytes -= kept.size
        count -= 1
      }
    }

    /** Follows a process to its end. */
    const follow = (kept: KeptProcess, source: Source, mark: Mark, timeout: number | undefined) =>
      Effect.gen(function* () {
        const ended = Effect.map(source.ended, (end) => kept.exited(end, now()))
        if (timeout === undefined) yield* ended
        else yield* Effect.raceFirst(ended, Effect.delay(Effect.zipRight(endOf(source, mark), ended), Duration.millis(timeout)))
        kept.over(yield* source.completed)
        forget()
      }).pipe(Effect.interruptible, Effect.forkIn(scope))

    const start = (request: IncomingMessage, order: Order) =>
      Effect.gen(function* () {
        const program = yield* programOf(order, yield* place)
        const { args, directory, file } = program
        const kept = new KeptProcess({ id: randomUUID(), program: file, args, cwd: directory, started_at: now() })
        const entered = yield* running.enter(request)
        const { mark } = entered
        const source = yield* order.pty === undefined
          ? onPipes(program, entered, kept.output)
          : onTerminal(program, order.pty, entered, kept.output)
        kept.source = source
        if (order.stdin === false) source.closeInput()
        processes.set(kept.id, { kept, mark })
        yield* follow(kept, source, mark, order.timeout_ms)
        return kept
      }).pipe(Effect.uninterruptible)

    const found = (id: string | undefined) =>
      Effect.suspend(() => {
        const process = id === undefined ? undefined : processes.get(id)
        return process === undefined ? missing : Effect.succeed(process)
      })

    return {
      start,
      all: () => Array.from(processes.values(), ({ kept }) => kept),
      get: (id) => Effect.map(found(id), ({ kept }) => kept),
      remove: (id) =>
        Effect.gen(function* () {
          const { kept, mark } = yield* found(id)
          processes.delete(kept.id)
          if (kept.source !== undefined) yield* endOf(kept.source, mark)
        }).pipe(Effect.uninterruptible)
    }
  })
