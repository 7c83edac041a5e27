/** Changes after which a user, or the agents and the visitors of a workspace, may have fewer rights than before. */
import { type Effect, Schema } from "effect"
import { type Channel, channel, type EventBus } from "../../platform/events/EventBus.js"
import { publish } from "../../platform/store/Transactor.js"
import { Uuid } from "../../platform/texts/Uuid.js"

/**
 * Concerns one user, the agents of one workspace and the visitors of its apps, or without either everyone. With a key of the user it does not concern what the
 * user's other keys have opened.
 */
export const RightsChange = Schema.Struct({
  user_id: Schema.optional(Uuid),
  api_key_id: Schema.optional(Schema.String),
  workspace_id: Schema.optional(Uuid)
})
export interface RightsChange extends Schema.Schema.Type<typeof RightsChange> {}

export const rightsChanges: Channel<RightsChange> = channel("rights", RightsChange)

/** Makes every process check the open streams that the change concerns; within a transaction, after its commit. */
export const publishRightsChange = (change: RightsChange): Effect.Effect<void, never, EventBus> => publish(rightsChanges, change)
