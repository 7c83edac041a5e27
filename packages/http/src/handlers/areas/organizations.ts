/** How this area's groups of endpoints are implemented. */
import { members } from "../members.js"
import { organizations } from "../organizations.js"
import { together } from "@atelier/core/platform"

export const area = together(members, organizations)
