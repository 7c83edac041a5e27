/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { autofill } from "./autofill.js"
import { buildWatches, portShares } from "./portShares.js"
import { prebuilds } from "./prebuilds.js"
import { quotas } from "./quotas.js"
import { workspaceSharing } from "../access/sharing.js"
import { workspaceSettings } from "./workspaceSettings.js"
import { builds, workspaces } from "./workspaces.js"

export const area = HttpApi.make("workspaces")
  .add(autofill)
  .add(prebuilds)
  .add(quotas)
  .add(workspaceSharing)
  .add(builds)
  .add(workspaces)
  .add(workspaceSettings)
  .add(portShares)
  .add(buildWatches)
