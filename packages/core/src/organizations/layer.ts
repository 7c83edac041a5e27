/** How this area is wired: its services, its background work, and what it needs stored. */
import type { CustomRoleRepository } from "./CustomRoleRepository.js"
import { CustomRoles } from "./CustomRoles.js"
import type { MemberRepository } from "./MemberRepository.js"
import { Members } from "./Members.js"
import type { OrganizationChangeRepository } from "./OrganizationChangeRepository.js"
import { OrganizationChanges } from "./OrganizationChanges.js"
import type { OrganizationRepository } from "./OrganizationRepository.js"
import { Organizations } from "./Organizations.js"
import type { RightsRepository } from "./RightsRepository.js"
import { SharingSettings } from "./SharingSettings.js"
import { together } from "../platform/wiring/Standing.js"

export const layer = together(CustomRoles.layer, Members.layer, OrganizationChanges.layer, Organizations.layer, SharingSettings.layer)

export const workers = []

export type Stored = CustomRoleRepository | MemberRepository | OrganizationChangeRepository | OrganizationRepository | RightsRepository
