/** How this area is wired: its background work, and what it needs stored. */
import { Layer } from "effect"
import * as Worker from "../platform/background/Worker.js"
import { retentionWorker } from "./Retention.js"
import type { RetentionRepository } from "./RetentionRepository.js"

export const layer = Layer.empty

export const workers = [Worker.start(retentionWorker)]

export type Stored = RetentionRepository
