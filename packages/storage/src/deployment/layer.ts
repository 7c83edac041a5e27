/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/deployment"
import { Layer } from "effect"
import { layer as cryptoKeys } from "./cryptoKeys/CryptoKeyRepository.js"
import { layer as deploymentValues } from "./DeploymentValues.js"
import { layer as licenses } from "./licenses/LicenseRepository.js"
import licensesMigration from "./migrations/0260_licenses.js"
import replicasMigration from "./migrations/0241_replicas.js"
import { layer as replicas } from "./ReplicaRepository.js"
import { layer as workspaceProxies } from "./proxies/WorkspaceProxyRepository.js"
import workspaceProxiesMigration from "./migrations/0371_workspace_proxies.js"
import cryptoKeysMigration from "./migrations/0390_crypto_keys.js"
import { together } from "@atelier/core/platform"
import type { Statements } from "../platform/Statements.js"

export const layer = together(cryptoKeys, deploymentValues, licenses, replicas, workspaceProxies) satisfies Layer.Layer<
  Stored,
  never,
  Statements
>

export const migrations = {
  "0241_replicas": replicasMigration,
  "0260_licenses": licensesMigration,
  "0371_workspace_proxies": workspaceProxiesMigration,
  "0390_crypto_keys": cryptoKeysMigration
}
