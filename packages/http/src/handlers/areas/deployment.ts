/** How this area's groups of endpoints are implemented. */
import { aiProviders } from "../aiProviders.js"
import { appearance } from "../appearance.js"
import { deployment } from "../deployment.js"
import { externalAuth } from "../externalAuth.js"
import { general } from "../general.js"
import { regions } from "../regions.js"
import { relay } from "../relay.js"
import { storedLicenses } from "../storedLicenses.js"
import { ownWorkspaceProxy, workspaceProxies } from "../workspaceProxies.js"
import { together } from "@atelier/core/platform"

export const area = together(
  aiProviders,
  appearance,
  deployment,
  externalAuth,
  general,
  ownWorkspaceProxy,
  regions,
  relay,
  storedLicenses,
  workspaceProxies
)
