/** Which changes may end the right to a stream. Every change of a right is audited, so none is missed here. */
import type { RightsChange } from "../access/streams/RightsChanges.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { AuditAction, AuditDiff } from "./AuditEntry.js"
import type { AuditedResource } from "./AuditedResource.js"

/** Fields that say who may use a workspace, its ports and its apps; the last one, whether pages of other origins may read what the apps answer. */
const sharing = ["user_acl", "group_acl", "max_port_sharing_level", "cors_behavior"]

/** Actions that only add rights. */
const harmless: ReadonlySet<AuditAction> = new Set(["create", "login", "register", "request_password_reset"])

interface Change {
  readonly action: AuditAction
  readonly resource: Pick<AuditedResource<never>, "type" | "endsRightsOf">
  readonly id: Uuid
}

/** The rights that a stored change may have ended; undefined for a change that ends none. */
export const endedRights = ({ action, id, resource }: Change, diff: AuditDiff): RightsChange | undefined => {
  // The entry of a conversion is a creation, though it ends the user's keys
  if (resource.type !== "convert_login" && harmless.has(action)) return undefined
  switch (resource.endsRightsOf) {
    case "user":
      return { user_id: id }
    case "everyone":
      return {}
    case "acl":
      return sharing.some((field) => field in diff) ? {} : undefined
    case "none":
      return undefined
  }
}
