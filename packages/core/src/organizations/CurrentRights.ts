/** The rights that an actor still has when its change is written. */
import { Effect, Option } from "effect"
import { CurrentActor } from "../access/actors/Actor.js"
import { unrestrictedAllowList } from "../access/scopes/AllowList.js"
import { allScope } from "../access/scopes/Scope.js"
import { buildSubject, type Subject, type SubjectInput, subjectOf } from "../access/actors/Subject.js"
import { Forbidden } from "../platform/Errors.js"
import type { RightsRepository } from "./RightsRepository.js"

/** Returns the subject reduced to the roles that its user still holds, with their current permissions. */
const withCurrentRoles = (subject: Subject, stored: Omit<SubjectInput, "scopes" | "allowList" | "options">): Subject => {
  const present = buildSubject({ ...stored, scopes: [allScope], allowList: unrestrictedAllowList, options: subject.options })
  const roles = present.roles.filter(({ organizationId, role }) =>
    subject.roles.some((held) => held.role.name === role.name && held.organizationId === organizationId)
  )
  return subjectOf({ ...subject, roles })
}

/**
 * Runs a change behind a lock, for actors that `permit` allows. The check runs before the lock, so that a refused caller does not block
 * others, and again behind it with the actor's current rights (`withCurrentRights`).
 */
export const permitted =
  (rights: RightsRepository["Type"]) =>
  <A, L, E1, E2, E3, R1, R2, R3>(
    permit: Effect.Effect<void, E1, R1>,
    lock: Effect.Effect<L, E2, R2>,
    change: (locked: L) => Effect.Effect<A, E3, R3>
  ): Effect.Effect<A, E1 | E2 | E3 | Forbidden, R1 | R2 | R3 | CurrentActor> =>
    Effect.flatMap(Effect.zipRight(permit, lock), (locked) => withCurrentRights(rights)(Effect.zipRight(permit, change(locked))))

/**
 * Runs a change of permissions with the rights that the actor had when it was authenticated and still has: if two administrators take each
 * other's rights concurrently, the second one is refused. Call it in the transaction of the change, behind the lock of the object that the
 * rights apply to. Fails with `Forbidden` for a user who has been deleted or suspended.
 */
export const withCurrentRights =
  (rights: RightsRepository["Type"]) =>
  <A, E, R>(change: Effect.Effect<A, E, R>): Effect.Effect<A, E | Forbidden, R | CurrentActor> =>
    Effect.gen(function* () {
      const actor = yield* CurrentActor
      // System actors have fixed rights
      if (actor.subject.kind === "system") return yield* change
      const stored = yield* rights.lock(actor.userId)
      if (Option.isNone(stored)) return yield* new Forbidden()
      return yield* Effect.provideService(change, CurrentActor, { ...actor, subject: withCurrentRoles(actor.subject, stored.value) })
    })
