/** How daemons that can take the same jobs wait for them together. templates-and-provisioning.md §6.4. */
import { Duration, Effect, Option } from "effect"

/** How long waiting daemons rely on being told of new jobs. */
const pollInterval = Duration.seconds(30)

/** Daemons that ask the store at once: a burst of jobs must not take all of its connections. */
const maximumQuestions = 4

export interface JobTurns {
  /** Notes that a job was posted that these daemons can take. Does not throw. */
  readonly posted: () => void
  /** Notes that the notices of some postings may be missing. Does not throw. */
  readonly lost: () => void
  /**
   * Waits for a job with `take`, which asks the store for one. Each posting allows one question, and a question that finds nothing uses up the
   * postings before it, so no daemon asks where no job can be. The number of waiting jobs is unknown at first and after lost postings: then
   * one daemon after the other asks until a question finds nothing.
   *
   * Only the waiting can be interrupted, also in a caller that is uninterruptible. A question runs to its end, because the store may have
   * assigned the job already. So a caller that must not lose the job is uninterruptible: it gets the job even if it was interrupted before.
   */
  readonly next: <A, E, R>(take: Effect.Effect<Option.Option<A>, E, R>) => Effect.Effect<A, E, R>
}

/** Runs an effect with a permit. Only the wait for the permit can be interrupted. */
const permitted = <A, E, R>(permits: Effect.Semaphore, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.zipRight(Effect.interruptible(permits.take(1)), Effect.ensuring(effect, permits.release(1)))

export const makeJobTurns = (): JobTurns => {
  const turn = Effect.unsafeMakeSemaphore(1)
  const questions = Effect.unsafeMakeSemaphore(maximumQuestions)
  const wake = Effect.unsafeMakeLatch(true)
  /** Jobs that may wait and that no daemon asks for yet. */
  let due = Infinity
  let postings = 0
  let losses = 0

  const isDue = (): boolean => due > 0
  const posted = (): void => {
    postings += 1
    due += 1
    wake.unsafeOpen()
  }
  const lost = (): void => {
    losses += 1
    due = Infinity
    wake.unsafeOpen()
  }

  /** Asks the store. A posting during the question may have come too late for its answer, so it stays due. */
  const asked = <A, E, R>(take: Effect.Effect<Option.Option<A>, E, R>): Effect.Effect<Option.Option<A>, E, R> =>
    Effect.suspend(() => {
      const before = { postings, losses }
      return Effect.tap(take, (job) =>
        Effect.sync(() => {
          if (Option.isNone(job) && losses === before.losses) due = Math.min(due, postings - before.postings)
        })
      )
    })

  return {
    posted,
    lost,
    next: <A, E, R>(take: Effect.Effect<Option.Option<A>, E, R>) => {
      const first = Effect.gen(function* () {
        while (!isDue()) {
          wake.unsafeClose()
          if (Option.isNone(yield* Effect.interruptible(Effect.timeoutOption(wake.await, pollInterval)))) lost()
        }
        return due === Infinity ? yield* asked(take) : undefined
      })
      /** Asks by right of one posting, if one is left. A question that fails gives the right back. */
      const question = Effect.suspend(() => {
        if (!isDue() || due === Infinity) return Effect.succeedNone
        due -= 1
        return Effect.tapErrorCause(asked(take), () => Effect.sync(posted))
      })
      return Effect.uninterruptible(
        Effect.gen(function* () {
          for (;;) {
            const job = (yield* permitted(turn, first)) ?? (yield* permitted(questions, question))
            if (Option.isSome(job)) return job.value
          }
        })
      )
    }
  }
}
