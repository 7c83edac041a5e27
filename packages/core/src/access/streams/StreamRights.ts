/**
 * The right to a stream, for as long as the stream is open. Opening a stream is authorized like any call. After that, the credential and
 * the permission are judged again after every change that may have ended either, when the credential expires, and every 20 seconds.
 */
import { Context, Data, Deferred, Effect, type Layer, Scope, Stream } from "effect"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import * as Background from "../../platform/background/Background.js"
import { startUnlessManual } from "../../platform/background/BackgroundWork.js"
import { turnAfterStarted } from "../../platform/background/Turns.js"
import { type EventBus, listen } from "../../platform/events/EventBus.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { type Actor, type CommonRenewal, CurrentActor, isAnonymous } from "../actors/Actor.js"
import * as ReadWithActor from "../actors/ReadWithActor.js"
import { CheckRecorder } from "../decisions/CheckRecorder.js"
import { rightsChanges } from "./RightsChanges.js"
import { service } from "../../platform/wiring/Standing.js"
import { afterwards } from "../../platform/store/Transactor.js"
import { type DueGroup, DueRights } from "./DueRights.js"
import { type Holding, rightJudgement } from "./RightJudgement.js"
import { HeldRights } from "./HeldRights.js"
import { recentChanges } from "./RecentChanges.js"

/** The caller may no longer have the stream: the credential or the permission has ended. */
export class RightEnded extends Data.TaggedError("RightEnded")<{ readonly message: string }> {}

/** The caller has as many streams open as one caller may. */
export class TooManyStreams extends Data.TaggedError("TooManyStreams")<{ readonly message: string }> {}

/** An object that an actor's right is about. */
export interface AskedRight {
  readonly actor: Actor
  readonly objectId: Uuid
}

/** Judges rights of one kind, of any actors, in one read. Returns how each of them fails, if it does. */
export type CommonJudgement = (
  asked: ReadonlyArray<AskedRight>
) => Effect.Effect<(asked: AskedRight) => { readonly message: string } | undefined>

/** An actor's right to a stream. Made by `rightTo` only, so a stream without a permission check does not compile. */
export class StreamRight {
  constructor(
    readonly actor: Actor,
    /** The subject of the permission; checks of equal actors with equal subjects have equal outcomes. */
    readonly about: string,
    readonly permission: (actor: Actor) => Effect.Effect<unknown, { readonly message: string }>,
    /** The workspace whose changes may end the right; undefined if only those of the actor may. */
    readonly workspaceId?: Uuid,
    /** How it is judged together with others, as `permission` judges it; by its object. */
    readonly together?: CommonJudgement,
    readonly objectId?: Uuid
  ) {}

  /** The same right, which changes of a workspace may end too. */
  within(workspaceId: Uuid): StreamRight {
    return new StreamRight(this.actor, this.about, this.permission, workspaceId, this.together, this.objectId)
  }

  /** The same right, which is judged together with others. */
  judgedBy(together: CommonJudgement, objectId: Uuid): StreamRight {
    return new StreamRight(this.actor, this.about, this.permission, this.workspaceId, together, objectId)
  }
}

/** A stream, with the right to it. */
export interface Entitled<A, E = never, R = never> {
  readonly right: StreamRight
  readonly values: Stream.Stream<A, E, R>
}

/**
 * Judges the permission that a stream needs, and answers its outcome with the right to the stream. `about` names the permission and the object:
 * it is judged once for all streams of one credential with the same name. `permission` makes the judgement each time: one that is made beforehand keeps its
 * statements as long as the stream is open. Fails as the permission does.
 */
export const rightTo = <A, E extends { readonly message: string }>(
  about: string,
  permission: () => Effect.Effect<A, E, CurrentActor>
): Effect.Effect<readonly [StreamRight, A], E, CurrentActor> =>
  Effect.gen(function* () {
    const granted = yield* permission()
    const opener = yield* CurrentActor
    ReadWithActor.forget(opener)
    // Without the services of the request that opens the stream, which it would keep. Of those of what judges it, only those that have a default value and that permissions ask: a
    // map of hundreds would be copied for each judgement
    const right = new StreamRight(opener, about, (actor) =>
      Effect.mapInputContext<A, E, CurrentActor, never>(Effect.suspend(permission), (judging) =>
        Context.make(CurrentActor, actor).pipe(
          Context.add(CheckRecorder, null),
          Context.add(DeploymentOptions, Context.get(judging, DeploymentOptions)),
          Context.add(Entitlements, Context.get(judging, Entitlements))
        )
      )
    )
    return [right, granted] as const
  })

/** Judges a permission as `rightTo` does, for a stream to an object of a workspace: changes of that workspace may end the right too. */
export const rightWithin = <A extends { readonly workspace_id: Uuid }, E extends { readonly message: string }>(
  about: string,
  permission: () => Effect.Effect<A, E, CurrentActor>
): Effect.Effect<readonly [StreamRight, A], E, CurrentActor> =>
  Effect.map(rightTo(about, permission), ([right, granted]) => [right.within(granted.workspace_id), granted] as const)

/** Milliseconds after which a right is judged again without an event: with the time that judging takes, no stream outlives its right by 30 s. */
const recheckAfter = 20_000

/** Credentials whose judgement begins before other work of the process has its turn. */
const withoutPause = 8

/** Credentials judged at once, and as many of those that could not be judged the last time. */
const concurrency = 8

/** Credentials of one kind judged together in the place of one. */
const judgedTogether = 32

/** Equal for streams of one credential; undefined where that cannot be known. */
const credentialOf = ({ agentId, apiKeyId, credential }: Actor): string | undefined =>
  apiKeyId !== undefined ? `key:${apiKeyId}` : agentId !== undefined ? `agent:${agentId}:${credential?.name ?? ""}` : undefined

/** Equal for holdings that are judged together. */
const groupOf = (holding: Holding): unknown => credentialOf(holding.right.actor) ?? holding

const callerOf = (actor: Actor): string => (isAnonymous(actor) ? `anonymous:${actor.ip ?? ""}` : (actor.agentId ?? actor.userId))

/** How the credentials of a group are renewed together with others; undefined where each is renewed alone. */
const renewalOf = ({ holdings }: DueGroup): CommonRenewal | undefined => {
  const [first] = holdings
  return first?.actor.credential?.together
}

/** A right that is kept. */
export interface HeldRight {
  /**
   * Keeps another right to the stream in its place, from now on: what is found out about the former ends nothing any more. The stream has to end
   * where this fails.
   */
  readonly replace: (right: StreamRight) => Effect.Effect<void, TooManyStreams>
}

/** The methods of {@link StreamRights}. */
export interface StreamRightsService {
  /**
   * Keeps the right to a stream from now on until the scope closes, and calls `ended` once, when it has ended: within a second of a change
   * that any process publishes, and within 30 s in any case. Fails with `TooManyStreams` for a caller that has too many open in this process.
   */
  readonly hold: (right: StreamRight, ended: (reason: RightEnded) => void) => Effect.Effect<HeldRight, TooManyStreams, Scope.Scope>

  /** Keeps the right in the same way without an effect, until the function that it returns is called. Returns the refusal in its place. */
  readonly begin: (right: StreamRight, ended: (reason: RightEnded) => void) => (() => void) | TooManyStreams

  /** The values of a stream until it ends; fails with `RightEnded` when the right to it ends first. For callers without HTTP. */
  readonly values: <A, E, R>(input: Entitled<A, E, R>) => Stream.Stream<A, E | RightEnded | TooManyStreams, R>
}

const make = Effect.gen(function* () {
  const { streamsPerCaller } = yield* DeploymentOptions
  const held = new HeldRights()
  const open = new Map<string, number>()
  const due = new DueRights(groupOf, concurrency)
  const isDue = yield* Effect.makeLatch(false)
  const scope = yield* Effect.scope
  const clock = yield* Effect.clock

  const suspect = (holding: Holding, isStale: boolean): void => {
    due.add(holding, isStale)
    isDue.unsafeOpen()
  }

  const end = (holding: Holding, message: string): void => {
    if (held.delete(holding)) holding.end(new RightEnded({ message }))
  }

  const { judge } = rightJudgement({ end })

  /** Judgements begun so far, in all turns of the work: where one place is free, each turn begins one. */
  let begun = 0

  /**
   * Begins to judge the streams that are due, as many as there are places, without waiting for the judgements. The end of each begins the next. A stream that
   * becomes due while its credential is judged is judged again afterwards. A store in the same process answers at once: other work of the process waits for as
   * many credentials as are judged without a pause.
   */
  const judgeDue = Effect.gen(function* () {
    isDue.unsafeClose()
    for (;;) {
      const taken = due.take()
      if (taken === undefined) return
      const renewal = renewalOf(taken)
      const beside = renewal === undefined ? [] : due.takeBeside(taken, (next) => renewalOf(next) === renewal, judgedTogether - 1)
      const leave = Effect.sync(() => {
        if (due.leave(taken, beside)) isDue.unsafeOpen()
      })
      const credentials = [taken, ...beside].map(({ holdings }) => [...holdings])
      yield* Effect.forkIn(afterwards(Effect.ensuring(judge(credentials), leave)), scope)
      if (++begun % withoutPause === 0 || beside.length > 0) yield* turnAfterStarted
    }
  })

  const look = Effect.sync(() => {
    const now = clock.unsafeCurrentTimeMillis()
    for (const holding of held) {
      const expiresAt = holding.actor.credential?.expiresAt
      const hasExpired = expiresAt !== undefined && expiresAt < now
      const isStale = holding.hasFailed || Math.abs(now - holding.judgedAt) >= recheckAfter
      if ((isStale || hasExpired) && !due.isUnderway(holding)) suspect(holding, !hasExpired)
    }
    held.tidy()
  })

  const { remember, hasChanged } = recentChanges({ clock })

  yield* listen(rightsChanges, (delivery) => {
    remember(delivery._tag === "Lost" ? undefined : delivery.event)
    for (const holding of held.concernedBy(delivery._tag === "Lost" ? undefined : delivery.event)) suspect(holding, false)
  })
  yield* Background.repeat("judging_streams", Effect.zipRight(isDue.await, judgeDue))
  yield* startUnlessManual("looking_at_streams", look, Background.repeat("looking_at_streams", Effect.delay(look, "1 second")))

  const begin = (right: StreamRight, ended: (reason: RightEnded) => void): Holding | TooManyStreams => {
    const caller = callerOf(right.actor)
    const count = open.get(caller) ?? 0
    if (count >= streamsPerCaller) {
      return new TooManyStreams({ message: `A caller may have at most ${streamsPerCaller} open streams.` })
    }
    open.set(caller, count + 1)
    const now = clock.unsafeCurrentTimeMillis()
    const holding: Holding = { right, end: ended, actor: right.actor, judgedAt: now, hasFailed: false, place: -1, entries: [] }
    held.add(holding)
    if (hasChanged(right, now)) suspect(holding, false)
    return holding
  }

  const release = (holding: Holding): void => {
    held.delete(holding)
    due.delete(holding)
    const caller = callerOf(holding.right.actor)
    const left = (open.get(caller) ?? 1) - 1
    if (left === 0) open.delete(caller)
    else open.set(caller, left)
  }

  // One step: each request to an app takes it
  const hold = (right: StreamRight, ended: (reason: RightEnded) => void): Effect.Effect<HeldRight, TooManyStreams, Scope.Scope> =>
    Effect.uninterruptible(
      Effect.flatMap(Effect.scope, (scope): Effect.Effect<HeldRight, TooManyStreams> => {
        const begun = begin(right, ended)
        if (begun instanceof TooManyStreams) return begun
        let holding: Holding | undefined = begun
        const leave = (): void => {
          if (holding !== undefined) release(holding)
          holding = undefined
        }
        const replace = (next: StreamRight): Effect.Effect<void, TooManyStreams> =>
          Effect.suspend(() => {
            leave()
            const after = begin(next, ended)
            if (after instanceof TooManyStreams) return after
            holding = after
            return Effect.void
          })
        return Effect.as(Scope.addFinalizer(scope, Effect.sync(leave)), { replace })
      })
    )

  return {
    hold,

    begin: (right: StreamRight, ended: (reason: RightEnded) => void) => {
      const holding = begin(right, ended)
      if (holding instanceof TooManyStreams) return holding
      let isHeld = true
      return () => {
        if (isHeld) release(holding)
        isHeld = false
      }
    },

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
