/** How this area's groups of endpoints are implemented. */
import { insights } from "../insights.js"

export const area = insights
