/** Records for tests, complete and valid; a test names the fields it asserts on. */
import { Ids, Timestamp } from "@atelier/core/platform"
import type { Organization } from "@atelier/core/organizations"
import type { User } from "@atelier/core/identity"
import { Effect } from "effect"

/** An active user with a password login. */
export const aUser = (fields: Partial<User> = {}) =>
  Effect.gen(function* () {
    const ids = yield* Ids
    const id = fields.id ?? (yield* ids.next)
    const now = yield* Timestamp.now
    const user: User = {
      id,
      email: `${id}@example.com`,
      username: `user-${id.slice(-12)}`,
      name: "",
      avatar_url: "",
      status: "active",
      login_type: "password",
      rbac_roles: [],
      created_at: now,
      updated_at: now,
      last_seen_at: Timestamp.never,
      deleted: false,
      is_system: false,
      is_service_account: false,
      theme_preference: "",
      quiet_hours_schedule: "",
      ...fields
    }
    return user
  })

/** An organization that is not the default one. */
export const anOrganization = (fields: Partial<Organization> = {}) =>
  Effect.gen(function* () {
    const ids = yield* Ids
    const id = fields.id ?? (yield* ids.next)
    const now = yield* Timestamp.now
    const organization: Organization = {
      id,
      name: `org-${id.slice(-12)}`,
      display_name: "",
      description: "",
      icon: "",
      created_at: now,
      updated_at: now,
      is_default: false,
      deleted: false,
      default_org_member_roles: ["organization-workspace-access"],
      shareable_workspace_owners: "everyone",
      ...fields
    }
    return organization
  })
