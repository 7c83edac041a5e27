/** How daemons that can take the same jobs wait for them together. templates-and-provisioning.md §6.4. */
import { Duration, Effect, Exit, Option } from "effect"

/** How long waiting daemons rely on being told of new jobs. */
const pollInterval = Duration.seconds(30)

/** Daemons that ask the store at once: a burst of jobs must not take all of its connections. */
const maximumQuestions = 4

export interface JobTurns {
  /** Notes that a job was posted that these daemons can take. Does not throw. */
  readonly posted: () => void
  /** Notes that jobs may have been posted of which nothing was heard. Does not throw. */
  readonly lost: () => void
  /**
   * Waits for a job with `take`, which asks the store for one. Each posting allows one question, so no daemon asks where no job can be. Where it
   * is not known how many jobs wait, at first and after lost postings, one daemon after the other asks until there is none.
   */
  readonly next: <A, E, R>(take: Effect.Effect<Option.Option<A>, E, R>) => Effect.Effect<A, E, R>
}

export const makeJobTurns: Effect.Effect<JobTurns> = Effect.gen(function* () {
  const turn = yield* Effect.makeSemaphore(1)
  const questions = yield* Effect.makeSemaphore(maximumQuestions)
  const wake = yield* Effect.makeLatch(true)
  /** Jobs that may wait and that no daemon asks for yet. */
  let due = Infinity
  /** Postings since the last question that was asked without one. */
  let heard = 0

  const posted = (): void => {
    heard += 1
    due += 1
    wake.unsafeOpen()
  }

  return {
    posted,
    lost: () => {
      heard = Infinity
      due = Infinity
      wake.unsafeOpen()
    },
    next: <A, E, R>(take: Effect.Effect<Option.Option<A>, E, R>) => {
      const first = Effect.gen(function* () {
        while (due === 0) {
          wake.unsafeClose()
          if (Option.isNone(yield* Effect.timeoutOption(wake.await, pollInterval))) due = Infinity
        }
        if (due !== Infinity) return undefined
        heard = 0
        const job = yield* take
        // The store may have been asked before these were posted
        if (Option.isNone(job)) due = heard
        return job
      })
      /** Asks by right of one posting, which a question that fails gives back. */
      const question = Effect.suspend(() => {
        due -= 1
        return Effect.onExit(questions.withPermits(1)(take), (exit) => (Exit.isSuccess(exit) ? Effect.void : Effect.sync(posted)))
      })
      const attempt = turn.withPermits(1)(first)
      return Effect.gen(function* () {
        for (;;) {
          const found = yield* attempt
          const job = found ?? (due > 0 ? yield* question : Option.none<A>())
          if (Option.isSome(job)) return job.value
        }
      })
    }
  }
})
