/**
 * Work that callers share who come at about the same time, such as the agents that come back after the start of a server. A statement and a commit for each of them would
 * take most of what they cost.
 */
import { Array as Arr, Cause, Effect, Exit, type Scope } from "effect"
import * as Background from "./Background.js"
import { nextTurn } from "./Turns.js"

/** Turns of the event loop for which a group waits for more callers, at most. */
const maximumTurns = 16

export interface GatheringOptions<A, B> {
  /** The name of the work in logs. */
  readonly name: string
  /** Items with equal keys are worked on in their order: together, or after the work on the earlier ones has ended. */
  readonly key: (item: A) => string
  /** Items of a group, at most. */
  readonly most: number
  /** Does the work on a group, and returns the answer to each of its items. */
  readonly work: (items: ReadonlyArray<A>) => Effect.Effect<(item: A) => B>
}

interface Waiting<A, B> {
  readonly item: A
  readonly answer: (exit: Exit.Exit<B>) => void
}

/**
 * Returns a function that has an item worked on together with those of other callers, and answers or fails as the work does. A group begins in the next turn of the event
 * loop, or up to 16 turns later: while each turn brings another caller, or the work on another group is under way. If the work on a group fails, the items of each key are worked on
 * alone, and fail their own callers. A caller that is interrupted waits no longer, and its item is worked on all the same. The work on a group is not interrupted: the end of the scope
 * waits five seconds for it, and fails the callers of other items.
 */
export const makeGathering = <A, B>({
  key,
  most,
  name,
  work
}: GatheringOptions<A, B>): Effect.Effect<(item: A) => Effect.Effect<B>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const isAny = yield* Effect.makeLatch(false)
    const gathered: Array<Waiting<A, B>> = []
    /** Groups under way that have an item of a key. */
    const busy = new Map<string, number>()
    let underWay = 0
    let isOver = false

    const fail = (group: ReadonlyArray<Waiting<A, B>>, cause: Cause.Cause<never>): void => {
      for (const { answer } of group) answer(Exit.failCause(cause))
    }

    const workOn = (group: ReadonlyArray<Waiting<A, B>>): Effect.Effect<void> =>
      Effect.matchCauseEffect(work(group.map(({ item }) => item)), {
        onFailure: (cause) => {
          const parts = Object.values(Arr.groupBy(group, ({ item }) => key(item)))
          return parts.length > 1 ? Effect.forEach(parts, start, { discard: true }) : Effect.sync(() => fail(group, cause))
        },
        onSuccess: (answerTo) => Effect.sync(() => group.forEach(({ answer, item }) => answer(Exit.succeed(answerTo(item)))))
      })

    /** Starts the work on a group, whose callers are answered whatever becomes of it. */
    const start = (group: ReadonlyArray<Waiting<A, B>>): Effect.Effect<void> => {
      const keys = new Set(group.map(({ item }) => key(item)))
      const ended = (exit: Exit.Exit<void>) =>
        Effect.sync(() => {
          underWay -= 1
          for (const each of keys) {
            const left = (busy.get(each) ?? 1) - 1
            if (left === 0) busy.delete(each)
            else busy.set(each, left)
          }
          if (gathered.length > 0) isAny.unsafeOpen()
          if (Exit.isFailure(exit)) fail(group, exit.cause)
        })
      return Effect.suspend(() => {
        underWay += 1
        for (const each of keys) busy.set(each, (busy.get(each) ?? 0) + 1)
        return Effect.asVoid(
          Background.forkIn(
            name,
            scope,
            Effect.onExit(
              Effect.suspend(() => workOn(group)),
              ended
            )
          )
        )
      })
    }

    /** Takes the next group. An item whose key is under way stays: the work on the earlier item might end after its own. */
    const take = (): ReadonlyArray<Waiting<A, B>> => {
      const [group, held]: [Array<Waiting<A, B>>, Array<Waiting<A, B>>] = [[], []]
      let taken = 0
      for (const waiting of gathered) {
        if (group.length === most) break
        taken += 1
        if (busy.has(key(waiting.item))) held.push(waiting)
        else group.push(waiting)
      }
      gathered.splice(0, taken, ...held)
      if (gathered.length === held.length) isAny.unsafeClose()
      return group
    }

    const gather = Effect.gen(function* () {
      for (let turns = 0, before = -1; turns < maximumTurns && gathered.length < most; turns++) {
        if (gathered.length === before && underWay === 0) break
        before = gathered.length
        yield* nextTurn
      }
      // No interruption comes between: the callers of the group would wait for ever
      yield* Effect.uninterruptible(
        Effect.suspend(() => {
          const group = take()
          return group.length === 0 ? Effect.void : start(group)
        })
      )
    })

    // Behind the loop, which takes no more then
    yield* Effect.addFinalizer(() =>
      Effect.map(Effect.fiberId, (id) => {
        isOver = true
        fail(gathered.splice(0), Cause.interrupt(id))
      })
    )
    yield* Background.repeat(name, Effect.zipRight(isAny.await, gather))

    const alone = (item: A): Effect.Effect<B> => Effect.map(work([item]), (answerTo) => answerTo(item))

    return (item) =>
      Effect.suspend(() =>
        isOver
          ? alone(item)
          : Effect.async<B>((resume) => {
              gathered.push({ item, answer: resume })
              isAny.unsafeOpen()
            })
      )
  })
