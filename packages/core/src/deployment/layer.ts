/** How this area is wired: its services, its background work, and what it needs stored. */
import { Layer } from "effect"
import { Worker } from "../platform/index.js"
import { DeploymentAppearance } from "./DeploymentAppearance.js"
import { Deployment } from "./Deployment.js"
import type { DeploymentValues } from "./DeploymentValues.js"
import { General } from "./General.js"
import { UpdateCheck, updateCheckWorker } from "./UpdateCheck.js"

export const layer = Layer.mergeAll(DeploymentAppearance.layer, Deployment.layer, General.layer, UpdateCheck.layer)

export const workers = [Worker.start(updateCheckWorker)]

export type Stored = DeploymentValues
