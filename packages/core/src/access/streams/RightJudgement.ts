import { Array as Arr, type Cause, Clock, Effect, Either } from "effect"
import { nextTurn } from "../../platform/background/Turns.js"
import type { Bagged } from "../../platform/collections/Bag.js"
import type { Actor } from "../actors/Actor.js"
import type { WithinWorkspace } from "./HeldRights.js"
import type { AskedRight, CommonJudgement, StreamRight, RightEnded } from "./StreamRights.js"

/** How long a judgement may take before it counts as failed: a store that does not answer must not delay the judgement of others. */
const judgementTime = "3 seconds"

/** Permissions of one credential judged at once. */
const permissionConcurrency = 4

/** Permissions of one kind judged in one read. */
const judgedTogether = 32

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

/** Streams of one credential to one object, which are judged together with those of other credentials or to other objects. */
interface Common extends AskedRight {
  readonly same: ReadonlyArray<Holding>
}

interface Needs {
  readonly end: (holding: Holding, message: string) => void
}

/** The actor of a credential that was renewed, or why it has ended. */
type Renewed = Either.Either<Actor, { readonly message: string }>

/** Renews the credential of an actor, and with it those of others of the same kind. */
const renew = (first: Actor, actors: ReadonlyArray<Actor>): Effect.Effect<(actor: Actor) => Renewed> => {
  const { credential } = first
  if (actors.length > 1 && credential?.together !== undefined) return credential.together(actors)
  return Effect.map(Effect.either(credential?.renew ?? Effect.succeed(first)), (renewed) => () => renewed)
}

/** The judgement of the streams of credentials. */
export const rightJudgement = ({ end }: Needs) => {
  /**
   * Judges streams, which are given by their credentials: those of one, or of several that are renewed together. A store that does not answer ends none: they are judged again a
   * second later.
   */
  const judge = (credentials: ReadonlyArray<ReadonlyArray<Holding>>): Effect.Effect<void> =>
    Effect.suspend(() => {
      const left = new Set(credentials.flat())
      const isRetry = [...left].some(({ hasFailed }) => hasFailed)
      // Told of once: while a store is away each credential is judged every second
      const warn = (cause: Cause.Cause<unknown>) =>
        isRetry ? Effect.void : Effect.logWarning("the rights to open streams cannot be judged now", cause)

      const settle = (actor: Actor, same: ReadonlyArray<Holding>, refusal: { readonly message: string } | undefined, now: number): void => {
        for (const holding of same) {
          if (refusal !== undefined) end(holding, refusal.message)
          holding.actor = actor
          holding.judgedAt = now
          holding.hasFailed = false
          left.delete(holding)
        }
      }

      const judgeSame = (actor: Actor, same: ReadonlyArray<Holding>, { permission }: StreamRight) =>
        Effect.gen(function* () {
          const permitted = yield* Effect.either(permission(actor))
          settle(actor, same, Either.isLeft(permitted) ? permitted.left : undefined, yield* Clock.currentTimeMillis)
        })

      let judged = 0
      const judgeNext = (actor: Actor) => (same: ReadonlyArray<Holding>) => {
        const [first] = same
        if (first === undefined) return Effect.void
        // One permission that cannot be judged must not keep the others from it
        const judging = Effect.catchAllCause(judgeSame(actor, same, first.right), warn)
        // A store in the same process answers at once: other work of the process waits for as many permissions as are judged without a pause
        return ++judged % withoutPause === 0 ? Effect.zipRight(Effect.sleep(0), judging) : judging
      }

      /** Judges permissions in one read. Where that fails, each is judged by itself: one of them may be what keeps the others from it. */
      const judgeCommon = (judgement: CommonJudgement, asked: ReadonlyArray<Common>): Effect.Effect<void> =>
        Effect.catchAllCause(
          Effect.gen(function* () {
            const refusalOf = yield* judgement(asked)
            const now = yield* Clock.currentTimeMillis
            for (const one of asked) settle(one.actor, one.same, refusalOf(one), now)
          }),
          (cause) =>
            Effect.zipRight(
              warn(cause),
              Effect.forEach(asked, ({ actor, same }) => judgeNext(actor)(same), { discard: true })
            )
        )

      /** Puts off what is judged together with others. */
      const common = new Map<CommonJudgement, Array<Common>>()
      const putOff = (actor: Actor, same: ReadonlyArray<Holding>): boolean => {
        const { objectId, together } = same[0]?.right ?? {}
        // One that could not be judged the last time is judged alone: it may be what keeps the others from it
        if (together === undefined || objectId === undefined || same.some(({ hasFailed }) => hasFailed)) return false
        const asked = common.get(together)
        if (asked === undefined) common.set(together, [{ actor, objectId, same }])
        else asked.push({ actor, objectId, same })
        return true
      }

      const judgeHeld = (holdings: ReadonlyArray<Holding>, renewed: Renewed): Effect.Effect<void> => {
        if (Either.isLeft(renewed)) {
          for (const holding of holdings) end(holding, renewed.left.message)
          return Effect.void
        }
        const alone = Array.from(groupsOf(holdings, ({ right }) => right.about)).filter((same) => !putOff(renewed.right, same))
        const [first, ...others] = alone
        if (first === undefined) return Effect.void
        // Most credentials have one stream, whose judgement needs no fiber of its own
        if (others.length === 0) return judgeNext(renewed.right)(first)
        return Effect.forEach(alone, judgeNext(renewed.right), { concurrency: permissionConcurrency, discard: true })
      }

      const judgeAll = Effect.gen(function* () {
        const actors = credentials.flatMap(([holding]) => holding?.actor ?? [])
        const [first] = actors
        if (first === undefined) return
        const renewedOf = yield* renew(first, actors)
        for (const holdings of credentials) {
          const [holding] = holdings
          if (holding !== undefined) yield* judgeHeld(holdings, renewedOf(holding.actor))
        }
        for (const [judgement, asked] of common) {
          for (const some of Arr.chunksOf(asked, judgedTogether)) yield* Effect.zipRight(nextTurn, judgeCommon(judgement, some))
        }
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
