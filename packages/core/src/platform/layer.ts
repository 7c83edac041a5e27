/** How this area is wired: its services, its background work, and what it needs stored. */
import type { EventBus } from "./events/EventBus.js"
import { Ids } from "./Ids.js"
import type { Locks } from "./store/Locks.js"
import type { Transactor } from "./store/Transactor.js"

export const layer = Ids.layer

export const workers = []

export type Stored = EventBus | Locks | Transactor
