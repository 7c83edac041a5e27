/** How this area is wired: its services, its background work, and what it needs stored. */
import { Deployment } from "./Deployment.js"
import type { DeploymentValues } from "./DeploymentValues.js"

export const layer = Deployment.layer

export const workers = []

export type Stored = DeploymentValues
