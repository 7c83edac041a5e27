/**
 * The right to a stream, for as long as the stream is open. Opening a stream is authorized like any call. After that, the credential and
 * the permission are judged again after every change that may have ended either, when the credential expires, and every 20 seconds.
 */
import { type Cause, Clock, Context, Data, Deferred, Effect, Either, Layer, Scope, Stream } from "effect"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import * as Background from "../../platform/background/Background.js"
import { type EventBus, listen } from "../../platform/events/EventBus.js"
import { type Bagged, Bag } from "../../platform/collections/Bag.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { type Actor, CurrentActor, isAnonymous } from "../actors/Actor.js"
import { CheckRecorder } from "../decisions/CheckRecorder.js"
import { type RightsChange, rightsChanges } from "./RightsChanges.js"
import { service } from "../../platform/wiring/Standing.js"
import { afterwards } from "../../platform/store/Transactor.js"

/** The caller may no longer have the stream: the credential or the permission has ended. */
export class RightEnded extends Data.TaggedError("RightEnded")<{ readonly message: string }> {}

/** The caller has as many streams open as one caller may. */
export class TooManyStreams extends Data.TaggedError("TooManyStreams")<{ readonly message: string }> {}

/** An actor's right to a stream. Made by `rightTo` only, so a stream without a permission check does not compile. */
export class StreamRight {
  constructor(
    readonly actor: Actor,
    /** The subject of the permission; checks of equal actors with equal subjects have equal outcomes. */
    readonly about: string,
    readonly permission: (actor: Actor) => Effect.Effect<unknown, { readonly message: string }>,
    /** The workspace whose changes may end the right; undefined if only those of the actor may. */
    readonly workspaceId?: Uuid
  ) {}

  /** The same right, which changes of a workspace may end too. */
  within(workspaceId: Uuid): StreamRight {
    return new StreamRight(this.actor, this.about, this.permission, workspaceId)
  }
}

/** A stream, with the right to it. */
export interface Entitled<A, E = never, R = never> {
  readonly right: StreamRight
  readonly values: Stream.Stream<A, E, R>
}

/**
 * Judges the permission that a stream needs, and answers its outcome with the right to the stream. `about` names the permission and the object:
 * it is judged once for all streams of one credential with the same name. Fails as the permission does.
 */
export const rightTo = <A, E extends { readonly message: string }, R>(
  about: string,
  permission: Effect.Effect<A, E, R>
): Effect.Effect<readonly [StreamRight, A], E, R | CurrentActor> =>
  Effect.gen(function* () {
    const granted = yield* permission
    const services = yield* Effect.context<R>()
    const right = new StreamRight(yield* CurrentActor, about, (actor) =>
      permission.pipe(
        Effect.provide(Context.merge(services, Context.make(CurrentActor, actor))),
        Effect.provideService(CheckRecorder, null)
      )
    )
    return [right, granted] as const
  })

/** Milliseconds after which a right is judged again without an event: with the time that judging takes, no stream outlives its right by 30 s. */
const recheckAfter = 20_000

/** Milliseconds for which a change is remembered, so that a stream that was opening at the time is judged again. */
const openingTime = 10_000

/** Changes that are remembered. After more of them at once every stream that opens is judged again. */
const maximumRecent = 1_000

/** Credentials judged at once. Those that could not be judged the last time have as many places of their own, so that others need not wait. */
const concurrency = 8

/** How long a judgement may take before it counts as failed: a store that does not answer must not delay the judgement of others. */
const judgementTime = "3 seconds"

/** Permissions of one credential judged at once. */
const permissionConcurrency = 4

interface Holding extends Bagged {
  readonly right: StreamRight
  readonly end: (ended: RightEnded) => void
  actor: Actor
  /** Milliseconds since 1970. */
  judgedAt: number
  /** Whether it could not be judged the last time. */
  hasFailed: boolean
}

/** Equal for streams of one credential; undefined where that cannot be known. */
const credentialOf = ({ agentId, apiKeyId }: Actor): string | undefined =>
  apiKeyId !== undefined ? `key:${apiKeyId}` : agentId !== undefined ? `agent:${agentId}` : undefined

/** Equal for holdings that are judged together. */
const groupOf = (holding: Holding): unknown => credentialOf(holding.right.actor) ?? holding

const callerOf = (actor: Actor): string => (isAnonymous(actor) ? `anonymous:${actor.ip ?? ""}` : (actor.agentId ?? actor.userId))

const concerns = ({ user_id, workspace_id }: RightsChange, { agentId, userId, workspaceId }: Actor, right: StreamRight): boolean => {
  if (user_id === undefined && workspace_id === undefined) return true
  if (user_id === userId) return true
  return workspace_id !== undefined && (workspace_id === right.workspaceId || (agentId !== undefined && workspace_id === workspaceId))
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

/** The methods of {@link StreamRights}. */
export interface StreamRightsService {
  /**
   * Keeps the right to a stream from now on until the scope closes, and calls `ended` once, when it has ended: within a second of a change
   * that any process publishes, and within 30 s in any case. Fails with `TooManyStreams` for a caller that has too many open in this process.
   */
  readonly hold: (right: StreamRight, ended: (reason: RightEnded) => void) => Effect.Effect<void, TooManyStreams, Scope.Scope>

  /** The values of a stream until it ends; fails with `RightEnded` when the right to it ends first. For callers without HTTP. */
  readonly values: <A, E, R>(input: Entitled<A, E, R>) => Stream.Stream<A, E | RightEnded | TooManyStreams, R>
}

const make = Effect.gen(function* () {
  const { streamsPerCaller } = yield* DeploymentOptions
  const held = new Bag<Holding>()
  const open = new Map<string, number>()
  const due = new Set<Holding>()
  const isDue = yield* Effect.makeLatch(false)
  const underway = new Set<unknown>()
  const places = yield* Effect.makeSemaphore(concurrency)
  const retryPlaces = yield* Effect.makeSemaphore(concurrency)
  const scope = yield* Effect.scope
  const clock = yield* Effect.clock
  /** Oldest first. An event that is undefined concerns every actor. */
  const recent: Array<{ readonly at: number; readonly event: RightsChange | undefined }> = []

  const remember = (event: RightsChange | undefined): void => {
    const at = clock.unsafeCurrentTimeMillis()
    const firstKept = recent.findIndex((change) => at - change.at < openingTime)
    recent.splice(0, firstKept < 0 ? recent.length : firstKept)
    if (recent.length >= maximumRecent) recent.splice(0, recent.length, { at, event: undefined })
    else recent.push({ at, event })
  }

  /** Whether a change of the last seconds may have ended a right. */
  const hasChanged = (right: StreamRight, now: number): boolean =>
    recent.some(({ at, event }) => now - at < openingTime && (event === undefined || concerns(event, right.actor, right)))

  const suspect = (holding: Holding): void => {
    due.add(holding)
    isDue.unsafeOpen()
  }

  const end = (holding: Holding, message: string): void => {
    if (held.delete(holding)) holding.end(new RightEnded({ message }))
  }

  /** Judges streams of one credential. A store that does not answer ends none: they are judged again a second later. */
  const judge = (holdings: ReadonlyArray<Holding>) =>
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
        // One permission that cannot be judged must not keep the others of the credential from it
        yield* Effect.forEach(abouts, (same) => Effect.catchAllCause(judgeSame(renewed.right, same, (same[0] ?? first).right), warn), {
          concurrency: permissionConcurrency,
          discard: true
        })
      })

      // A judgement that does not end when it is interrupted is left behind
      const bounded = Effect.timeout(Effect.disconnect(judgeAll), judgementTime).pipe(
        Effect.catchAllCause(warn),
        Effect.ensuring(
          Effect.sync(() => {
            for (const holding of left) holding.hasFailed = true
          })
        )
      )
      return (isRetry ? retryPlaces : places).withPermits(1)(bounded)
    })

  /**
   * Begins to judge the streams that are due, without waiting. A stream that becomes due while its credential is judged is judged again
   * afterwards.
   */
  const judgeDue = Effect.suspend(() => {
    isDue.unsafeClose()
    const free = [...due].filter((holding) => !underway.has(groupOf(holding)))
    return Effect.forEach(
      groupsOf(free, groupOf),
      (holdings) => {
        const [first] = holdings
        const group = first === undefined ? undefined : groupOf(first)
        underway.add(group)
        for (const holding of holdings) due.delete(holding)
        const leave = Effect.sync(() => {
          underway.delete(group)
          if (due.size > 0) isDue.unsafeOpen()
        })
        return Effect.forkIn(afterwards(Effect.ensuring(judge(holdings), leave)), scope)
      },
      { discard: true }
    )
  })

  const look = Effect.sync(() => {
    const now = clock.unsafeCurrentTimeMillis()
    for (const holding of held) {
      if (underway.has(groupOf(holding))) continue
      const expiresAt = holding.actor.credential?.expiresAt
      const hasExpired = expiresAt !== undefined && expiresAt < now
      if (holding.hasFailed || hasExpired || now - holding.judgedAt >= recheckAfter) suspect(holding)
    }
  })

  yield* listen(rightsChanges, (delivery) => {
    remember(delivery._tag === "Lost" ? undefined : delivery.event)
    for (const holding of held) if (delivery._tag === "Lost" || concerns(delivery.event, holding.actor, holding.right)) suspect(holding)
  })
  yield* Background.repeat("judging_streams", Effect.zipRight(isDue.await, judgeDue))
  yield* Background.repeat("looking_at_streams", Effect.delay(look, "1 second"))

  const begin = (right: StreamRight, ended: (reason: RightEnded) => void) =>
    Effect.suspend(() => {
      const caller = callerOf(right.actor)
      const count = open.get(caller) ?? 0
      if (count >= streamsPerCaller) {
        return new TooManyStreams({ message: `A caller may have at most ${streamsPerCaller} open streams.` })
      }
      open.set(caller, count + 1)
      const now = clock.unsafeCurrentTimeMillis()
      const holding: Holding = { right, end: ended, actor: right.actor, judgedAt: now, hasFailed: false, place: -1 }
      held.add(holding)
      if (hasChanged(right, now)) suspect(holding)
      return Effect.succeed(holding)
    })

  const release = (holding: Holding) =>
    Effect.sync(() => {
      held.delete(holding)
      due.delete(holding)
      const caller = callerOf(holding.right.actor)
      const left = (open.get(caller) ?? 1) - 1
      if (left === 0) open.delete(caller)
      else open.set(caller, left)
    })

  const hold = (right: StreamRight, ended: (reason: RightEnded) => void): Effect.Effect<void, TooManyStreams, Scope.Scope> =>
    Effect.uninterruptible(
      Effect.flatMap(Effect.scope, (scope) => Effect.flatMap(begin(right, ended), (holding) => Scope.addFinalizer(scope, release(holding))))
    )

  return {
    hold,

    values: <A, E, R>({ right, values }: Entitled<A, E, R>): Stream.Stream<A, E | RightEnded | TooManyStreams, R> =>
      Stream.unwrapScoped(
        Effect.gen(function* () {
          const over = yield* Deferred.make<never, RightEnded>()
          yield* hold(right, (reason) => Deferred.unsafeDone(over, reason))
          return Stream.interruptWhenDeferred(values, over)
        })
      )
  }
})

/** Holds the rights to every open stream of this process. */
export class StreamRights extends Context.Tag("@atelier/core/StreamRights")<StreamRights, StreamRightsService>() {
  static readonly layer: Layer.Layer<StreamRights, never, EventBus> = service(StreamRights, make)
}
