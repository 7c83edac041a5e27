/** Records for tests, complete and valid; a test names the fields it asserts on. */
import { Ids, Timestamp } from "@atelier/core/platform"
import type { Organization } from "@atelier/core/organizations"
import { newUser, type User } from "@atelier/core/identity"
import { Effect } from "effect"

/** An active user with a password login. */
export const aUser = (fields: Partial<User> = {}) =>
  Effect.gen(function* () {
    const ids = yield* Ids
    const id = fields.id ?? (yield* ids.next)
    const now = yield* Timestamp.now
    const required = {
      email: `${id}@example.com`,
      username: `user-${id.slice(-12)}`,
      name: "",
      status: "active",
      login_type: "password"
    } as const
    return newUser({ ...required, ...fields, id }, now)
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
