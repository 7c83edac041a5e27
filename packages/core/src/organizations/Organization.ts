import { Schema } from "effect"
import { NotFound } from "../platform/Errors.js"
import * as Name from "../platform/texts/Name.js"
import { Timestamp } from "../platform/time/Timestamp.js"
import { Uuid } from "../platform/texts/Uuid.js"

export const OrganizationId = Uuid
export type OrganizationId = Uuid

/** The owners whose workspaces may be shared in an organization. authorization.md §12.3. */
export const ShareMode = Schema.Literal("everyone", "service_accounts", "none")
export type ShareMode = typeof ShareMode.Type

/** A tenant: it owns templates, workspaces and groups, and has members. authorization.md §6. */
export const Organization = Schema.Struct({
  id: OrganizationId,
  /** 1–32 characters of `^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*$`, unique without regard to case among those not deleted. */
  name: Schema.String,
  display_name: Schema.String,
  description: Schema.String,
  icon: Schema.String,
  created_at: Timestamp,
  updated_at: Timestamp,
  /** Exactly one is; it exists from the start and cannot be deleted. */
  is_default: Schema.Boolean,
  deleted: Schema.Boolean,
  /** Roles that every member has in addition to the explicit ones. */
  default_org_member_roles: Schema.Array(Schema.String),
  shareable_workspace_owners: ShareMode
})
export interface Organization extends Schema.Schema.Type<typeof Organization> {}

/** How paths and queries name the default organization, whatever its name is. wire.md W8. */
export const defaultAlias = "default"

/** Roles that members of a new organization have without being given any. */
export const initialDefaultMemberRoles: ReadonlyArray<string> = ["organization-workspace-access"]

/** The longest display name, in characters. */
const maximumDisplayNameLength = 64

/** The rule that the display name of an organization or of one of its roles breaks, or undefined. authorization.md §6.2. */
export const displayNameViolation = (name: string): string | undefined =>
  name.length > maximumDisplayNameLength
    ? `must be at most ${maximumDisplayNameLength} characters`
    : Name.displayViolation(name, Number.POSITIVE_INFINITY)

/** There is no such organization, or none that the actor may read. */
export const missingOrganization = new NotFound({ resource: "organization" })
