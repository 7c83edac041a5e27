/** Events on their way to other processes. */
import { Background } from "@atelier/core/platform"
import { Array as Arr, type Cause, Effect, Fiber, type Scope } from "effect"

/** Events that wait, at most. */
const maximumWaiting = 1000

/** Events of a statement, at most. */
const maximumAtOnce = 100

/** How long the end of the scope waits for the last events. */
const lastEvents = "1 second"

/** How long the sender pauses after a failure, and after one while the scope closes. */
const retryAfter = "1 second"
const retryAtEnd = "100 millis"

/** Stands for events that no process was told of. Receivers read the store again. Versions that do not know it have no listeners for it. */
export const lost = "\n"

/**
 * Makes a function that sends events by `tell`, in their order, until the scope closes. The function does not wait, and ignores events after that. Events that
 * arrive during a call of `tell` go to the next one together. Of equal ones it gets the last. If more than 1,000 wait, or `tell` fails, `lost` takes their
 * place. A call that does not complete holds back later events, so that none overtakes it.
 */
export const makeEventSender = <E>(
  tell: (events: ReadonlyArray<string>) => Effect.Effect<void, E>
): Effect.Effect<(event: string) => void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const waiting = new Set<string>()
    const hasWaiting = yield* Effect.makeLatch(false)
    const isClosing = yield* Effect.makeLatch(false)
    let isClosed = false
    let isFailing = false
    let isSending = false

    const add = (event: string): void => {
      // Behind all others: the last of several events on one thing is the one that counts
      waiting.delete(event)
      waiting.add(event)
      hasWaiting.unsafeOpen()
    }

    const failed = (cause: Cause.Cause<unknown>) =>
      Effect.suspend(() => {
        const isKnown = isFailing
        isFailing = true
        add(lost)
        const pause = isClosed ? Effect.sleep(retryAtEnd) : Effect.raceFirst(Effect.sleep(retryAfter), isClosing.await)
        return isKnown
          ? pause
          : Effect.zipRight(Background.logged(Effect.logWarning("other processes cannot be told of events now", cause)), pause)
      })

    const succeeded = Effect.suspend(() => {
      const hasFailed = isFailing
      isFailing = false
      return hasFailed ? Background.logged(Effect.logInfo("other processes are told of events again")) : Effect.void
    })

    const ended = Effect.sync(() => {
      isSending = false
    })

    const sendWaiting = Effect.suspend(() => {
      const events = Arr.take(waiting, maximumAtOnce)
      for (const event of events) waiting.delete(event)
      if (waiting.size === 0) hasWaiting.unsafeClose()
      isSending = true
      return tell(events).pipe(
        // A statement cannot be interrupted, and the end of the scope must not wait for it
        Effect.disconnect,
        Effect.matchCauseEffect({ onFailure: failed, onSuccess: () => succeeded }),
        Effect.ensuring(ended)
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
        isClosing.unsafeOpen()
        if (waiting.size === 0 && !isSending) return Effect.void
        return Effect.timeoutTo(Effect.interruptible(Fiber.await(sending)), {
          duration: lastEvents,
          onSuccess: () => Effect.void,
          onTimeout: () => Background.logged(Effect.logWarning("other processes were not told of the last events"))
        }).pipe(Effect.flatten)
      })
    )

    return (event) => {
      if (isClosed) return
      if (waiting.size < maximumWaiting || waiting.has(event)) return add(event)
      waiting.clear()
      add(lost)
    }
  })
