import type { LogLevel } from "@atelier/core/platform"
import { Data, type Effect } from "effect"

/** A workspace could not be started, stopped or deleted; the message is shown to the user. */
export class WorkspaceFailure extends Data.TaggedError("WorkspaceFailure")<{ readonly message: string }> {}

/** Writes a line of the build's log. */
export type Report = (line: string, level?: LogLevel) => Effect.Effect<void>
