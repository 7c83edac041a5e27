/** How this area's groups of endpoints are implemented. */
import { access } from "../access.js"

export const area = access
