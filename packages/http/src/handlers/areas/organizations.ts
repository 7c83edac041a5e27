/** How this area's groups of endpoints are implemented. */
import { Layer } from "effect"
import { members } from "../members.js"
import { organizations } from "../organizations.js"

export const area = Layer.mergeAll(members, organizations)
