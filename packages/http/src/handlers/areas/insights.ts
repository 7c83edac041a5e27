/** How this area's groups of endpoints are implemented. */
import { diagnostics } from "../diagnostics.js"
import { insights } from "../insights.js"
import { together } from "@atelier/core/platform"

export const area = together(diagnostics, insights)
