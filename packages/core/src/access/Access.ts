/** How services ask: every use case authorizes its actor here before it reads or writes. authorization.md §4. */
import { Context, Effect } from "effect"
import { Forbidden, NotFound } from "../platform/Errors.js"
import { type AccessPredicate, listPredicate } from "./decisions/AccessPredicate.js"
import { type Actor, CurrentActor, withActor } from "./actors/Actor.js"
import { isEntrusted } from "./scopes/AppScope.js"
import { CheckRecorder } from "./decisions/CheckRecorder.js"
import { decide, permits } from "./decisions/Decision.js"
import { type AccessObject, type Action, type ActionOn, requireAction, type ResourceType } from "./Resource.js"

/**
 * Whether the actor may do the action to the object. An action that does not exist on the object's type is a defect, in all functions of this
 * module.
 */
export const can = <Type extends ResourceType>(
  action: ActionOn<Type>,
  object: AccessObject<Type>
): Effect.Effect<boolean, never, CurrentActor> => judged(permits, action, object)

/** As `can`, without the second chance of prebuilt workspaces: for what their keepers may not change. */
export const canAsWorkspace = <Type extends ResourceType>(
  action: ActionOn<Type>,
  object: AccessObject<Type>
): Effect.Effect<boolean, never, CurrentActor> => judged(decide, action, object)

const judged = <Type extends ResourceType>(
  rule: typeof permits,
  action: ActionOn<Type>,
  object: AccessObject<Type>
): Effect.Effect<boolean, never, CurrentActor> =>
  withActor(({ subject }, context) => {
    const allowed = rule(subject, action, object)
    Context.get(context, CheckRecorder)?.record(action, object, allowed)
    return Effect.succeed(allowed)
  })

/** Fails with `Forbidden` unless the actor may do the action: for objects whose existence is no secret to the actor. */
export const authorize = <Type extends ResourceType>(
  action: ActionOn<Type>,
  object: AccessObject<Type>
): Effect.Effect<void, Forbidden, CurrentActor> =>
  Effect.flatMap(can(action, object), (allowed) => (allowed ? Effect.void : refusal(action, object)))

const appRefused = new Forbidden({ message: "A token of an app cannot do this. Sign in to do it yourself." })

/** Tells the user of an app that another credential is needed. */
const refusal = (action: Action, { type }: AccessObject): Effect.Effect<never, Forbidden, CurrentActor> =>
  Effect.flatMap(CurrentActor, ({ isApp }) => (isApp === true && isEntrusted(action, type) ? appRefused : new Forbidden()))

/**
 * Fails with `Forbidden` for a token of an OAuth2 app, for what no scope names: a credential or a right must not outlive the consent that it came
 * from.
 */
export const refuseApps: Effect.Effect<void, Forbidden, CurrentActor> = Effect.flatMap(CurrentActor, ({ isApp }) =>
  isApp === true ? appRefused : Effect.void
)

/** Fails with `NotFound` unless the actor may do the action: for operations that refuse as if the object did not exist. */
export const authorizeOrHide = <Type extends ResourceType>(
  action: ActionOn<Type>,
  object: AccessObject<Type>,
  notFound?: NotFound
): Effect.Effect<void, NotFound, CurrentActor> =>
  // An error costs more than a decision: it is made when there is one
  Effect.flatMap(can(action, object), (allowed) => (allowed ? Effect.void : (notFound ?? missing(object))))

/** Fails with `NotFound` unless the actor may read the object. */
export const readable = (object: AccessObject, notFound?: NotFound): Effect.Effect<void, NotFound, CurrentActor> =>
  authorizeOrHide("read", object, notFound)

/** Fails unless the actor may do the action: with `Forbidden` when the actor may at least read the object, else with `NotFound`. */
export const authorizeWrite = <Type extends ResourceType>(
  action: ActionOn<Type>,
  object: AccessObject<Type>,
  notFound?: NotFound
): Effect.Effect<void, Forbidden | NotFound, CurrentActor> =>
  Effect.gen(function* () {
    if (yield* can(action, object)) return
    yield* readable(object, notFound)
    return yield* refusal(action, object)
  })

/** The row when it exists and the actor may read it; the same `NotFound` in both other cases. */
export const visible = <A>(
  row: A | null | undefined,
  objectOf: (row: A) => AccessObject,
  notFound: NotFound
): Effect.Effect<A, NotFound, CurrentActor> =>
  row === null || row === undefined ? Effect.fail(notFound) : Effect.as(readable(objectOf(row), notFound), row)

/** The rows the actor may do the action to, for lists that are already in memory. Stored lists are filtered by `predicate`. */
export const filter = <A, Type extends ResourceType>(
  action: ActionOn<Type>,
  rows: ReadonlyArray<A>,
  objectOf: (row: A) => AccessObject<Type>
): Effect.Effect<ReadonlyArray<A>, never, CurrentActor> =>
  withActor(({ subject }) => Effect.succeed(rows.filter((row) => permits(subject, action, objectOf(row)))))

/** The condition that a store adds to a query, so that only objects come back to which the actor may do the action. */
export const predicate = <Type extends ResourceType>(
  action: ActionOn<Type>,
  type: Type
): Effect.Effect<AccessPredicate, never, CurrentActor> =>
  Effect.map(CurrentActor, ({ subject }) => {
    requireAction(action, type)
    return listPredicate(subject, action, type)
  })

/** Runs an effect as another actor, such as one of `SystemActor`. */
export const actingAs =
  (actor: Actor) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, CurrentActor>> =>
    Effect.provideService(effect, CurrentActor, actor)

/** A dormant workspace is reported as a missing workspace. */
const missing = ({ type }: AccessObject): NotFound => new NotFound({ resource: type === "workspace_dormant" ? "workspace" : type })
