/** How this area's groups of endpoints are implemented. */
import { provisionerKeys } from "../provisionerKeys.js"
import { provisioning } from "../provisioning.js"
import { together } from "@atelier/core/platform"

export const area = together(provisioning, provisionerKeys)
