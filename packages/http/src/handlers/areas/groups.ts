/** How this area's groups of endpoints are implemented. */
import { Layer } from "effect"
import { groups } from "../groups.js"
import { aiBudgets } from "../aiBudgets.js"

export const area = Layer.mergeAll(groups, aiBudgets)
