/** How this area is wired: its services, its background work, and what it needs stored. */
import type { EventBus } from "./EventBus.js"
import { Ids } from "./Ids.js"
import type { Locks } from "./Locks.js"
import type { Transactor } from "./Transactor.js"

export const layer = Ids.layer

export const workers = []

export type Stored = EventBus | Locks | Transactor
