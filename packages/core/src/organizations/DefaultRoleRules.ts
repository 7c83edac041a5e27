/** Which roles an organization may give each of its members. */
import { Effect } from "effect"
import { CurrentActor } from "../access/actors/Actor.js"
import { roleChangeRefusal } from "../access/roles/Assignment.js"
import { organizationRole } from "../access/roles/Roles.js"
import { Forbidden, Invalid } from "../platform/Errors.js"
import type { Organization } from "./Organization.js"

/** Fails unless the names are of roles that every member can have, and the actor may give and take those that change. */
export const requireDefaultRoles = (before: Organization, after: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const field = "default_org_member_roles"
    const unknown = after.find((name) => organizationRole(name) === undefined)
    if (unknown !== undefined) {
      return yield* Invalid.field(field, `${JSON.stringify(unknown.slice(0, 64))} is not a built-in role of organizations`)
    }
    const { subject } = yield* CurrentActor
    const refusal = roleChangeRefusal(subject, { before: before.default_org_member_roles, after, organizationId: before.id })
    if (refusal === null) return
    if (refusal._tag === "NotPermitted") return yield* new Forbidden()
    return yield* new Forbidden({ message: "You may not give or take these roles.", detail: refusal.roles.join(", ") })
  })
