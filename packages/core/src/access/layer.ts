/** How this area is wired: its services, its background work, and what it needs stored. */
import { Layer } from "effect"
import { AccessChecks } from "./AccessChecks.js"
import { StreamRights } from "./StreamRights.js"

export const layer = Layer.mergeAll(AccessChecks.layer, StreamRights.layer)

export const workers = []

export type Stored = never
