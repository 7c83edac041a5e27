import { type User, UserRepository } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp } from "@atelier/core/platform"
import { Effect } from "effect"
import { aUser, anOrganization } from "../../../../../test/records/builders.js"
import { aStoredKey } from "../../../../../test/records/keys.js"

/** A key of a user that was used a minute ago. */
const aKey = (user: User, token_name: string) =>
  aStoredKey(user, (now) => ({ login_type: "token", token_name, last_used: Timestamp.minus(now, "1 minute") }))

/** A member of an organization, and a key of theirs. */
export const aSession = Effect.gen(function* () {
  const user = yield* aUser()
  const organization = yield* anOrganization()
  const created_at = yield* Timestamp.now
  yield* (yield* UserRepository).insert(user, null)
  yield* (yield* OrganizationRepository).insert(organization)
  yield* (yield* OrganizationRepository).addMember({ organization_id: organization.id, user_id: user.id, roles: [], created_at })
  return { user, organization, ...(yield* aKey(user, "ci")) }
})

/** The id of another key of a user. */
export const anotherSession = (user: User) => Effect.map(aKey(user, "other"), ({ id }) => id)
