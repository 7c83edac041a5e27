import { Effect, Either } from "effect"
import { OrganizationRepository } from "../../organizations/OrganizationRepository.js"
import { Invalid } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { User } from "../users/User.js"
import { type Claims, claimValues, organizationsFrom } from "./ClaimSync.js"
import { IdpSyncInForce } from "./IdpSyncInForce.js"
import { LoginSyncRepository } from "./LoginSyncRepository.js"
import { makeSyncTrail } from "./SyncTrail.js"

/** Makes the user a member of what follows from its claims, and of nothing else.*/
export const makeOrganizationSync = Effect.gen(function* () {
  const repository = yield* LoginSyncRepository
  const organizations = yield* OrganizationRepository
  const inForce = yield* IdpSyncInForce
  const { recordMembership } = yield* makeSyncTrail

  return (user: User, claims: Claims) =>
    Effect.gen(function* () {
      const settings = yield* inForce.organizations
      if (!inForce.isOn("organization", settings)) return
      const values = claimValues(claims, settings.field)
      if (Either.isLeft(values)) return yield* new Invalid({ message: values.left.reason })
      const { id: defaultId } = yield* Effect.flatMap(organizations.default, Effect.orDie)
      const wanted = new Set(yield* repository.lockOrganizations([...organizationsFrom(values.right, settings, defaultId)]))
      const before = yield* repository.memberships(user.id)
      const left = before.filter(({ organization_id }) => !wanted.has(organization_id))
      for (const { organization_id } of before) wanted.delete(organization_id)
      if (left.length > 0) {
        yield* repository.leave(
          user.id,
          left.map(({ organization_id }) => organization_id)
        )
        yield* Effect.forEach(left, (membership) => recordMembership(user, membership, undefined), { discard: true })
      }
      if (wanted.size > 0) {
        yield* repository.join(user.id, [...wanted], yield* Timestamp.now)
        const after = yield* repository.memberships(user.id)
        const joined = after.filter(({ organization_id }) => wanted.has(organization_id))
        yield* Effect.forEach(joined, (membership) => recordMembership(user, undefined, membership), { discard: true })
      }
    })
})
