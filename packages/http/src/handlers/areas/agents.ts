/** How this area's groups of endpoints are implemented. */
import { agents } from "../agents.js"
import { instanceIdentities } from "../instanceIdentities.js"
import { terminals } from "../terminals.js"
import { together } from "@atelier/core/platform"

export const area = together(agents, instanceIdentities, terminals)
