/** How this area is wired: its services, its background work, and what it needs stored. */
import { Effect } from "effect"
import { Worker } from "../platform/index.js"
import type { CryptoKeyRepository } from "./cryptoKeys/CryptoKey.js"
import { CryptoKeys } from "./cryptoKeys/CryptoKeys.js"
import { DeploymentAppearance } from "./DeploymentAppearance.js"
import { Deployment } from "./Deployment.js"
import type { DeploymentValues } from "./DeploymentValues.js"
import type { LicenseCounts, LicenseRepository } from "./licenses/License.js"
import { Licenses } from "./licenses/Licenses.js"
import { General } from "./General.js"
import { ProxyHealth } from "./proxies/ProxyHealth.js"
import { WorkspaceProxies } from "./proxies/WorkspaceProxies.js"
import type { WorkspaceProxyRepository } from "./proxies/WorkspaceProxy.js"
import type { ReplicaRepository } from "./ReplicaRepository.js"
import { Replicas } from "./Replicas.js"
import { UpdateCheck, updateCheckWorker } from "./UpdateCheck.js"
import { together } from "../platform/wiring/Standing.js"

export const layer = together(
  CryptoKeys.layer,
  DeploymentAppearance.layer,
  Deployment.layer,
  General.layer,
  Licenses.layer,
  ProxyHealth.layer,
  Replicas.layer,
  UpdateCheck.layer,
  WorkspaceProxies.layer
)

export const workers = [
  Worker.start(updateCheckWorker),
  Effect.flatMap(CryptoKeys, ({ worker }) => Worker.start(worker)),
  Effect.flatMap(Replicas, ({ announce }) => announce),
  Effect.flatMap(Licenses, ({ keep }) => keep),
  Effect.flatMap(ProxyHealth, ({ keep }) => keep)
]

export type Stored =
  | CryptoKeyRepository
  | DeploymentValues
  | LicenseCounts
  | LicenseRepository
  | ReplicaRepository
  | WorkspaceProxyRepository
