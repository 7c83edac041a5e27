import { Clock, Context, Duration, Effect, Option, Queue, Schema, Stream } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { CurrentActor } from "../access/actors/Actor.js"
import { type Entitled, rightTo } from "../access/streams/StreamRights.js"
import { Invalid, NotFound, type Forbidden } from "../platform/Errors.js"
import { EventBus, listen } from "../platform/events/EventBus.js"
import * as Numbers from "../platform/Numbers.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { Uuid } from "../platform/texts/Uuid.js"
import { iconOf } from "./NotificationEvents.js"
import { type InboxFilter, InboxRepository, type StoredInboxNotification } from "./NotificationRepository.js"
import { plainTextOf } from "./NotificationText.js"
import { inboxEvents } from "./OwnDispatchers.js"
import * as Traced from "../platform/wiring/Traced.js"
import { service } from "../platform/wiring/Standing.js"

/** Notifications of a page. */
const pageSize = 25

/** Notifications that a slow client may fall behind; it loses those that come then, unless they are of the newest page at the next recheck. */
const capacity = 10

/** How often the store is read without an event: events may be lost. */
const recheck = "60 seconds"

/** A notification as its user sees it. `targets` is null without any. */
export const InboxNotification = Schema.Struct({
  id: Uuid,
  user_id: Uuid,
  template_id: Uuid,
  targets: Schema.NullOr(Schema.Array(Uuid)),
  title: Schema.String,
  content: Schema.String,
  icon: Schema.String,
  actions: Schema.Array(Schema.Struct({ label: Schema.String, url: Schema.String })),
  read_at: Schema.NullOr(Timestamp.Timestamp),
  created_at: Timestamp.Timestamp
})
export interface InboxNotification extends Schema.Schema.Type<typeof InboxNotification> {}

/** A notification, with the number of the user's unread ones. */
export const CountedNotification = Schema.Struct({ notification: InboxNotification, unread_count: Numbers.Count })
export interface CountedNotification extends Schema.Schema.Type<typeof CountedNotification> {}

/** What a caller asks of its inbox. */
export interface InboxQuery extends Pick<InboxFilter, "targets" | "templates"> {
  /** `all`, `read` or `unread`; empty for `all`. */
  readonly read_status: string
}

const viewOf = ({
  actions,
  content,
  created_at,
  id,
  read_at,
  targets,
  template_id,
  title,
  user_id
}: StoredInboxNotification): InboxNotification => ({
  id,
  user_id,
  template_id,
  targets: targets.length === 0 ? null : targets,
  title,
  content,
  icon: iconOf(template_id),
  actions,
  read_at,
  created_at
})

const plain = (notification: InboxNotification): InboxNotification => ({
  ...notification,
  title: plainTextOf(notification.title),
  content: plainTextOf(notification.content)
})

const filterOf = ({ read_status, targets, templates }: InboxQuery): Effect.Effect<InboxFilter, Invalid> => {
  switch (read_status) {
    case "":
    case "all":
      return Effect.succeed({ targets, templates, read_status: "all" })
    case "read":
    case "unread":
      return Effect.succeed({ targets, templates, read_status })
    default:
      return Effect.fail(new Invalid({ message: "The read status must be all, read or unread." }))
  }
}

const matches = ({ read_status, targets, templates }: InboxFilter, notification: StoredInboxNotification): boolean =>
  read_status !== "read" &&
  targets.every((target) => notification.targets.includes(target)) &&
  (templates.length === 0 || templates.includes(notification.template_id))

const missing = new NotFound({ resource: "inbox_notification" })

/** The methods of {@link Inbox}. */
export interface InboxService {
  /** A page of the actor's own notifications, the newest first. Fails with `Invalid` for an unknown read status. §A8. */
  readonly list: (
    query: InboxQuery,
    startingBefore: Uuid | undefined
  ) => Effect.Effect<
    { readonly notifications: ReadonlyArray<InboxNotification>; readonly unread_count: number },
    Invalid | Forbidden,
    CurrentActor
  >

  /** Marks a notification as read or unread. The count is the actor's own. Fails with `NotFound` if the actor may not change it. §A8. */
  readonly setRead: (
    id: Uuid,
    isRead: boolean
  ) => Effect.Effect<{ readonly notification: InboxNotification; readonly unread_count: number }, NotFound, CurrentActor>

  /** Marks all of the actor's unread notifications as read. §A8. */
  readonly markAllRead: () => Effect.Effect<void, Forbidden, CurrentActor>

  /**
   * The actor's notifications from now on, of every process. A client that does not read may lose the newest. Fails with `Invalid` for an unknown read
   * status. §A8.
   */
  readonly watch: (
    query: InboxQuery,
    format: string
  ) => Effect.Effect<
    Entitled<{ readonly notification: InboxNotification; readonly unread_count: number }>,
    Invalid | Forbidden,
    CurrentActor
  >
}

const make = Effect.gen(function* () {
  const repository = yield* InboxRepository
  const bus = yield* EventBus

  return {
    list: Traced.fn("Inbox.list")(function* (query: InboxQuery, startingBefore: Uuid | undefined) {
      const { userId } = yield* CurrentActor
      yield* Access.authorize("read", AccessObjects.ownedBy("inbox_notification", userId))
      const filter = yield* filterOf(query)
      const notifications = yield* repository.page(userId, filter, { starting_before: startingBefore, limit: pageSize })
      return { notifications: notifications.map(viewOf), unread_count: yield* repository.unread(userId) }
    }),

    setRead: Traced.fn("Inbox.setRead")(function* (id: Uuid, isRead: boolean) {
      const { userId } = yield* CurrentActor
      const found = Option.getOrUndefined(yield* repository.byId(id))
      if (found === undefined) return yield* missing
      yield* Access.authorizeOrHide("update", AccessObjects.inboxNotification(found), missing)
      const read_at = isRead ? yield* Timestamp.now : null
      yield* repository.setRead(id, read_at)
      return { notification: viewOf({ ...found, read_at }), unread_count: yield* repository.unread(userId) }
    }),

    markAllRead: Traced.fn("Inbox.markAllRead")(function* () {
      const { userId } = yield* CurrentActor
      yield* Access.authorize("update", AccessObjects.ownedBy("inbox_notification", userId))
      yield* repository.markAllRead(userId, yield* Timestamp.now)
    }),

    watch: Traced.fn("Inbox.watch")(function* (query: InboxQuery, format: string) {
      const { userId } = yield* CurrentActor
      const [right] = yield* rightTo(`inbox_notification:${userId}`, () =>
        Access.authorize("read", AccessObjects.ownedBy("inbox_notification", userId))
      )
      const filter = yield* filterOf(query)
      const show = format === "plaintext" ? plain : (notification: InboxNotification) => notification
      const counted = (found: ReadonlyArray<StoredInboxNotification>) =>
        Effect.forEach(
          found.filter((notification) => matches(filter, notification)),
          (notification) =>
            Effect.map(repository.unread(userId), (unread_count) => ({ notification: show(viewOf(notification)), unread_count }))
        )
      const newest = repository.page(userId, { targets: [], templates: [], read_status: "all" }, { limit: pageSize })
      const values = Stream.unwrapScoped(
        Effect.gen(function* () {
          const wakes = yield* Queue.dropping<Uuid | "read">(capacity)
          let mustRead = false
          yield* listen(inboxEvents(userId), (delivery) => {
            if (delivery._tag === "Event") wakes.unsafeOffer(delivery.event.id)
            else {
              mustRead = true
              wakes.unsafeOffer("read")
            }
          })
          let known = new Set<Uuid>()
          /** Older ones come back into the page after newer ones were deleted. */
          let oldest: Timestamp.Timestamp = Timestamp.never
          let readAt = 0
          const read = Effect.gen(function* () {
            mustRead = false
            readAt = yield* Clock.currentTimeMillis
            const page = yield* newest
            const missed = page.filter(({ created_at, id }) => !known.has(id) && created_at >= oldest)
            known = new Set(page.map(({ id }) => id))
            if (page.length === pageSize) oldest = page.at(-1)?.created_at ?? oldest
            return missed.toReversed()
          })
          yield* read
          const next = Effect.gen(function* () {
            const wake = Option.getOrElse(yield* Effect.timeoutOption(wakes.take, recheck), () => "read" as const)
            const age = (yield* Clock.currentTimeMillis) - readAt
            if (mustRead || wake === "read" || age >= Duration.toMillis(recheck)) return yield* counted(yield* read)
            if (known.has(wake)) return []
            known.add(wake)
            const found = Option.toArray(yield* repository.byId(wake))
            return yield* counted(found.filter(({ user_id }) => user_id === userId))
          })
          return Stream.flattenIterables(Stream.repeatEffect(next))
        })
      ).pipe(Stream.provideService(EventBus, bus))
      return { right, values }
    })
  }
})

/** The notifications that users read in the service itself. */
export class Inbox extends Context.Tag("@atelier/core/Inbox")<Inbox, InboxService>() {
  static readonly layer = service(Inbox, make)
}
