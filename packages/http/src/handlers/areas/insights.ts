/** How this area's groups of endpoints are implemented. */
import { Layer } from "effect"
import { diagnostics } from "../diagnostics.js"
import { insights } from "../insights.js"

export const area = Layer.merge(diagnostics, insights)
