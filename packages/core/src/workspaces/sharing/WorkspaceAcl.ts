/** With whom a workspace is shared. workspaces.md §7.1. */
import { Schema } from "effect"
import { type RoleActions, roleIn } from "../../access/AclRoles.js"
import { actionsOf } from "../../access/Resource.js"

/** Actions by user id, or by group id. */
export const WorkspaceAcl = Schema.Record({ key: Schema.String, value: Schema.Array(Schema.String) })
export type WorkspaceAcl = typeof WorkspaceAcl.Type

/** `""` stands for a set of actions that is not a role's. */
export const WorkspaceRole = Schema.Literal("admin", "use", "")
export type WorkspaceRole = typeof WorkspaceRole.Type

/** The actions of each role. */
export const workspaceRoleActions: RoleActions<Exclude<WorkspaceRole, "">> = {
  use: ["read", "ssh", "application_connect", "start", "stop"],
  admin: actionsOf("workspace").filter((action) => action !== "delete")
}

/** The role whose actions these are. */
export const workspaceRoleOf = (actions: ReadonlyArray<string>): WorkspaceRole => roleIn(workspaceRoleActions, actions)
