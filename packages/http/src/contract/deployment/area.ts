/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { appearance } from "./appearance.js"
import { deployment } from "./deployment.js"
import { general } from "./general.js"
import { regions } from "./regions.js"
import { storedLicenses } from "./storedLicenses.js"
import { ownWorkspaceProxy, workspaceProxies } from "./workspaceProxies.js"

export const area = HttpApi.make("deployment")
  .add(deployment)
  .add(general)
  .add(appearance)
  .add(regions)
  .add(storedLicenses)
  .add(ownWorkspaceProxy)
  .add(workspaceProxies)
