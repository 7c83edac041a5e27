/** How this area's groups of endpoints are implemented. */
import { autofill } from "../autofill.js"
import { buildWatches, portShares } from "../portShares.js"
import { prebuilds } from "../prebuilds.js"
import { quotas } from "../quotas.js"
import { workspaceSharing } from "../sharing.js"
import { workspaceSettings } from "../workspaceSettings.js"
import { workspaces } from "../workspaces.js"
import { together } from "@atelier/core/platform"

export const area = together(autofill, prebuilds, quotas, workspaceSharing, workspaces, workspaceSettings, portShares, buildWatches)
