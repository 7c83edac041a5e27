/** How this area's groups of endpoints are implemented. */
import { provisioning } from "../provisioning.js"

export const area = provisioning
