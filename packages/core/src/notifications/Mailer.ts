import { existing } from "../platform/wiring/Standing.js"
import { Context, Data, Effect } from "effect"
import type { Uuid } from "../platform/texts/Uuid.js"

/** A message to one person. */
export interface Mail {
  /** The same for every attempt at sending it. */
  readonly id: Uuid
  /** An address without a name. */
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** No mail server has accepted the message. `reason` is for the log and contains nothing of the message. */
export class MailNotSent extends Data.TaggedError("MailNotSent")<{
  readonly reason: string
  /** Whether another attempt may have another end. */
  readonly retryable: boolean
}> {}

/** Sends mail. A host may replace it. */
export class Mailer extends Context.Tag("@atelier/core/Mailer")<
  Mailer,
  {
    /** False where the deployment sends no mail: then nothing is kept to be sent. */
    readonly isConfigured: boolean
    /** Completes when a mail server has accepted responsibility for the message, after a bounded time. */
    readonly send: (mail: Mail) => Effect.Effect<void, MailNotSent>
  }
>() {
  /** A deployment that sends no mail. */
  static readonly layerNone = existing(Mailer, {
    isConfigured: false,
    send: () => Effect.fail(new MailNotSent({ reason: "no mailer is configured", retryable: false }))
  })
}
