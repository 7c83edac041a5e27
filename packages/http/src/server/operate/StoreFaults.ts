import { service, type StoreUnavailable, storeUnavailable } from "@atelier/core/platform"
import { type Cause, Clock, Context, Effect, Option } from "effect"
import { InternalError, StorageFull, Unavailable } from "../../wire/errors.js"

/** Milliseconds without a failure after which the next one is news again. */
const quietAfter = 60_000

const texts = {
  away: "The store does not answer.",
  contended: "The store has refused a change for others that were made at the same time.",
  damaged: "The store is damaged: a backup has to be restored.",
  exhausted: "All connections to the store are in use.",
  full: "The store is full: nothing can be written.",
  "read-only": "The store can only be read: nothing can be written."
} as const satisfies Record<StoreUnavailable["reason"], string>

/** What does not end by itself, and keeps a server from its work although it answers: the worst first. */
const lasting = ["damaged", "full", "read-only"] as const satisfies ReadonlyArray<StoreUnavailable["reason"]>

const make = Effect.sync(() => {
  const last = new Map<StoreUnavailable["reason"], number>()
  const isRecent = (reason: StoreUnavailable["reason"], now: number): boolean => now - (last.get(reason) ?? -Infinity) < quietAfter

  /** Logs the cause of a failure, unless the same one was logged and has gone on since: thousands of requests fail of one cause. */
  const note = ({ cause, reason }: StoreUnavailable): Effect.Effect<void> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const isKnown = isRecent(reason, now)
      last.set(reason, now)
      return isKnown ? Effect.void : Effect.logError(texts[reason], cause)
    })

  return {
    /** The text of a failure of the store. */
    textOf: ({ reason }: StoreUnavailable): string => texts[reason],

    note,

    /** The answer to a failure that the caller did not cause. A failure of the store is logged once, any other one as `message`. */
    refusalOf: (cause: Cause.Cause<unknown>, message: string): Effect.Effect<Unavailable | StorageFull | InternalError> =>
      Option.match(storeUnavailable(cause), {
        onNone: () => Effect.as(Effect.logError(message, cause), new InternalError({ message: "An internal error occurred." })),
        onSome: (fault) => {
          const refusal = { message: texts[fault.reason] }
          return Effect.as(note(fault), fault.reason === "full" ? new StorageFull(refusal) : new Unavailable(refusal))
        }
      }),

    /** What an operator has to repair, if a statement failed for it a moment ago. */
    lasting: Effect.map(Clock.currentTimeMillis, (now) => {
      const reason = lasting.find((each) => isRecent(each, now))
      return reason === undefined ? undefined : texts[reason]
    })
  }
})

/** Failures of the store that are not the service's, as requests meet them. */
export class StoreFaults extends Context.Tag("@atelier/http/StoreFaults")<StoreFaults, Effect.Effect.Success<typeof make>>() {
  static readonly layer = service(StoreFaults, make)
}
