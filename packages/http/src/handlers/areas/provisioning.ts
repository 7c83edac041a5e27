/** How this area's groups of endpoints are implemented. */
import { Layer } from "effect"
import { provisionerKeys } from "../provisionerKeys.js"
import { provisioning } from "../provisioning.js"

export const area = Layer.mergeAll(provisioning, provisionerKeys)
