/** The roles of users and groups on a template. templates-and-provisioning.md §2.5. */
import { Schema } from "effect"
import type { RoleActions } from "../../access/AclRoles.js"
import type { Uuid } from "../../platform/texts/Uuid.js"

/** Actions by user id, or by group id. */
export const TemplateAcl = Schema.Record({ key: Schema.String, value: Schema.Array(Schema.String) })
export type TemplateAcl = typeof TemplateAcl.Type

/** The actions of the role `use`. */
export const useActions: ReadonlyArray<string> = ["read", "use"]

/** `""` stands for a set of actions that is not a role's. */
export const TemplateRole = Schema.Literal("admin", "use", "")
export type TemplateRole = typeof TemplateRole.Type

/** The actions of each role. */
export const templateRoleActions: RoleActions<Exclude<TemplateRole, "">> = { use: useActions, admin: ["*"] }

/** The group ACL of a new template: every member of the organization may use it. The Everyone group has the organization's id. */
export const everyoneMayUse = (organizationId: Uuid): TemplateAcl => ({ [organizationId]: useActions })

/** A group ACL without the entry of the organization's Everyone group. */
export const withoutEveryone = (acl: TemplateAcl, organizationId: Uuid): TemplateAcl =>
  Object.fromEntries(Object.entries(acl).filter(([id]) => id !== organizationId))
