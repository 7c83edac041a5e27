/** How this area's groups of endpoints are implemented. */
import { network } from "../network.js"

export const area = network
