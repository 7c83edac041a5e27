import { Effect } from "effect"
import { Entitlements } from "../deployment/Entitlements.js"
import { Forbidden } from "../platform/Errors.js"

/** Fails with `Forbidden` unless the gateway to AI is licensed. authorization.md §14. */
export const requireAi: Effect.Effect<void, Forbidden> = Effect.flatMap(Entitlements, (licensed) =>
  licensed.has("aibridge") ? Effect.void : new Forbidden({ message: "AI budgets need a license for aibridge." })
)
