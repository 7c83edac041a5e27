/** How this area's groups of endpoints are implemented. */
import { groups } from "../groups.js"
import { aiBudgets } from "../aiBudgets.js"
import { together } from "@atelier/core/platform"

export const area = together(groups, aiBudgets)
