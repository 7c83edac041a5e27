import { unrestrictedAllowList } from "@atelier/core/access"
import { ApiKeyRepository, newApiKey, newCredential, UserRepository } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp } from "@atelier/core/platform"
import { Duration, Effect } from "effect"
import { aUser, anOrganization } from "../../../../../test/records/builders.js"

/** A member of an organization, and a key of theirs that was used a minute ago. */
export const aSession = Effect.gen(function* () {
  const user = yield* aUser()
  const organization = yield* anOrganization()
  const now = yield* Timestamp.now
  const { hashedSecret, id, key } = yield* newCredential
  const stored = newApiKey(
    {
      id,
      user_id: user.id,
      login_type: "token",
      ip: "",
      token_name: "ci",
      scopes: ["coder:all"],
      allow_list: unrestrictedAllowList,
      lifetime: Duration.hours(24)
    },
    now
  )
  yield* (yield* UserRepository).insert(user, null)
  yield* (yield* OrganizationRepository).insert(organization)
  yield* (yield* OrganizationRepository).addMember({ organization_id: organization.id, user_id: user.id, roles: [], created_at: now })
  yield* (yield* ApiKeyRepository).insert({ ...stored, last_used: Timestamp.minus(now, "1 minute") }, hashedSecret)
  return { user, organization, id, key }
})
