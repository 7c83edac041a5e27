import { Context, type Effect } from "effect"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { BuildFollowUp } from "./BuildFollowUp.js"

export class BuildFollowUpRepository extends Context.Tag("@atelier/core/BuildFollowUpRepository")<
  BuildFollowUpRepository,
  {
    readonly insert: (followUp: BuildFollowUp) => Effect.Effect<void>
    /** Those pending whose build's job has ended and whose time has come, the longest due first. At most `limit`. */
    readonly due: (now: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<BuildFollowUp>>
    /** Writes what became of a pending one; false when it is pending no more. */
    readonly move: (followUp: BuildFollowUp) => Effect.Effect<boolean>
    /** Removes those that ended before an instant. */
    readonly purge: (before: Timestamp) => Effect.Effect<void>
  }
>() {}
