/** How push messages reach browsers. RFC 8030, RFC 8291, RFC 8292. */
import { Context, Data, type Effect } from "effect"
import type { PushTarget } from "./PushSubscription.js"

/** The deployment's key pair on P-256, in base64url: the uncompressed point, and the number. RFC 8292. */
export interface PushKeys {
  readonly public_key: string
  readonly private_key: string
}

/** The message was not handed to the push service. `reason` holds nothing of the message. */
export class NotPushed extends Data.TaggedError("NotPushed")<{
  readonly reason: string
  /** The subscription is one that no message will reach. */
  readonly isLasting: boolean
}> {}

/** Encrypts messages for browsers, and hands them to the push services that the browsers name. */
export interface PushSender {
  readonly generateKeys: Effect.Effect<PushKeys>
  /** Completes when the push service has accepted the message, after a bounded time. It never calls a private network. */
  readonly send: (to: PushTarget, message: Uint8Array, as: PushKeys & { readonly subject: string }) => Effect.Effect<void, NotPushed>
}

/** The sender of the process; undefined where nothing is pushed. */
export class PushSenders extends Context.Reference<PushSenders>()("@atelier/core/PushSenders", {
  defaultValue: (): PushSender | undefined => undefined
}) {}
