/** Sends a request without a body to an app that speaks HTTP without TLS, on a connection of an earlier request if there is one. */
import { Effect, Scope } from "effect"
import { LentBody } from "../server/connection/LentBody.js"
import { AppFailed, failureOf } from "./appReach.js"
import type { Answer, Exchange } from "./forward.js"
import type { Opening, PlainConnection, PlainConnections } from "./PlainConnections.js"
import { headLines, requestHead } from "./requestHead.js"

/** Waits for the head of the answer, whose body ends with the scope. */
export const plainExchange = (
  { headers, method, path, signal }: Exchange,
  connections: PlainConnections,
  opening: Opening
): Effect.Effect<Answer, AppFailed, Scope.Scope> =>
  Effect.async<Effect.Effect<Answer, AppFailed, Scope.Scope>>((resume) => {
    const settle = (answer: Effect.Effect<Answer, AppFailed, Scope.Scope>): void => resume(Effect.succeed(answer))
    const head = requestHead(method, path, headLines(headers))
    if (head === undefined) return settle(new AppFailed({ message: "It cannot be asked so." }))
    let connection: PlainConnection | undefined
    let giveUpOpening = (): void => undefined
    let isOver = false
    const body = new LentBody({ read: () => connection?.resume() })
    // What happens after the head ends the body, which may have no reader any more
    body.on("error", () => undefined)
    /** Ends the exchange, and an unread body. */
    const end = (): void => {
      isOver = true
      signal.removeEventListener("abort", abort)
      giveUpOpening()
      connection?.destroy()
      body.destroy(new Error("The exchange has been ended."))
    }
    const abort = (): void => {
      end()
      settle(Effect.interrupt)
    }
    const broken = (error: Error, isStale = false): void => {
      connection = undefined
      if (isOver) return
      // Others that were kept may be as stale
      if (isStale) return openNew()
      body.destroy(error)
      settle(Effect.fail(error instanceof AppFailed ? error : failureOf(error)))
    }
    const sendOn = (opened: PlainConnection): void => {
      connection = opened
      opened.send(head, method === "HEAD", {
        head: (status, rawHeaders) => {
          const answer: Answer = { _tag: "Response", response: { status, rawHeaders, body } }
          settle(Effect.flatMap(Effect.scope, (scope) => Effect.as(Scope.addFinalizer(scope, Effect.sync(end)), answer)))
        },
        data: (bytes) => {
          if (bytes.length > 0 && !body.push(bytes)) opened.pause()
        },
        end: () => {
          connection = undefined
          body.push(null)
        },
        fail: (message) => broken(new AppFailed({ message })),
        broken
      })
    }
    const openNew = (): void => {
      giveUpOpening = connections.open(opening, (opened) => {
        if (opened instanceof Error) broken(opened)
        else if (isOver) return false
        else sendOn(opened)
        return true
      })
    }
    if (signal.aborted) return settle(Effect.interrupt)
    signal.addEventListener("abort", abort)
    const kept = connections.take(opening.key)
    if (kept === undefined) openNew()
    else sendOn(kept)
    return Effect.sync(abort)
  }).pipe(Effect.flatten)
