/** The workspace that a message is about, and the readers of messages to administrators. */
import { ownerRole } from "../../identity/users/User.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { Workspace } from "../Workspace.js"

/** Holders of the site roles that manage templates. */
export const templateAdministrator = "template-admin"

export const administrators = [templateAdministrator, ownerRole]

/** The initiator of what the service does by itself. */
export const bySchedule = "autobuild"

export type Subject = Pick<Workspace, "id" | "name" | "owner_id" | "organization_id" | "template_id">

export const targetsOf = ({ id, organization_id, owner_id, template_id }: Subject): ReadonlyArray<Uuid> => [
  id,
  owner_id,
  template_id,
  organization_id
]
