import { Context, Effect, Option } from "effect"
import { Invalid, type Validation } from "../../platform/Errors.js"
import { mapInTurns } from "../../platform/background/Turns.js"
import { parse, type Uuid } from "../../platform/texts/Uuid.js"
import { CurrentActor } from "../actors/Actor.js"
import { authcheck, type AuthorizationCheck, type FetchableType, isFetchableType, maxFetchingChecks } from "./Authcheck.js"
import { judge, judgeWithPrebuilt } from "../decisions/Decision.js"
import { FetchableObjects } from "./FetchableObjects.js"
import { service } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"

/** A check as it is judged: of a stored object, or of one that the caller describes. */
interface PlannedCheck {
  readonly key: string
  readonly check: AuthorizationCheck
  readonly stored?: { readonly type: FetchableType; readonly id: Uuid }
}

/** Checks that are answered before others have their turn: each may take a quarter of a millisecond. */
const checksPerTurn = 50

/** The methods of {@link AccessChecks}. */
export interface AccessChecksService {
  /**
   * Answers each check under its key: whether the actor may do it, with the credential in use. A check that names a stored object is
   * judged by its stored state, and is false if the actor may not read it. Fails with `Invalid` for a check without a type, for an
   * invalid id or one of a type that cannot be fetched, and for more than ten checks of stored objects. authorization.md §5.
   */
  readonly answer: (checks: Readonly<Record<string, AuthorizationCheck>>) => Effect.Effect<{ [k: string]: boolean }, Invalid, CurrentActor>
}

const make = Effect.gen(function* () {
  const find = yield* FetchableObjects

  return {
    answer: Traced.fn("AccessChecks.answer")(function* (checks: Readonly<Record<string, AuthorizationCheck>>) {
      const { subject } = yield* CurrentActor
      const planned = yield* plan(checks)
      const wanted = new Map(planned.flatMap(({ stored }) => (stored === undefined ? [] : [[`${stored.type}:${stored.id}`, stored]])))
      const objects = new Map(
        yield* Effect.forEach(wanted, ([name, { id, type }]) =>
          Effect.map(find[type](id), (found) => [name, Option.getOrUndefined(found)] as const)
        )
      )
      const answers = yield* mapInTurns(planned, checksPerTurn, ({ check, key, stored }): readonly [string, boolean] => {
        if (stored === undefined) return [key, authcheck(subject, check)]
        const object = objects.get(`${stored.type}:${stored.id}`)
        return [key, object !== undefined && judgeWithPrebuilt(subject, "read", object) && judge(subject, check.action, object)]
      })
      return Object.fromEntries(answers)
    })
  }
})

const plan = (checks: Readonly<Record<string, AuthorizationCheck>>): Effect.Effect<ReadonlyArray<PlannedCheck>, Invalid> => {
  const violations: Array<Validation> = []
  const planned = Object.entries(checks).map(([key, check]): PlannedCheck => {
    const { resource_id, resource_type } = check.object
    if (resource_type === "") violations.push({ field: "resource_type", detail: `is required in the check "${key}"` })
    if (resource_id === undefined || resource_id === "") return { key, check }
    const id = parse(resource_id)
    if (id === undefined) violations.push({ field: "resource_id", detail: `must be a UUID in the check "${key}"` })
    if (!isFetchableType(resource_type)) {
      violations.push({ field: "resource_type", detail: `must be a type whose objects can be named by id in the check "${key}"` })
      return { key, check }
    }
    return id === undefined ? { key, check } : { key, check, stored: { type: resource_type, id } }
  })
  if (violations.length > 0) return new Invalid({ message: "Validation failed.", validations: violations.slice(0, maximumViolations) })
  return planned.filter(({ stored }) => stored !== undefined).length > maxFetchingChecks
    ? new Invalid({ message: `At most ${maxFetchingChecks} checks of a request may name a resource_id.` })
    : Effect.succeed(planned)
}

/** Violations that one refusal lists. */
const maximumViolations = 100

/** A caller's questions about what it may do. */
export class AccessChecks extends Context.Tag("@atelier/core/AccessChecks")<AccessChecks, AccessChecksService>() {
  static readonly layer = service(AccessChecks, make)
}
