import { unrestrictedAllowList } from "@atelier/core/access"
import { ApiKeyRepository, newApiKey, newCredential, type User, UserRepository } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp } from "@atelier/core/platform"
import { Duration, Effect } from "effect"
import { aUser, anOrganization } from "../../../../../test/records/builders.js"

/** A key of a user that was used a minute ago. */
const aKey = (user: User, token_name: string) =>
  Effect.gen(function* () {
    const now = yield* Timestamp.now
    const { hashedSecret, id, key } = yield* newCredential
    const stored = newApiKey(
      {
        id,
        user_id: user.id,
        login_type: "token",
        ip: "",
        token_name,
        scopes: ["coder:all"],
        allow_list: unrestrictedAllowList,
        lifetime: Duration.hours(24)
      },
      now
    )
    yield* (yield* ApiKeyRepository).insert({ ...stored, last_used: Timestamp.minus(now, "1 minute") }, hashedSecret)
    return { id, key }
  })

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
