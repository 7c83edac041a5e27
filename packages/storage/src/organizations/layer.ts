/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/organizations"
import { Layer } from "effect"
import { layer as customRoles } from "./CustomRoleRepository.js"
import { layer as members } from "./MemberRepository.js"
import { layer as organizationChanges } from "./OrganizationChangeRepository.js"
import { layer as organizations } from "./OrganizationRepository.js"
import { layer as rights } from "./RightsRepository.js"
import organizationsMigration from "./migrations/0020_organizations.js"
import membersMigration from "./migrations/0090_members.js"
import customRolesMigration from "./migrations/0091_custom_roles.js"
import deletions from "./migrations/0101_deletions.js"
import { together } from "@atelier/core/platform"
import type { Statements } from "../platform/Statements.js"

export const layer = together(customRoles, members, organizationChanges, organizations, rights) satisfies Layer.Layer<
  Stored,
  never,
  Statements
>

export const migrations = {
  "0020_organizations": organizationsMigration,
  "0090_members": membersMigration,
  "0091_custom_roles": customRolesMigration,
  "0101_deletions": deletions
}
