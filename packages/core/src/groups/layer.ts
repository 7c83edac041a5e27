/** How this area is wired: its services, its background work, and what it needs stored. */
import type { GranteeRepository } from "./GranteeRepository.js"
import { Grantees } from "./Grantees.js"
import { GroupChanges } from "./GroupChanges.js"
import type { GroupMemberRepository } from "./GroupMemberRepository.js"
import type { GroupRepository } from "./GroupRepository.js"
import { Groups } from "./Groups.js"
import { together } from "../platform/wiring/Standing.js"

export const layer = together(Grantees.layer, GroupChanges.layer, Groups.layer)

export const workers = []

export type Stored = GranteeRepository | GroupMemberRepository | GroupRepository
