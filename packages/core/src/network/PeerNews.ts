/** What the processes of a deployment tell each other of their peers. agents-and-apps.md §16. */
import { Schema } from "effect"
import { channel } from "../platform/events/EventBus.js"
import { Uuid } from "../platform/texts/Uuid.js"

/** How a peer has gone. */
export const Ending = Schema.Literal("Disconnected", "Lost")
export type Ending = typeof Ending.Type

/** What has happened to the peers of one process. Those that have changed are read from the store. */
const PeerNews = Schema.Struct({
  replica_id: Uuid,
  changed: Schema.Array(Uuid),
  ended: Schema.Array(Schema.Tuple(Uuid, Ending)),
  ready: Schema.Array(Schema.Tuple(Uuid, Uuid))
})
export interface PeerNews extends Schema.Schema.Type<typeof PeerNews> {}

export const peerNews = channel("network_peers", PeerNews)
