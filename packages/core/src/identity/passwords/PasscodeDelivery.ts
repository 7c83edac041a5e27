import { Context, Duration, Effect, Option } from "effect"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { rendered } from "../../notifications/EmailMessage.js"
import { Mailer } from "../../notifications/Mailer.js"
import { NotDelivered } from "../../notifications/Dispatcher.js"
import { dispatchWithin } from "../../notifications/dispatchWithin.js"
import { notificationEvents } from "../../notifications/NotificationEvents.js"
import { NotificationRepository, type Recipient } from "../../notifications/NotificationRepository.js"
import { Notifier } from "../../notifications/Notifier.js"
import { outgoingOf, payloadOf } from "../../notifications/Rendering.js"
import { Encryption, type Sealed } from "../../platform/secrets/Encryption.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Worker } from "../../platform/background/Worker.js"
import { type Passcode, passcodeMessage } from "./Passcode.js"
import { PasscodeRepository, type UnsentPasscode } from "./PasscodeRepository.js"

/** Codes that are sent in one run, and how many of them at once. */
const batchSize = 20
const concurrency = 5

/** The delay before a code is sent again that the mail server did not accept. */
const retryDelay = Duration.seconds(30)

/** The place of a code on its way: as another one it opens no more. */
const placeOf = ({ id, user_id }: Pick<Passcode, "id" | "user_id">): string => `one_time_passcodes.unsent_passcode/${user_id}/${id}`

/** The methods of {@link PasscodeDelivery}. */
export interface PasscodeDeliveryService {
  /** Whether the deployment can send codes. */
  readonly canLeave: boolean

  /** A code on its way, as its row stores it; null, which is logged once, where there is nothing to send it with. */
  readonly seal: (passcode: Pick<Passcode, "id" | "user_id">, code: string) => Effect.Effect<Sealed | null>

  /** Sends codes that have been asked for. A process that dies after a message was taken has another one send it once more. */
  readonly worker: Worker<never>
}

const make = Effect.gen(function* () {
  const repository = yield* PasscodeRepository
  const encryption = yield* Encryption
  const mailer = yield* Mailer
  const notifier = yield* Notifier
  const notifications = yield* NotificationRepository
  const event = notificationEvents.oneTimePasscode
  const options = yield* DeploymentOptions
  const warnOnce = yield* Effect.once(
    Effect.logWarning("a user asked for a one-time passcode, which cannot be sent: no mailer is configured")
  )
  /** Methods by which codes can leave: one that the deployment lacks now may be chosen for the event later. */
  const canLeave = mailer.isConfigured || notifier.methods.some((method) => notifier.dispatcher(method) !== undefined)

  const byMail = (unsent: UnsentPasscode, code: string) =>
    Effect.catchTag(
      mailer.send({ ...rendered(passcodeMessage(unsent, code, options), options), id: unsent.id, to: unsent.email }),
      "MailNotSent",
      (failure) => new NotDelivered(failure)
    )

  /** Sends the event with the code by another method than mail. It never becomes a message of the queue, whose rows are not encrypted. */
  const byMethod = (method: string, unsent: UnsentPasscode, recipient: Recipient, one_time_passcode: string) => {
    const dispatcher = notifier.dispatcher(method)
    if (dispatcher === undefined) return new NotDelivered({ reason: `the method ${method} is not configured`, retryable: false })
    const payload = payloadOf(event, { labels: { one_time_passcode } }, recipient, options.accessUrl)
    const message = { id: unsent.id, payload, targets: [unsent.user_id], user_id: unsent.user_id }
    return dispatchWithin(options.notificationsDispatchTimeout, dispatcher, outgoingOf(event, message, options.accessUrl))
  }

  /** Sends a code by the method of its event, unless its user has switched the event off. Codes never go to the inbox. notifications-audit-insights.md §A3. */
  const send = (unsent: UnsentPasscode, code: string) =>
    Effect.gen(function* () {
      const [recipient] = yield* notifications.recipients(event.id, { users: [unsent.user_id] })
      if (recipient === undefined || recipient.disabled === true) return
      const method = (yield* notifications.methods).get(event.id) ?? options.notificationsMethod
      if (method === "inbox") return
      const isMail = method === "smtp" && mailer.isConfigured
      yield* isMail ? byMail(unsent, code) : byMethod(method, unsent, recipient, code)
    })

  const deliver = (unsent: UnsentPasscode) =>
    Effect.gen(function* () {
      const code = new TextDecoder().decode(yield* encryption.open(unsent.sealed, placeOf(unsent)))
      yield* send(unsent, code)
      yield* repository.forget(unsent.id)
    }).pipe(
      Effect.catchTags({
        NotDelivered: ({ reason, retryable }) =>
          Effect.zipRight(
            Effect.logWarning("a one-time passcode could not be sent", { reason, retryable }),
            retryable ? later(unsent) : repository.forget(unsent.id)
          ),
        // Another process may have the key
        Undecipherable: ({ key_id, reason }) =>
          Effect.zipRight(Effect.logError("a one-time passcode cannot be read to be sent", { key_id, reason }), later(unsent))
      }),
      // A message that crashes a host's mailer must not keep other codes from being sent
      Effect.catchAllDefect((defect) =>
        Effect.zipRight(Effect.logError("sending a one-time passcode failed unexpectedly", defect), later(unsent))
      ),
      Effect.annotateLogs({ passcode: unsent.id })
    )

  const later = ({ id }: UnsentPasscode) => Effect.flatMap(Timestamp.now, (now) => repository.postpone(id, Timestamp.plus(now, retryDelay)))

  return {
    canLeave,

    seal: (passcode: Pick<Passcode, "id" | "user_id">, code: string): Effect.Effect<Sealed | null> =>
      canLeave ? encryption.seal(new TextEncoder().encode(code), placeOf(passcode)) : Effect.as(warnOnce, null),

    worker: {
      name: "one_time_passcodes",
      every: Duration.seconds(5),
      run: Effect.gen(function* () {
        if (!canLeave || Option.getOrElse(yield* notifications.isPaused, () => false)) return
        // Codes requested during the loop are sent too: a code that was not accepted is due only after its delay
        while (true) {
          const unsent = yield* repository.unsent(yield* Timestamp.now, batchSize)
          if (unsent.length === 0) return
          yield* Effect.forEach(unsent, deliver, { concurrency, discard: true })
        }
      })
    } satisfies Worker<never>
  }
})

/** One-time passcodes on their way to their users. */
export class PasscodeDelivery extends Context.Tag("@atelier/core/PasscodeDelivery")<PasscodeDelivery, PasscodeDeliveryService>() {
  static readonly layer = standingOn(service(PasscodeDelivery, make), Notifier.layer)
}
