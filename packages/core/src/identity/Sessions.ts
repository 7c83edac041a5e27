import { Context, type Effect, type Redacted } from "effect"
import type { Actor, CallInfo } from "../access/Actor.js"
import type { Unauthenticated } from "../platform/Errors.js"

/** Who calls, by the credential presented. */
export class Sessions extends Context.Tag("@atelier/core/Sessions")<
  Sessions,
  {
    /**
     * The actor a key authenticates: its user, with the user's present roles and groups, narrowed by the key's scopes and allow list.
     * Records the use of the key. Fails for a key that is unknown, wrong or expired, and for a user that is not active. identity.md §2.4.
     */
    readonly authenticate: (token: Redacted.Redacted<string>, info: CallInfo) => Effect.Effect<Actor, Unauthenticated>
  }
>() {}
