/** How this area's groups of endpoints are implemented. */
import { agents } from "../agents.js"

export const area = agents
