/** How this area's groups of endpoints are implemented. */
import { audit } from "../audit.js"

export const area = audit
