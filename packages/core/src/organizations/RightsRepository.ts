import { Context, type Effect, type Option } from "effect"
import type { SubjectInput } from "../access/actors/Subject.js"
import type { Uuid } from "../platform/texts/Uuid.js"

type Rights = Omit<SubjectInput, "scopes" | "allowList" | "options">

/** The current stored rights of users. */
export class RightsRepository extends Context.Tag("@atelier/core/RightsRepository")<
  RightsRepository,
  {
    /**
     * The roles and groups of a user that is neither deleted nor suspended. Locks the user until the transaction ends. A caller that also
     * locks an organization keeps its roles unchanged too.
     */
    readonly lock: (userId: Uuid) => Effect.Effect<Option.Option<Rights>>
    /** As `lock`, without the lock. */
    readonly of: (userId: Uuid) => Effect.Effect<Option.Option<Rights>>
  }
>() {}
