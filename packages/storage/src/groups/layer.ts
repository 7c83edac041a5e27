/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/groups"
import { Layer } from "effect"
import { layer as grantees } from "./GranteeRepository.js"
import { layer as members } from "./GroupMemberRepository.js"
import { layer as groups } from "./GroupRepository.js"
import groupsMigration from "./migrations/0095_groups.js"
import groupCounts from "./migrations/0102_group_counts.js"
import { together } from "@atelier/core/platform"
import type { Statements } from "../platform/Statements.js"

export const layer = together(grantees, groups, members) satisfies Layer.Layer<Stored, never, Statements>

export const migrations = { "0095_groups": groupsMigration, "0102_group_counts": groupCounts }
