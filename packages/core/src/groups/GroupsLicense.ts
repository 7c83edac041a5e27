import { Effect } from "effect"
import { Entitlements } from "../deployment/Entitlements.js"
import { Forbidden } from "../platform/Errors.js"

/** Fails with `Forbidden` unless groups are licensed. authorization.md §14. */
export const requireGroups: Effect.Effect<void, Forbidden> = Effect.flatMap(Entitlements, (licensed) =>
  licensed.has("template_rbac") ? Effect.void : new Forbidden({ message: "Groups need a license for template_rbac." })
)
