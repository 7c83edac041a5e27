/** How this area's groups of endpoints are implemented. */
import { deployment } from "../deployment.js"

export const area = deployment
