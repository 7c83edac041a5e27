/** Events on their way to other processes. */
import { type Cause, Effect, Fiber, type Scope } from "effect"

/** Events that wait, at most. */
const maximumWaiting = 1000

/** Events of a statement, at most. */
const maximumAtOnce = 100

/** How long a statement may take: one that waits for a server that is silent must not keep all later events. */
const timeLimit = "10 seconds"

/** How long the end of the scope waits for the last events. */
const lastEvents = "1 second"

/** Stands for events that no process was told of. Receivers read the store again. Versions that do not know it have no listeners for it. */
export const lost = "\n"

const firstOf = (events: Iterable<string>): ReadonlyArray<string> => {
  const first: Array<string> = []
  for (const event of events) {
    if (first.length === maximumAtOnce) break
    first.push(event)
  }
  return first
}

/**
 * Makes a function that sends events by `tell`, in their order, until the scope closes. The function does not wait. Events that arrive while others are
 * sent are sent together next, and equal ones of these once, in the place of the last. Events that are too many, or that cannot be sent, become `lost`.
 */
export const makeEventSender = <E>(
  tell: (events: ReadonlyArray<string>) => Effect.Effect<void, E>
): Effect.Effect<(event: string) => void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const waiting = new Set<string>()
    const hasWaiting = yield* Effect.makeLatch(false)
    let isClosed = false
    let isFailing = false
    let isSending = false

    const add = (event: string): void => {
      // Behind all others: the last of several events on one thing is the one that counts
      waiting.delete(event)
      waiting.add(event)
      hasWaiting.unsafeOpen()
    }

    const failed = (cause: Cause.Cause<unknown>) => {
      const isKnown = isFailing
      isFailing = true
      add(lost)
      const log = isKnown ? Effect.void : Effect.logWarning("other processes cannot be told of events now", cause)
      return Effect.zipRight(log, Effect.sleep("1 second"))
    }

    const succeeded = Effect.sync(() => {
      isFailing = false
    })

    const sendWaiting = Effect.suspend(() => {
      const events = firstOf(waiting)
      for (const event of events) waiting.delete(event)
      if (waiting.size === 0) hasWaiting.unsafeClose()
      isSending = true
      return tell(events).pipe(
        // A statement runs to its end, whoever waits for it
        Effect.disconnect,
        Effect.timeout(timeLimit),
        Effect.matchCauseEffect({ onFailure: failed, onSuccess: () => succeeded }),
        Effect.ensuring(
          Effect.sync(() => {
            isSending = false
          })
        )
      )
    })

    const sending = yield* hasWaiting.await.pipe(
      Effect.zipRight(sendWaiting),
      Effect.repeat({ until: () => isClosed && waiting.size === 0 }),
      Effect.forkScoped
    )
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        isClosed = true
        if (waiting.size === 0 && !isSending) return Effect.void
        return Effect.ignore(Effect.timeout(Effect.interruptible(Effect.disconnect(Fiber.join(sending))), lastEvents))
      })
    )

    return (event) => {
      if (isClosed) return
      if (waiting.size < maximumWaiting) return add(event)
      waiting.clear()
      add(lost)
    }
  })
