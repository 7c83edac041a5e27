/** How this area's groups of endpoints are implemented. */
import { Layer } from "effect"
import { agents } from "../agents.js"
import { instanceIdentities } from "../instanceIdentities.js"
import { terminals } from "../terminals.js"

export const area = Layer.mergeAll(agents, instanceIdentities, terminals)
