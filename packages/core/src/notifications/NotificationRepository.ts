import { Context, type Effect, type Option, Schema } from "effect"
import { Timestamp } from "../platform/time/Timestamp.js"
import { Uuid } from "../platform/texts/Uuid.js"
import type { MessageState, QueueLimits } from "./NotificationQueue.js"
import type { PushSubscription } from "./PushSubscription.js"

/** Users, by id or by site role. Deleted users and the service's own are never among them. */
export interface Recipients {
  readonly users?: ReadonlyArray<Uuid>
  /** Names of site roles; holders of one of them. */
  readonly roles?: ReadonlyArray<string>
  readonly except?: Uuid | undefined
  /** Only members of this organization. */
  readonly members_of?: Uuid | undefined
}

export interface Recipient {
  readonly id: Uuid
  readonly username: string
  readonly name: string
  readonly email: string
  /** The user's choice for the event; null without one. */
  readonly disabled: boolean | null
}

const Text = Schema.Record({ key: Schema.String, value: Schema.String })

/** What a message tells, as it was when its event was raised. */
export const MessagePayload = Schema.Struct({
  user_name: Schema.String,
  user_username: Schema.String,
  user_email: Schema.String,
  labels: Text,
  data: Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
  actions: Schema.Array(Schema.Struct({ label: Schema.String, url: Schema.String }))
})
export interface MessagePayload extends Schema.Schema.Type<typeof MessagePayload> {}

/** A message to one user by one method. */
export interface NotificationMessage extends MessageState {
  readonly id: Uuid
  readonly template_id: Uuid
  readonly user_id: Uuid
  readonly method: string
  readonly created_by: string
  readonly payload: MessagePayload
  readonly targets: ReadonlyArray<Uuid>
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
  /** Equal for messages that tell the same user the same by the same method on the same day (UTC). */
  readonly dedupe_hash: string
}

/** A message that a process has leased, and whether its user wants it still. */
export interface LeasedMessage extends NotificationMessage {
  readonly lease_id: Uuid
  readonly is_wanted: boolean
}

export interface Preference {
  readonly id: Uuid
  readonly disabled: boolean
  readonly updated_at: Timestamp
}

/** A notification in a user's inbox. */
export interface StoredInboxNotification {
  readonly id: Uuid
  readonly user_id: Uuid
  readonly template_id: Uuid
  readonly targets: ReadonlyArray<Uuid>
  readonly title: string
  readonly content: string
  readonly actions: MessagePayload["actions"]
  readonly read_at: Timestamp | null
  readonly created_at: Timestamp
}

export interface InboxFilter {
  /** All of them are among the notification's targets. */
  readonly targets: ReadonlyArray<Uuid>
  /** The notification's template is one of them; any without one. */
  readonly templates: ReadonlyArray<Uuid>
  readonly read_status: "all" | "read" | "unread"
}

export class NotificationRepository extends Context.Tag("@atelier/core/NotificationRepository")<
  NotificationRepository,
  {
    /** Recipients of an event, with their choices for it. */
    readonly recipients: (templateId: Uuid, to: Recipients) => Effect.Effect<ReadonlyArray<Recipient>>
    /** Methods that were chosen for events instead of the deployment's, by template. */
    readonly methods: Effect.Effect<ReadonlyMap<Uuid, string>>
    readonly setMethod: (templateId: Uuid, method: string) => Effect.Effect<void>
    /**
     * Stores messages, except those whose `dedupe_hash` is stored. A store that refuses them leaves the surrounding transaction as it was
     * and answers the reason.
     */
    readonly enqueue: (messages: ReadonlyArray<NotificationMessage>) => Effect.Effect<Option.Option<string>>
    /** Leases the messages that are due, the oldest first. No two leases of one instant have a message in common; none while paused. */
    readonly lease: (
      now: Timestamp,
      lease: { readonly id: Uuid; readonly until: Timestamp; readonly limit: number } & Pick<QueueLimits, "maxSendAttempts">
    ) => Effect.Effect<ReadonlyArray<LeasedMessage>>
    /** Prolongs a lease; false if another process has the message by now. */
    readonly renew: (id: Uuid, leaseId: Uuid, until: Timestamp) => Effect.Effect<boolean>
    /** Stores the end of a lease; false if another process has the message by now. */
    readonly settle: (id: Uuid, leaseId: Uuid, state: MessageState, now: Timestamp) => Effect.Effect<boolean>
    /** Deletes messages that were changed last before an instant and have an end, at most `limit`. Answers their number. */
    readonly purge: (before: Timestamp, limit: number) => Effect.Effect<number>
    readonly isPaused: Effect.Effect<Option.Option<boolean>>
    /** As `isPaused`, and keeps other transactions from changing it. */
    readonly lockPaused: Effect.Effect<Option.Option<boolean>>
    readonly setPaused: (paused: boolean) => Effect.Effect<void>
    readonly preferences: (userId: Uuid) => Effect.Effect<ReadonlyArray<Preference>>
    readonly setPreferences: (userId: Uuid, disabled: ReadonlyMap<Uuid, boolean>, now: Timestamp) => Effect.Effect<void>
  }
>() {}

/** The inbox of each user. */
export class InboxRepository extends Context.Tag("@atelier/core/InboxRepository")<
  InboxRepository,
  {
    /** Adds a notification; false if it is there already. */
    readonly insert: (notification: StoredInboxNotification) => Effect.Effect<boolean>
    readonly byId: (id: Uuid) => Effect.Effect<Option.Option<StoredInboxNotification>>
    /** The newest first, behind the notification `starting_before` of the same user. */
    readonly page: (
      userId: Uuid,
      filter: InboxFilter,
      page: { readonly starting_before?: Uuid | undefined; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<StoredInboxNotification>>
    readonly unread: (userId: Uuid) => Effect.Effect<number>
    readonly setRead: (id: Uuid, readAt: Timestamp | null) => Effect.Effect<void>
    readonly markAllRead: (userId: Uuid, readAt: Timestamp) => Effect.Effect<void>
  }
>() {}

/** The browsers that users have subscribed to push messages. */
export class PushSubscriptionRepository extends Context.Tag("@atelier/core/PushSubscriptionRepository")<
  PushSubscriptionRepository,
  {
    readonly ofUser: (userId: Uuid) => Effect.Effect<ReadonlyArray<PushSubscription>>
    /** Stores a subscription, or the keys of the user's subscription with the same endpoint. */
    readonly upsert: (subscription: PushSubscription) => Effect.Effect<void>
    /** Deletes the user's subscription with an endpoint; false without one. */
    readonly delete: (userId: Uuid, endpoint: string) => Effect.Effect<boolean>
    readonly deleteAll: Effect.Effect<void>
  }
>() {}
