import { Context, type Effect } from "effect"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { ExpiringRows } from "../WaitingRows.js"

/** Signed texts that may be used once, in all processes. */
export class UsedTokenRepository extends Context.Tag("@atelier/core/UsedTokenRepository")<
  UsedTokenRepository,
  {
    /** Notes that a text is used. False when it was used before. */
    readonly use: (hashedId: Uint8Array, expiresAt: Timestamp) => Effect.Effect<boolean>
  } & ExpiringRows
>() {}
