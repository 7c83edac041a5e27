/** How messages leave the deployment. notifications-audit-insights.md §A4 to §A7. */
import { Context, Data, type Effect } from "effect"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { MessagePayload } from "./NotificationRepository.js"

/** A message as it is sent: its texts rendered. */
export interface OutgoingNotification {
  /** The same for every attempt at sending it. */
  readonly id: Uuid
  readonly template_id: Uuid
  readonly template_name: string
  readonly user_id: Uuid
  readonly payload: MessagePayload
  readonly targets: ReadonlyArray<Uuid>
  /** Markdown. */
  readonly title: string
  readonly body: string
}

/** A message that was not delivered. `reason` is stored and logged; it contains nothing of the message. */
export class NotDelivered extends Data.TaggedError("NotDelivered")<{
  readonly reason: string
  /** Whether another attempt may have another end. */
  readonly retryable: boolean
}> {}

/** Delivers messages by one method. */
export interface Dispatcher {
  /** The word that templates and the deployment's options name the method by. */
  readonly method: string
  /** Completes when the message is delivered. It may be called again with a message that it has delivered, after a crash. */
  readonly dispatch: (message: OutgoingNotification) => Effect.Effect<void, NotDelivered>
}

/** The dispatchers of the host, in addition to the inbox and to mail. A method of the same name takes the place of mail. */
export class Dispatchers extends Context.Reference<Dispatchers>()("@atelier/core/Dispatchers", {
  defaultValue: (): ReadonlyArray<Dispatcher> => []
}) {}
