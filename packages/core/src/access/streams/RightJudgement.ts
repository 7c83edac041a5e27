import { type Cause, Clock, Effect, Either } from "effect"
import type { Bagged } from "../../platform/collections/Bag.js"
import type { Actor } from "../actors/Actor.js"
import type { WithinWorkspace } from "./HeldRights.js"
import type { StreamRight, RightEnded } from "./StreamRights.js"

/** How long a judgement may take before it counts as failed: a store that does not answer must not delay the judgement of others. */
const judgementTime = "3 seconds"

/** Permissions of one credential judged at once. */
const permissionConcurrency = 4

/** Permissions of one credential judged before other work of the process has its turn. */
const withoutPause = 16

export interface Holding extends Bagged {
  readonly right: StreamRight
  readonly end: (ended: RightEnded) => void
  actor: Actor
  /** Milliseconds since 1970. */
  judgedAt: number
  /** Whether it could not be judged the last time. */
  hasFailed: boolean
  /** Where it is found by workspace. */
  readonly entries: Array<WithinWorkspace>
}

const groupsOf = <A>(items: Iterable<A>, keyOf: (item: A) => unknown): Iterable<ReadonlyArray<A>> => {
  const groups = new Map<unknown, Array<A>>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups.values()
}

interface Needs {
  readonly end: (holding: Holding, message: string) => void
}

/** The judgement of the streams of one credential. */
export const rightJudgement = ({ end }: Needs) => {
  /** Judges streams of one credential. A store that does not answer ends none: they are judged again a second later. */
  const judge = (holdings: ReadonlyArray<Holding>): Effect.Effect<void> =>
    Effect.suspend(() => {
      const left = new Set(holdings)
      const isRetry = holdings.some(({ hasFailed }) => hasFailed)
      // Told of once: while a store is away each credential is judged every second
      const warn = (cause: Cause.Cause<unknown>) =>
        isRetry ? Effect.void : Effect.logWarning("the rights to open streams cannot be judged now", cause)

      const judgeSame = (actor: Actor, same: ReadonlyArray<Holding>, { permission }: StreamRight) =>
        Effect.gen(function* () {
          const permitted = yield* Effect.either(permission(actor))
          const now = yield* Clock.currentTimeMillis
          for (const holding of same) {
            if (Either.isLeft(permitted)) end(holding, permitted.left.message)
            holding.actor = actor
            holding.judgedAt = now
            holding.hasFailed = false
            left.delete(holding)
          }
        })

      const judgeAll = Effect.gen(function* () {
        const [first] = holdings
        if (first === undefined) return
        const renewed = yield* Effect.either(first.actor.credential?.renew ?? Effect.succeed(first.actor))
        if (Either.isLeft(renewed)) {
          for (const holding of holdings) end(holding, renewed.left.message)
          return
        }
        const abouts = groupsOf(holdings, ({ right }) => right.about)
        let judged = 0
        const judgeNext = (same: ReadonlyArray<Holding>) =>
          Effect.zipRight(
            // A store in the same process answers at once: other work of the process waits for as many permissions as are judged without a pause
            ++judged % withoutPause === 0 ? Effect.sleep(0) : Effect.void,
            // One permission that cannot be judged must not keep the others of the credential from it
            Effect.catchAllCause(judgeSame(renewed.right, same, (same[0] ?? first).right), warn)
          )
        yield* Effect.forEach(abouts, judgeNext, { concurrency: permissionConcurrency, discard: true })
      })

      // A judgement that does not end when it is interrupted is left behind
      return Effect.timeout(Effect.disconnect(judgeAll), judgementTime).pipe(
        Effect.catchAllCause(warn),
        Effect.ensuring(
          Effect.sync(() => {
            for (const holding of left) holding.hasFailed = true
          })
        )
      )
    })

  return { judge }
}
